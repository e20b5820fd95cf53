"""What more labels are expected to bring: when to stop, and whether to ask for raters or images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multirater.acquisition.belief import Array, Belief, disorder
from multirater.acquisition.choice import Pick
from multirater.acquisition.gain import label_gains

STEPS = (10, 50, 200)
"""Labels after which the expected gain is said."""


@dataclass(frozen=True)
class Outlook:
    """The uncertainty of a study as it is and as it may become; means over cases.

    Uncertainty is the chance that a label drawn from what is believed is wrong; of drawings, about
    one minus the Dice to be expected.

    Attributes:
        now: as it is.
        everybody: once every rater has labelled every case.
        open_labels: how many labels that would take.
        one_more_rater: once a further rater, like those at hand on average, has labelled every case
            as it is now.
        new_case: of a further case that the best rater at hand has labelled.
        first_label: fall of the uncertainty of a further case by that label.
    """

    now: float
    everybody: float
    open_labels: int
    one_more_rater: float
    new_case: float
    first_label: float


def expected_curve(belief: Belief, picks: Sequence[Pick]) -> Array:
    """Return the expected uncertainty of the study after none, one, two, ... labels of a list.

    Returns:
        (n_picks + 1,), mean over cases.
    """
    fall = np.concatenate([[0.0], np.cumsum([pick.gain for pick in picks])])
    return np.asarray((belief.uncertainty().sum() - fall) / belief.n_cases)


def outlook(belief: Belief, *, seed: int = 0) -> Outlook:
    """Foresee what further labels, raters and cases would bring.

    Args:
        belief: what is known.
        seed: of the answers that are drawn for everybody who has not labelled a case yet.
    """
    mean_cm = belief.raters.cm.mean(0, keepdims=True)
    total = belief.uncertainty().sum()
    extra = (belief.weight[:, None] * label_gains(belief.probability, mean_cm)).sum()
    first, weight = _unlabelled(belief)
    first_label = float(weight * label_gains(first[None], belief.raters.cm).max())
    new_case = float(weight * disorder(first[None])[0]) - first_label
    everybody = _answered(belief, seed)
    return Outlook(
        total / belief.n_cases,
        everybody / belief.n_cases,
        int((~belief.given).sum()),
        float(total - extra) / belief.n_cases,
        new_case,
        first_label,
    )


def _unlabelled(belief: Belief) -> tuple[Array, float]:
    """Return what is believed of a case that nobody has seen, and what it weighs."""
    shares = belief.weight @ belief.probability
    first = np.asarray(shares / shares.sum())
    total = belief.of_cases(belief.weight)
    return first, float(np.median(total))


def _answered(belief: Belief, seed: int) -> float:
    """Draw a truth from the belief, and answers of all who have not answered: what is left."""
    random = np.random.default_rng(seed)
    cm, n_rows = belief.raters.cm, len(belief.weight)
    truth = _drawn(belief.probability, random)
    missing = np.repeat(~belief.given, np.diff(belief.start), axis=0)
    logs = np.log(np.maximum(belief.probability, 1e-300))
    for rater, matrix in enumerate(cm):
        asked = np.flatnonzero(missing[:, rater])
        said = _drawn(matrix[truth[asked]], random)
        logs[asked] += np.log(np.maximum(matrix, 1e-12)).T[said]
    after = np.exp(logs - logs.max(1, keepdims=True)).reshape(n_rows, -1)
    after /= after.sum(1, keepdims=True)
    return float(belief.weight @ disorder(after))


def _drawn(chances: Array, random: np.random.Generator) -> NDArray[np.intp]:
    """Draw a class from each row of chances."""
    edges = np.cumsum(chances, axis=1)
    lots = random.random(len(chances))[:, None] * edges[:, -1:]
    return np.asarray((lots > edges).sum(1), dtype=np.intp)
