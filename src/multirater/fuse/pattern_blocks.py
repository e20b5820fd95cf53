"""The label patterns of all cases of a study, merged as they come and gone through in blocks.

Patterns that many cases share are held once. Where hardly any is shared, as with a hundred raters,
they are held packed, and unpacked some at a time: memory does not grow with what a step computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.answers import Answers, answers_from_rows, as_shares
from multirater.packed_rows import PackedRows, pack_rows
from multirater.patterns import encode_patterns
from multirater.types import MISSING

_AT_ONCE = 1 << 19
"""Labels worked on at a time."""

Part = tuple[NDArray[np.integer[Any]], NDArray[Any]]
"""Patterns (n_rows, n_columns), and how many pixels carry each."""


@dataclass(frozen=True, eq=False)
class PatternBlocks:
    """What raters said of the pixels of many cases.

    Attributes:
        blocks: patterns (n_rows, n_raters), -1 where missing, and the pixels that carry each.
        n_raters: number of raters.
        n_classes: number of classes.
        has_gold: whether a further column of the patterns is the known class, -1 where unknown.
    """

    blocks: tuple[tuple[PackedRows, NDArray[np.float64]], ...]
    n_raters: int
    n_classes: int
    has_gold: bool = False

    @staticmethod
    def of(
        parts: Iterable[Part], n_raters: int, n_classes: int, *, has_gold: bool = False
    ) -> PatternBlocks:
        """Merge the patterns of cases, which are let go as they are read.

        Example:
            >>> parts = [(np.array([[0, 1]]), np.array([3])), (np.array([[0, 1]]), np.array([4]))]
            >>> found = PatternBlocks.of(parts, 2, 2)
            >>> [(rows.unpack().tolist(), counts.tolist()) for rows, counts in found.blocks]
            [([[0, 1]], [7.0])]
        """
        blocks = tuple((pack_rows(rows), counts) for rows, counts in _merged(parts))
        return PatternBlocks(blocks, n_raters, n_classes, has_gold)

    def __iter__(self) -> Iterator[Answers]:
        for packed, counts in self.blocks:
            rows = packed.unpack()
            gold = rows[:, self.n_raters].astype(np.int64) if self.has_gold else None
            if gold is not None and (gold == MISSING).all():
                gold = None
            yield answers_from_rows(rows[:, : self.n_raters], counts, self.n_classes, gold=gold)

    def whole(self) -> Part:
        """Return all patterns in one piece."""
        rows = np.concatenate([packed.unpack() for packed, _ in self.blocks])
        return rows, np.concatenate([counts for _, counts in self.blocks])

    def class_frequency(self) -> NDArray[np.float64]:
        """Return the share of each class among all answers, (n_classes,); sums to one."""
        total = sum((answers.class_totals() for answers in self), np.zeros(self.n_classes))
        return as_shares(total)


def _merged(parts: Iterable[Part]) -> Iterator[Part]:
    held: list[Part] = []
    n_labels = 0
    for part in parts:
        held.append(part)
        n_labels += part[0].size
        if n_labels >= _AT_ONCE:
            rows, counts = _distinct(held)
            held, n_labels = [(rows, counts)], rows.size
            if 2 * n_labels >= _AT_ONCE:  # hardly any pattern is shared: to wait is of no use
                yield from _pieces(rows, counts)
                held, n_labels = [], 0
    if held:
        yield from _pieces(*_distinct(held))


def _distinct(held: list[Part]) -> Part:
    rows = np.concatenate([rows for rows, _ in held])
    counts = np.concatenate([counts for _, counts in held])
    found = encode_patterns(np.ascontiguousarray(rows.T))
    return found.rows, np.bincount(found.index, counts, len(found.rows)).astype(float)


def _pieces(rows: NDArray[np.integer[Any]], counts: NDArray[Any]) -> Iterator[Part]:
    step = max(_AT_ONCE // rows.shape[1], 1)
    for start in range(0, len(rows), step):
        yield rows[start : start + step], counts[start : start + step]
