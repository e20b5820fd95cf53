"""Counting and looking up the codes of label patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.compiled import compile_loop


def count_codes(codes: NDArray[Any], n_codes: int) -> NDArray[np.int64]:
    """Count every code, (n_codes,), as `np.bincount` does."""
    if codes.itemsize == 1:
        even = codes.size // 2 * 2
        pairs = _counted(codes[:even].view(np.uint16), 1 << 16).reshape(256, 256)
        table = pairs.sum(0) + pairs.sum(1)
        table[codes[even:]] += 1
        return np.asarray(table[:n_codes])
    return _counted(codes, n_codes)


def _counted(codes: NDArray[Any], n_codes: int) -> NDArray[np.int64]:
    tables = np.zeros((4, n_codes), dtype=np.int64)
    _count(codes, *tables)
    return np.asarray(tables.sum(0))


@compile_loop
def _count(
    codes: NDArray[Any],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    third: NDArray[np.int64],
    fourth: NDArray[np.int64],
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
