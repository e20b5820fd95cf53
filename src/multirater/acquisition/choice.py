"""Choose labels one after the other, each where most uncertainty is expected to go per cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.acquisition.belief import Array, Belief
from multirater.acquisition.gain import after_label, case_gains, label_gains

_MOST_ROWS = 256
"""Beliefs kept of a case that is asked for several labels; the lightest are left out."""

_TELLING = np.array([0.0, 0.4, 0.8, 1.0, 1.0, 0.0])
"""How much a label tells about who gives it, by the labels that the case has already: with two
others it shows who errs, and after five nothing much is added."""

_CURIOSITY = 2.0
"""What a standard deviation of a rater's skill is worth, beside the uncertainty of a case."""

_LEAST_GAIN = 1e-4
"""Expected fall below which a label is not worth asking for."""


@dataclass(frozen=True)
class Pick:
    """A label to ask for.

    Attributes:
        case: position.
        rater: position.
        gain: expected fall of the case's uncertainty.
        curiosity: what it is worth to learn about the rater; both decided together.
        nth: how many labels of the list are of this case by now, this one included.
    """

    case: int
    rater: int
    gain: float
    curiosity: float
    nth: int


@dataclass(eq=False)
class _Plan:
    """Gains of every case and rater, brought up to date as labels are chosen.

    Attributes:
        belief: what is known.
        cost: of a label, (n_raters,).
        may_ask: (n_cases, n_raters).
        gain: expected fall of uncertainty, (n_cases, n_raters).
        hopeful: the same by raters as good as they may be.
        asked: (n_raters,), labels chosen so far.
        score: (n_cases, n_raters), what decides: per cost, with what is still hoped of each.
        n_labels: (n_cases,), labels that each case has, or will have.
        beliefs: what cases may look like after what was chosen: beliefs and weights by case.
        picked: labels chosen so far by case.
    """

    belief: Belief
    cost: Array
    may_ask: NDArray[np.bool_]
    gain: Array
    hopeful: Array
    asked: Array = field(init=False)
    score: Array = field(init=False)
    n_labels: NDArray[np.int64] = field(init=False)
    beliefs: dict[int, tuple[Array, Array]] = field(default_factory=dict)
    picked: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.asked = np.zeros(len(self.cost))
        self.score = np.empty(self.gain.shape)
        self.n_labels = self.belief.given.sum(1)
        self._update(np.s_[:, :])

    def best(self) -> tuple[int, int] | None:
        """Return the case and rater with the highest score; None when nothing is worth asking."""
        case, rater = divmod(int(self.score.argmax()), len(self.cost))
        return (case, rater) if self.score[case, rater] > 0 else None

    def take(self, case: int, rater: int) -> Pick:
        """Note that a label is asked for: what the case may look like after it, and by whom."""
        curious = float(self.score[case, rater] * self.cost[rater] - self.gain[case, rater])
        self.picked[case] = self.picked.get(case, 0) + 1
        pick = Pick(case, rater, float(self.gain[case, rater]), curious, self.picked[case])
        belief, raters = self.belief, self.belief.raters
        rows = slice(belief.start[case], belief.start[case + 1])
        known = self.beliefs.get(case, (belief.probability[rows], belief.weight[rows]))
        probability, weight = after_label(*known, raters.cm[rater])
        if len(weight) > _MOST_ROWS:
            kept = np.argsort(-weight)[:_MOST_ROWS]
            probability, weight = probability[kept], weight[kept]
        self.beliefs[case] = probability, weight
        self.gain[case] = weight @ label_gains(probability, raters.cm)
        self.hopeful[case] = weight @ label_gains(probability, raters.hopeful_cm())
        self.may_ask[case, rater] = False
        self.asked[rater] += 1
        self.n_labels[case] += 1
        self._update(np.s_[case, :])
        self._update(np.s_[:, rater])
        return pick

    def leave_out(self, raters: NDArray[np.bool_]) -> None:
        """Ask these raters for nothing more."""
        self.may_ask[:, raters] = False
        self.score[:, raters] = 0.0

    def _update(self, where: tuple[Any, Any]) -> None:
        raters = self.belief.raters
        hope = (raters.hope(self.asked) / np.maximum(raters.hope(), 1e-12))[where[1]]
        gain = self.gain[where]
        worth = gain + hope * (self.hopeful[where] - gain)
        asked = np.minimum(self.n_labels, len(_TELLING) - 1)
        worth += _CURIOSITY * np.multiply.outer(_TELLING[asked], raters.doubt(self.asked))[where]
        worth = np.where(self.may_ask[where] & (worth >= _LEAST_GAIN), worth, 0.0)
        self.score[where] = worth / self.cost[where[1]]


def choose_labels(
    belief: Belief,
    budget: float,
    *,
    cost: Array | None = None,
    may_ask: NDArray[np.bool_] | None = None,
) -> list[Pick]:
    """Choose who should label what next, the most useful first.

    Greedy: each label is chosen for the most expected gain per cost, given those before it, whose
    answers are not known yet. A rater of whom little is known counts as good as they may well be,
    and is tried out on cases that others have labelled, too: without knowing who errs, whoever is
    followed seems right. Both the less so the more labels they are asked for.

    Args:
        belief: what is known.
        budget: what the labels may cost together.
        cost: of a label, (n_raters,), above zero; one when not given.
        may_ask: (n_cases, n_raters), who can be asked for what; whatever is not there when not
            given.
    """
    raters = belief.raters
    prices = np.ones(len(raters.skill)) if cost is None else np.asarray(cost, dtype=float)
    may = ~belief.given if may_ask is None else may_ask & ~belief.given
    hopeful = case_gains(belief, raters.hopeful_cm())
    plan = _Plan(belief, prices, may.copy(), case_gains(belief, raters.cm), hopeful)
    picks: list[Pick] = []
    left = budget
    while True:
        plan.leave_out(prices > left)
        found = plan.best()
        if found is None:
            return picks
        picks.append(plan.take(*found))
        left -= float(prices[found[1]])
