"""Distances between pixels: which are one, and which a network has seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multirater.io.formats.grid import is_default
from multirater.io.survey import CaseSurvey

SAME = 0.05
"""Spacings that differ by no more than this share are one."""


def are_alike(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two spacings are one, axis by axis.

    Example:
        >>> are_alike((2.0, 0.50), (2.0, 0.51)), are_alike((2.0, 0.5), (2.0, 1.0))
        (True, False)
    """
    return len(one) == len(other) and all(
        max(pair) <= min(pair) * (1 + SAME) for pair in zip(one, other, strict=True)
    )


def common_spacing(cases: Sequence[CaseSurvey]) -> tuple[float, ...]:
    """Return the spacing that all images share, in millimetres per axis.

    Empty where they have several, and where a file does not know its own.

    Args:
        cases: with images.
    """
    known = [case.spacing for case in cases if case.geometry and not is_default(case.geometry)]
    if not known or len(known) < len(cases) or not all(are_alike(known[0], each) for each in known):
        return ()
    return tuple(float(f"{each:.6g}") for each in np.median(np.array(known), axis=0))
