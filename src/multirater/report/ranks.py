"""Who can be told apart from whom: ranks as far as intervals tell them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np


class _Figure(Protocol):
    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def by_value(figures: Sequence[_Figure]) -> list[int]:
    """Positions, the highest value first, unknown ones last; equal ones stay in their order."""
    values = np.array([each.value for each in figures], dtype=np.float64)
    return [int(i) for i in np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")]


def rank_words(figures: Sequence[_Figure]) -> list[str]:
    """Say the rank of each, or the ranks among which intervals do not decide.

    A rater is surely behind those whose interval lies above their own, and surely before those
    whose interval lies below. Raters with the same words are level.

    Example:
        >>> from multirater.report.raters import Figure
        >>> rank_words([Figure(.9, .85, .95), Figure(.88, .8, .93), Figure(.5, .4, .6)])
        ['1 to 2', '1 to 2', '3']
    """
    known = [each for each in figures if not np.isnan(each.value)]
    said = []
    for each in figures:
        if np.isnan(each.value):
            said.append("")
            continue
        first = 1 + sum(_low(other) > _high(each) for other in known)
        last = len(known) - sum(_high(other) < _low(each) for other in known)
        said.append(str(first) if first == last else f"{first} to {last}")
    return said


def _low(figure: _Figure) -> float:
    return figure.value if np.isnan(figure.low) else figure.low


def _high(figure: _Figure) -> float:
    return figure.value if np.isnan(figure.high) else figure.high
