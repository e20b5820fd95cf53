"""Arithmetic with values that may be unknown: NaN comes out as an answer, never as a warning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def ratio_or_nan(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Divide entry by entry (shapes broadcast); NaN where `whole` is 0."""
    unknown = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), np.nan)
    ratio: NDArray[np.float64] = np.divide(part, whole, out=unknown, where=whole != 0)
    return ratio


def mean_of_known(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Mean along an axis without the NaN entries; NaN where all are."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return ratio_or_nan(np.asarray(total), np.asarray(known.sum(axis=axis)))
