"""What `multirater next` gives back, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.acquisition.advice import SETTLED, advice_words
from multirater.acquisition.belief import Array, Belief
from multirater.acquisition.choice import Pick, choose_labels
from multirater.acquisition.forecast import STEPS, Outlook, expected_curve, outlook
from multirater.acquisition.reasons import Words, reason_of, why


@dataclass(frozen=True, eq=False)
class NextLabels:
    """Who should label what next.

    Attributes:
        labels: one row per label to ask for, the most useful first: `rank`, `case`, `rater`,
            `gain` (expected fall of the uncertainty, in cases), `share` (of the uncertainty of the
            whole study), `cost`, `reason` (`unlabelled`, `disputed`, `unsure`, `try-out`), `why`.
        cases: one row per case: `labels` it has, `uncertainty`, whether it is `settled`; for class
            labels the `label` that is believed.
        raters: one row per rater: `skill` with an interval, `known` (labels that tell about them),
            `asked` (labels of the list).
        curve: expected mean uncertainty of a case after so many `labels`, chosen as in the list.
        outlook: what raters and cases that are not there would bring.
        advice: when to stop, and whether to ask for raters or images, in sentences.
    """

    labels: pd.DataFrame
    cases: pd.DataFrame
    raters: pd.DataFrame
    curve: pd.DataFrame
    outlook: Outlook
    advice: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Known:
    """A study as it is known.

    Attributes:
        belief: about cases and raters.
        cases: names.
        raters: names.
        words: further names, for sentences.
        decided: (n_cases,), cases that an expert decided, of which nobody is asked; None for none.
    """

    belief: Belief
    cases: Sequence[str]
    raters: Sequence[str]
    words: Words
    decided: NDArray[np.bool_] | None = None


def ranked_labels(
    known: Known,
    budget: float,
    *,
    cost: Array | None = None,
    may_ask: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> NextLabels:
    """Rank the labels to ask for, and say what they and more would bring.

    Args:
        known: the study.
        budget: what the labels may cost together.
        cost: of a label of each rater, (n_raters,); one when not given.
        may_ask: (n_cases, n_raters), who can be asked for what; everything when not given.
        seed: of the answers behind the outlook.
    """
    belief = known.belief
    prices = np.ones(len(known.raters)) if cost is None else cost
    # The curve reaches further than the list: when to stop shows there.
    further = max(budget, STEPS[-1] * float(prices.max()))
    may = ~belief.given if may_ask is None else may_ask
    if known.decided is not None:
        may = may & ~known.decided[:, None]
    picks = choose_labels(belief, further, cost=prices, may_ask=may)
    spent = np.cumsum([prices[pick.rater] for pick in picks])
    chosen = [pick for pick, total in zip(picks, spent, strict=True) if total <= budget + 1e-9]
    if len(set(prices.tolist())) > 1:  # what is left may buy others than the next of a longer list
        chosen = choose_labels(belief, budget + 1e-9, cost=prices, may_ask=may)
    ahead = outlook(belief, seed=seed)
    curve = expected_curve(belief, picks[: max(STEPS[-1], len(chosen))])
    cases = _cases(known)
    return NextLabels(
        _labels(known, chosen, prices),
        cases,
        _raters(known, chosen),
        pd.DataFrame({"labels": np.arange(len(curve)), "uncertainty": curve}),
        ahead,
        advice_words(ahead, curve, int(cases["settled"].sum()), len(cases), known.words.is_masks),
    )


def _labels(known: Known, picks: Sequence[Pick], prices: Array) -> pd.DataFrame:
    belief, total = known.belief, known.belief.uncertainty().sum()
    rows = [
        {
            "rank": place,
            "case": known.cases[pick.case],
            "rater": known.raters[pick.rater],
            "gain": pick.gain,
            "share": pick.gain / total if total > 0 else 0.0,
            "cost": float(prices[pick.rater]),
            "reason": reason_of(pick, belief, known.words),
            "why": why(pick, belief, known.words, known.raters[pick.rater]),
        }
        for place, pick in enumerate(picks, start=1)
    ]
    columns = ["rank", "case", "rater", "gain", "share", "cost", "reason", "why"]
    return pd.DataFrame(rows, columns=columns).set_index("rank")


def _cases(known: Known) -> pd.DataFrame:
    belief = known.belief
    uncertainty = belief.uncertainty()
    table = pd.DataFrame(
        {
            "labels": belief.given.sum(1),
            "uncertainty": uncertainty,
            "settled": uncertainty < SETTLED,
        },
        index=pd.Index(list(known.cases), name="case"),
    )
    if not known.words.is_masks:
        names = np.asarray(list(known.words.classes), dtype=object)
        table.insert(1, "label", names[belief.probability.argmax(1)])
    return table


def _raters(known: Known, picks: Sequence[Pick]) -> pd.DataFrame:
    raters = known.belief.raters
    margin = 1.96 * raters.doubt()
    asked = np.bincount([pick.rater for pick in picks], minlength=len(known.raters))
    return pd.DataFrame(
        {
            "skill": raters.skill,
            "skill_low": np.clip(raters.skill - margin, 0, 1),
            "skill_high": np.clip(raters.skill + margin, 0, 1),
            "known": raters.known,
            "labels": known.belief.given.sum(0),
            "asked": asked,
        },
        index=pd.Index(list(known.raters), name="rater"),
    )
