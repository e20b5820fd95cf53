"""What every simulator asks of its input."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.metrics.class_indices import class_indices

Spacing = Sequence[float]
"""Distance between voxels in millimetres, one value per array axis."""


def as_label_map(truth: ArrayLike) -> NDArray[np.int16]:
    """Return a new array of class indices; -1 (not labelled) is allowed, fractions are not."""
    array = class_indices(truth)
    if array.ndim == 0:
        raise InputError(Fault("the true label has no axes", expected="an array of class indices"))
    return array.astype(np.int16)


def as_spacing(spacing: Spacing | None, ndim: int) -> NDArray[np.float64]:
    """Return the spacing as an array of `ndim` values, all ones when it is not given."""
    if spacing is None:
        return np.ones(ndim)
    array = np.asarray(spacing, dtype=float)
    if array.shape != (ndim,) or not (np.isfinite(array) & (array > 0)).all():
        raise InputError(
            Fault(
                f"the spacing is {tuple(spacing)}",
                expected=f"{ndim} positive numbers, one per axis of the label",
                fix="give the distance between voxels in millimetres along each axis",
            )
        )
    return array


def require_choice(value: str, choices: Sequence[str], what: str) -> None:
    """Raise unless `value` is one of `choices`."""
    if value not in choices:
        raise InputError(
            Fault(
                f"there is no {what} {value!r}",
                expected=", ".join(choices),
                fix="choose one of them",
            )
        )


def require_range(value: float, low: float, high: float, what: str) -> None:
    """Raise unless `low <= value <= high`; what is not finite is outside of every range."""
    if not (low <= value <= high and np.isfinite(value)):
        limits = f"at least {low:g}" if np.isinf(high) else f"from {low:g} to {high:g}"
        raise InputError(Fault(f"the {what} is {value}", expected=limits, fix=f"change the {what}"))
