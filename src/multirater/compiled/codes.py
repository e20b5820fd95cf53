"""Counting and looking up the codes of label patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.compiled import compile_loop


def mixed_radix(rows: NDArray[Any], weight: NDArray[Any], offset: int, codes: NDArray[Any]) -> None:
    """Write the sum of rows (n_rows, n_items) times their weights, less an offset, into `codes`.

    It is taken modulo what `codes` can hold; rows are of at most four bytes per item.
    """
    _weigh(rows, weight, offset, codes)


@compile_loop
def _weigh(rows: NDArray[Any], weight: NDArray[Any], offset: int, codes: NDArray[Any]) -> None:
    step = np.uintp(8192)  # codes stay in the nearest cache from row to row
    size = np.uintp(codes.size)
    for start in range(np.uintp(0), size, step):
        stop = min(start + step, size)
        for i in range(start, stop):
            codes[i] = -offset
        for r in range(len(rows)):
            row, factor = rows[r], weight[r]
            for i in range(start, stop):
                codes[i] += row[i] * factor


def count_codes(codes: NDArray[Any], n_codes: int) -> NDArray[np.int64]:
    """Count every code, (n_codes,), as `np.bincount` does."""
    if codes.itemsize == 1:
        even = codes.size // 2 * 2
        pairs = _counted(codes[:even].view(np.uint16), n_codes << 8).reshape(n_codes, 256)
        table = pairs.sum(0)[:n_codes] + pairs.sum(1)
        table[codes[even:]] += 1
        return np.asarray(table)
    return _counted(codes, n_codes)


def _counted(codes: NDArray[Any], n_codes: int) -> NDArray[np.int64]:
    # Small numbers keep the tables near; none can be passed that way.
    small = np.dtype(np.int32 if codes.size < 1 << 31 else np.int64)
    tables = np.zeros((4, n_codes), dtype=small)
    _count(codes, *tables)
    return np.asarray(tables.sum(0, dtype=np.int64))


@compile_loop
def _count(
    codes: NDArray[Any],
    first: NDArray[Any],
    second: NDArray[Any],
    third: NDArray[Any],
    fourth: NDArray[Any],
) -> None:
    """Count in four tables by turns: neighbours that are alike need not wait for each other."""
    whole = codes.size // 4 * 4
    for i in range(0, whole, 4):
        first[codes[i]] += 1
        second[codes[i + 1]] += 1
        third[codes[i + 2]] += 1
        fourth[codes[i + 3]] += 1
    for i in range(whole, codes.size):
        first[codes[i]] += 1


@compile_loop
def look_up(codes: NDArray[Any], table: NDArray[Any], target: NDArray[Any]) -> None:
    """Write `table[codes]` into `target`; no code is checked."""
    for i in range(codes.size):
        target[i] = table[codes[i]]
