"""The compression behind fast fusion: what R raters said about a pixel is one of few patterns.

With R raters and L classes a pixel carries one of at most (L + 1)^R patterns (a rater may be
missing), and real images hold a few dozen. Whatever depends only on the pattern is computed once
per pattern instead of once per pixel.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.compiled import WORTH_LOADING, Tally

_TALLY = Tally(WORTH_LOADING)

_BLOCK = 1 << 18
"""Items encoded at a time: small enough for the cache, large enough to hide Python's cost."""

_LOOK_UP_BLOCK = 1 << 16
"""Items looked up at a time: their numbers, eight bytes each, stay in the cache."""

_WORTH_COMPARING = 1 << 12
"""Words of eight bytes from which on the most frequent one is looked for."""

_PAIR_OF = {1: np.uint16, 2: np.uint32, 4: np.uint64}
"""The type that holds two values of so many bytes."""

_COUNTABLE = 1 << 22
"""Up to this many possible codes a table of counts is cheaper than sorting."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct columns of a label array and where they occur.

    Attributes:
        rows: (n_patterns, n_raters), the labels that occur together, -1 for a missing rater.
        counts: (n_patterns,), how many items carry each row.
        codes: (*items), a number of every item's pattern.
        code_of_row: (n_patterns,), the code of each row; None where codes are numbers of rows.
    """

    rows: NDArray[np.int64]
    counts: NDArray[Any]
    codes: NDArray[Any]
    code_of_row: NDArray[np.int64] | None = None

    @cached_property
    def index(self) -> NDArray[Any]:
        """The row of every item, (*items), so that `rows[index]` restores the labels."""
        if self.code_of_row is None:
            return self.codes
        n_rows = len(self.code_of_row)
        numbers = np.arange(n_rows, dtype=np.min_scalar_type(max(n_rows - 1, 0)))
        index = np.empty(self.codes.shape, dtype=numbers.dtype)
        self.spread([numbers], [index])
        return index

    def spread(self, values: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]]) -> None:
        """Give every item the value of its row.

        Args:
            values: arrays (n_patterns,).
            targets: an array (*items) for each, of the same type, contiguous.

        Example:
            >>> found = encode_patterns(np.array([[0, 0, 1], [0, 0, -1]]))
            >>> target = np.empty(3)
            >>> found.spread([np.array([0.5, 0.1])], [target])
            >>> target.tolist()
            [0.5, 0.5, 0.1]
        """
        codes = np.ascontiguousarray(self.codes).reshape(-1)
        tables = [self._by_code(each) for each in values]
        flat = [each.reshape(-1) for each in targets]
        paired = codes.size // 2 * 2 if _pays_in_pairs(codes, tables) else 0
        if paired:
            _look_up(
                codes[:paired].view(np.uint16),
                [_pair_table(each) for each in tables],
                [each[:paired].view(_PAIR_OF[each.itemsize]) for each in flat],
            )
        _look_up(codes[paired:], tables, [each[paired:] for each in flat])

    def _by_code(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.code_of_row is None:
            return values
        table = np.zeros(int(self.code_of_row[-1]) + 1, dtype=values.dtype)
        table[self.code_of_row] = values
        return table


def encode_patterns(labels: NDArray[Any] | Sequence[NDArray[Any]]) -> Patterns:
    """Find the distinct columns of `labels` (n_raters, *items) in one pass.

    Args:
        labels: integers >= -1; rows may also come as a sequence of arrays of one shape.

    Example:
        >>> found = encode_patterns(np.array([[0, 0, 1], [0, 0, -1]]))
        >>> found.rows.tolist(), found.counts.tolist(), found.index.tolist()
        ([[0, 0], [1, -1]], [2, 1], [0, 0, 1])
    """
    rows = [np.ravel(row) for row in labels]
    shape = np.shape(labels[0])
    low = [_lowest(row) for row in rows]
    base = [int(row.max(initial=0)) - least + 1 for row, least in zip(rows, low, strict=True)]
    n_codes = math.prod(base)
    if n_codes > _COUNTABLE:
        columns, index, counts = _by_groups(rows, low, base)
        return Patterns(columns.astype(np.int64), counts, index.reshape(shape))
    codes = _coded(labels, rows, low, base, np.min_scalar_type(n_codes - 1))
    table = _counter(codes.size, len(rows))(codes, n_codes)
    present = np.flatnonzero(table)
    columns = np.stack(np.unravel_index(present, base), axis=1) + np.asarray(low)
    code_of_row = None if len(present) == n_codes else present
    return Patterns(columns.astype(np.int64), table[present], codes.reshape(shape), code_of_row)


def merge_patterns(parts: Sequence[Patterns]) -> tuple[Patterns, list[NDArray[np.int64]]]:
    """Join the patterns of several cases.

    Returns:
        The patterns of all cases (its `index` runs over the stacked rows of the parts), and for
        each part the position of its rows among the joint ones.
    """
    stacked = np.concatenate([part.rows for part in parts])
    rows, inverse = np.unique(stacked, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    counts = np.bincount(
        inverse, weights=np.concatenate([part.counts for part in parts]), minlength=len(rows)
    )
    ends = np.cumsum([len(part.rows) for part in parts])[:-1]
    return Patterns(rows, counts, inverse), np.split(inverse, ends)


def _lowest(row: NDArray[Any]) -> int:
    return 0 if row.dtype.kind == "u" else int(row.min(initial=0))


def _coded(
    labels: NDArray[Any] | Sequence[NDArray[Any]],
    rows: list[NDArray[Any]],
    low: list[int],
    base: list[int],
    dtype: np.dtype[Any],
) -> NDArray[Any]:
    """Number every item's pattern, by a compiled loop where it pays and labels lie in one piece."""
    whole = isinstance(labels, np.ndarray) and labels.flags.c_contiguous and labels.itemsize <= 4
    if not whole or rows[0].size < _BLOCK or not _TALLY.pays(0):
        return _mixed_radix(rows, low, base, dtype)
    from multirater.compiled.codes import mixed_radix

    weight = np.append(np.cumprod(base[:0:-1])[::-1], 1)
    codes = np.empty(rows[0].size, dtype=dtype)
    mixed_radix(np.reshape(labels, (len(rows), -1)), weight, int(np.dot(weight, low)), codes)
    return codes


def _mixed_radix(
    rows: list[NDArray[Any]], low: list[int], base: list[int], dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Number every item's pattern, first rater most significant."""
    varying = [each for each in zip(rows, low, base, strict=True) if each[2] > 1]
    if not varying:
        return np.zeros(rows[0].size, dtype=dtype)
    codes = np.empty(rows[0].size, dtype=dtype)
    for start in range(0, codes.size, _BLOCK):
        here = slice(start, start + _BLOCK)
        block = codes[here]
        for number, (row, least, size) in enumerate(varying):
            # Nothing can overflow for good: a code is smaller than the product of the bases.
            digit = row[here].astype(dtype, casting="unsafe", copy=False)
            if number:
                block *= dtype.type(size)
                block += digit
            else:
                block[...] = digit
            if least:
                block -= np.array(least).astype(dtype)
    return codes


def _counter(n_items: int, n_raters: int) -> Callable[[NDArray[Any], int], NDArray[np.int64]]:
    # Thousands of small masks are no reason to load what takes 90 MB and gains nothing on them.
    if n_items >= _BLOCK and _TALLY.pays(n_items * n_raters):
        from multirater.compiled.codes import count_codes

        return count_codes
    return _count


def _count(codes: NDArray[Any], n_codes: int) -> NDArray[np.int64]:
    """Count every code, (n_codes,).

    Most of an image looks like its background: eight bytes at a time, what occurs most often is
    counted by comparison alone. The rest is counted in pairs of bytes where codes are bytes.
    """
    per_word = 8 // codes.itemsize
    table = np.zeros(max(n_codes, 1 << 8), dtype=np.int64)
    pairs = np.zeros(1 << 16, dtype=np.int64) if codes.itemsize == 1 else None
    step = max(_BLOCK, n_codes // per_word * per_word)
    for start in range(0, codes.size, step):
        block = codes[start : start + step]
        whole = block.size // per_word * per_word
        words = block[:whole].view(np.uint64)
        if len(words) >= _WORTH_COMPARING:
            background = _most_frequent(words)
            rest = words[words != background]
            n_skipped = len(words) - len(rest)
            table += n_skipped * np.bincount(
                np.array([background]).view(codes.dtype), minlength=len(table)
            )
            words = rest
            if pairs is not None:
                pairs += np.bincount(words.view(np.uint16), minlength=1 << 16)
                words = words[:0]
        table += np.bincount(words.view(codes.dtype), minlength=len(table))
        table += np.bincount(block[whole:], minlength=len(table))
    if pairs is not None:
        square = pairs.reshape(256, 256)
        table += square.sum(0) + square.sum(1)
    return table[:n_codes]


def _most_frequent(words: NDArray[np.uint64]) -> np.uint64:
    """The most frequent of a few hundred words out of many."""
    found, counts = np.unique(words[:: len(words) // 256], return_counts=True)
    return np.uint64(found[counts.argmax()])


def _pays_in_pairs(codes: NDArray[Any], tables: Sequence[NDArray[Any]]) -> bool:
    """Whether two neighbours are looked up at once: half the look-ups, in larger tables."""
    fit = all(each.itemsize in _PAIR_OF for each in tables)
    return codes.itemsize == 1 and codes.size >= _BLOCK and fit


def _pair_table(values: NDArray[Any]) -> NDArray[Any]:
    """Tabulate two values by two codes, as two neighbouring bytes hold them."""
    n = len(values)
    table = np.zeros((n, 256, 2), dtype=values.dtype)
    low, high = (0, 1) if sys.byteorder == "little" else (1, 0)
    table[:, :n, low] = values[None, :]
    table[:, :n, high] = values[:, None]
    return table.reshape(-1).view(_PAIR_OF[values.itemsize])


def _look_up(
    codes: NDArray[Any], tables: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]]
) -> None:
    if codes.size >= _BLOCK and _TALLY.pays(0):
        from multirater.compiled.codes import look_up

        for table, target in zip(tables, targets, strict=True):
            look_up(codes, table, target)
        return
    for start in range(0, codes.size, _LOOK_UP_BLOCK):
        here = slice(start, start + _LOOK_UP_BLOCK)
        # One conversion serves all tables; every code is in range, which spares numpy a copy.
        numbers = codes[here].astype(np.intp)
        for table, target in zip(tables, targets, strict=True):
            np.take(table, numbers, out=target[here], mode="clip")


def _by_groups(
    rows: list[NDArray[Any]], low: list[int], base: list[int]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
    """Many raters: number the patterns of some of them, then of these and the next, and so on.

    However many raters there are, few patterns occur, so that a table of codes serves all along.
    """
    n_items = rows[0].size
    group, n_groups = np.zeros(n_items, dtype=np.int64), 1
    most = min(_COUNTABLE, max(4 * n_items, 1 << 12))  # a table larger than the data is slow
    for row, least, size in zip(rows, low, base, strict=True):
        if size == 1:
            continue  # an absent rater, most often, who tells no two items apart
        if n_groups * size > most:
            group, n_groups = _without_gaps(group, n_groups)
        group *= size
        group += row
        group -= least
        n_groups *= size
    group, n_groups = _without_gaps(group, n_groups)
    first = np.empty(n_groups, dtype=np.int64)
    first[group[::-1]] = np.arange(n_items - 1, -1, -1)
    columns = np.stack([row[first] for row in rows], axis=1)
    counts = np.bincount(group, minlength=n_groups)
    return columns, group.astype(np.min_scalar_type(n_groups)), counts


def _without_gaps(group: NDArray[np.int64], n_groups: int) -> tuple[NDArray[np.int64], int]:
    """Number those groups that occur, in order."""
    if n_groups > _COUNTABLE:  # of noise nearly every item has a pattern of its own
        present, number = np.unique(group, return_inverse=True)
        return number.reshape(-1), len(present)
    place = np.zeros(n_groups, dtype=np.int64)
    place[group] = 1
    present = np.flatnonzero(place)
    place[present] = np.arange(len(present))
    return place[group], len(present)
