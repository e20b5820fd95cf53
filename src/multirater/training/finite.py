"""Images whose values a network can compute with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.words import counted

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
