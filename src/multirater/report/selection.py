"""Which cases are on the page: all, or the most telling when there are too many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multirater.report.tally import CaseTally

MOST_CASES = 500
_SHARE_OF_WORST = 0.7


def order_by_disagreement(tallies: Sequence[CaseTally]) -> list[int]:
    """Positions of the cases, those with most disagreement first, unknown last."""
    values = np.array([each.disagreement for each in tallies])
    return [int(i) for i in np.argsort(-np.nan_to_num(values, nan=-1.0), kind="stable")]


def clearest_mistakes(tallies: Sequence[CaseTally], rater: int, most: int) -> list[int]:
    """Positions of the cases on which a rater errs most clearly, clearest first.

    A mistake is clear when the rater is far from the reference while the others are close to it;
    among equals the case with more at stake comes first.

    Args:
        tallies: of all cases.
        rater: position.
        most: how many.
    """
    found = []
    for position, tally in enumerate(tallies):
        own = tally.score[rater]
        if np.isnan(own) or own >= 1:
            continue
        others = np.delete(tally.score, rater)
        known = others[~np.isnan(others)]
        company = float(known.mean()) if known.size else 1.0
        at_stake = int(tally.counts[rater, 1:].sum())
        found.append(((1 - own) * (0.25 + company), at_stake, -position))
    return [-position for _, _, position in sorted(found, reverse=True)[:most]]


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
