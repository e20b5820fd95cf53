"""What data sets of optic disc and cup share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.types import Classes, LabelClass

CLASSES = Classes(
    (
        LabelClass("background", "#000000", 0),
        LabelClass("disc", "#1a85ff", 1),
        LabelClass("cup", "#e66100", 2),
    )
)
"""`disc` is what of the disc lies outside the cup."""


def disc_and_cup(disc: NDArray[np.bool_], cup: NDArray[np.bool_]) -> NDArray[np.int16]:
    """Put two masks into one label map; the cup is part of the disc, whatever was drawn.

    Example:
        >>> disc_and_cup(np.array([True, True, False]), np.array([False, True, False])).tolist()
        [1, 2, 0]
    """
    return np.where(cup, 2, np.where(disc, 1, 0)).astype(np.int16)
