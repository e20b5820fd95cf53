"""The compression behind fast fusion: what R raters said about a pixel is one of few patterns.

With R raters and L classes a pixel carries one of at most (L + 1)^R patterns (a rater may be
missing), and real images hold a few dozen. Whatever depends only on the pattern is computed once
per pattern instead of once per pixel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 18
"""Items encoded at a time: small enough for the cache, large enough to hide Python's cost."""

_COUNTABLE = 1 << 22
"""Up to this many possible codes a table of counts is cheaper than sorting."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct columns of a label array and where they occur.

    Attributes:
        rows: (n_patterns, n_raters), the labels that occur together, -1 for a missing rater.
        counts: (n_patterns,), how many items carry each row.
        index: (*items), the row of every item, so that `rows[index]` restores the labels.
    """

    rows: NDArray[np.int64]
    counts: NDArray[Any]
    index: NDArray[Any]


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
    low = [int(row.min(initial=0)) for row in rows]
    base = [int(row.max(initial=0)) - least + 1 for row, least in zip(rows, low, strict=True)]
    n_codes = math.prod(base)
    if n_codes <= _COUNTABLE:
        codes = _mixed_radix(rows, low, base, np.min_scalar_type(n_codes - 1))
        table = _count(codes, n_codes)
        present = np.flatnonzero(table)
        index, counts = _renumber(codes, present, n_codes), table[present]
        columns = np.stack(np.unravel_index(present, base), axis=1) + np.asarray(low)
    else:
        columns, index, counts = _by_sorting(rows)
    return Patterns(columns.astype(np.int64), counts, index.reshape(shape))


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


def _mixed_radix(
    rows: list[NDArray[Any]], low: list[int], base: list[int], dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Number every item's pattern, first rater most significant."""
    codes = np.zeros(rows[0].size, dtype=dtype)
    for start in range(0, rows[0].size, _BLOCK):
        block = codes[start : start + _BLOCK]
        for row, least, size in zip(rows, low, base, strict=True):
            if size > 1:
                # Up to the first varying rater all codes are zero, and `size` may not fit yet.
                if block.any():
                    block *= dtype.type(size)
                # The shift cannot overflow: a code is smaller than the product of the bases.
                digit = row[start : start + _BLOCK].astype(dtype, casting="unsafe")
                if least:
                    digit -= np.array(least).astype(dtype)
                block += digit
    return codes


def _count(codes: NDArray[Any], n_codes: int) -> NDArray[np.int64]:
    if codes.dtype == np.uint8 and codes.size >= _BLOCK:
        # Counting neighbours two at a time halves the work.
        even = codes.size // 2 * 2
        pairs = np.bincount(codes[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
        rest = np.bincount(codes[even:], minlength=256)
        return np.asarray((pairs.sum(0) + pairs.sum(1) + rest)[:n_codes])
    table = np.zeros(n_codes, dtype=np.int64)
    step = max(_BLOCK, n_codes)
    for start in range(0, codes.size, step):
        table += np.bincount(codes[start : start + step], minlength=n_codes)
    return table


def _renumber(codes: NDArray[Any], present: NDArray[np.int64], n_codes: int) -> NDArray[Any]:
    """Number the codes that occur without gaps; nothing to do when all of them do."""
    if len(present) == n_codes:
        return codes
    position = np.zeros(n_codes, dtype=np.min_scalar_type(max(len(present) - 1, 0)))
    position[present] = np.arange(len(present))
    index = np.empty(codes.size, dtype=position.dtype)
    for start in range(0, codes.size, _BLOCK):
        index[start : start + _BLOCK] = position[codes[start : start + _BLOCK]]
    return index


def _by_sorting(
    rows: list[NDArray[Any]],
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
    """Many raters: group rater by rater, renumbering so that the code never overflows."""
    group = np.zeros(rows[0].size, dtype=np.int64)
    for row in rows:
        if row.size and (row == row[0]).all():
            continue  # an absent rater, most often, who tells no two items apart
        values, digit = np.unique(row, return_inverse=True)
        _, group = np.unique(group * len(values) + digit.reshape(-1), return_inverse=True)
        group = group.reshape(-1)
    _, first, counts = np.unique(group, return_index=True, return_counts=True)
    columns = np.stack([row[first] for row in rows], axis=1)
    return columns, group.astype(np.min_scalar_type(len(first))), counts
