"""Which cases are on the page: all, or the most telling when there are too many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multirater.metrics.known import mean_of_known
from multirater.report.tally import CaseTally

MOST_CASES = 500
_SHARE_OF_WORST = 0.7


def order_by_disagreement(tallies: Sequence[CaseTally]) -> list[int]:
    """Positions of the cases, those with most disagreement first, unknown last."""
    values = np.array([each.disagreement for each in tallies])
    return [int(i) for i in np.argsort(-np.nan_to_num(values, nan=-1.0), kind="stable")]


def clearest_mistakes(tallies: Sequence[CaseTally], most: int) -> list[list[int]]:
    """Positions of the cases on which each rater errs most clearly, clearest first.

    A mistake is clear when the rater is far from the reference while the others are close to it;
    among equals the case with more at stake comes first.

    Args:
        tallies: of all cases.
        most: how many of each rater.
    """
    scores = np.stack([each.score for each in tallies])
    found = []
    for rater, own in enumerate(scores.T):
        wrong = np.flatnonzero(own < 1)
        company = mean_of_known(np.delete(scores[wrong], rater, axis=1), axis=1)
        clear = (1 - own[wrong]) * (0.25 + np.nan_to_num(company, nan=1.0))
        at_stake = [tallies[place].counts[rater, 1:].sum() for place in wrong.tolist()]
        order = np.lexsort((wrong, -np.array(at_stake, dtype=np.int64), -clear))[:most]
        found.append(wrong[order].tolist())
    return found


def choose_cases(
    order: Sequence[int], wanted: Sequence[int], most: int | None
) -> tuple[list[int], bool]:
    """Choose the cases to put on the page.

    Args:
        order: all positions, most disagreement first.
        wanted: positions that other parts of the page show.
        most: how many cases at most; None for all.

    Returns:
        The positions in the given order, and whether any were left out. Of too many cases, those
        wanted stay, then those with most disagreement, and the rest is an even choice.

    Example:
        >>> choose_cases([3, 1, 0, 2], wanted=[2], most=2)
        ([3, 2], True)
    """
    if most is None or len(order) <= most:
        return list(order), False
    kept = dict.fromkeys([*wanted][:most])
    worst = [each for each in order if each not in kept]
    n_worst = min(len(worst), max(1, int((most - len(kept)) * _SHARE_OF_WORST)))
    kept |= dict.fromkeys(worst[:n_worst] if len(kept) < most else [])
    rest = worst[n_worst:]
    n_even = most - len(kept)
    if n_even > 0 and rest:
        even = np.linspace(0, len(rest) - 1, min(n_even, len(rest))).round().astype(int)
        kept |= dict.fromkeys(rest[i] for i in even)
    return [each for each in order if each in kept], True
