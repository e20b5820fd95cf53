"""Images whose values a network can compute with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.words import counted

_FARTHEST = 1e5
"""Deviations that the mean of a feature may lie from zero: networks compute in seven digits."""

_LARGEST = 1e18
"""Values whose squares a network can still compute with."""


def require_finite(image: NDArray[np.generic], case: str = "") -> None:
    """Refuse an image that no label can follow from.

    Args:
        image: as it was read.
        case: its name.

    Raises:
        InputError: a value is NaN or infinite, or too large to compute with.
    """
    if image.dtype.kind != "f" or max(image.max(), -image.min()) <= _LARGEST:
        return
    n_wrong = int((~np.isfinite(image)).sum())
    if n_wrong:
        found = f"image is NaN or infinite at {counted(n_wrong, 'place')}"
    else:
        found = f"image holds values of {float(np.abs(image).max()):.3g}, too large to compute with"
    raise InputError(
        Fault(found, expected="finite numbers", fix="mend the image, or leave it out", case=case)
    )


def require_small_offsets(vectors: NDArray[np.float64]) -> None:
    """Refuse features that differ by less than a network can tell, so far are they from zero.

    Args:
        vectors: features (n_cases, n_features), in double precision.

    Raises:
        InputError: a mean is more than a hundred thousand deviations from zero.

    Example:
        >>> require_small_offsets(np.array([[1.7e6], [1.8e6]]))
    """
    mean, deviation = np.abs(vectors.mean(0)), vectors.std(0)
    # What differs by rounding alone is a feature that never varies, from which nothing is learned.
    far = np.flatnonzero((mean > _FARTHEST * deviation) & (deviation > 1e-12 * mean))
    if len(far):
        place = int(far[0])
        raise InputError(
            Fault(
                f"feature {place + 1} is about {mean[place]:.6g} and differs by "
                f"{deviation[place]:.3g}, which single precision does not tell apart",
                expected=f"a mean of at most {_FARTHEST:.0e} deviations",
                fix="subtract a number near its mean from it",
            )
        )
