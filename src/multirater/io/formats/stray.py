"""Pixels whose value stands for no class: where they are, and what to make of them if asked to.

Such a value is refused, with its place. Whoever made the file may say that it is a slip, and what
is meant: the closest value that stands for something, or nothing at all.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.types import MISSING
from multirater.words import counted

Stray: TypeAlias = Literal["nearest", "missing"]
"""What a stray value becomes: the closest value that stands for a class, or *not labelled*."""

STRAYS: tuple[Stray, ...] = get_args(Stray)

OFFER = "let strays be read as `nearest` value or `missing`: `multirater import ... --stray`"
"""What can be done about strays, for messages."""

MOST_STRAYS = 0.1
"""Share of a file's pixels that may be strays: more are a file of another kind."""

_AXES = ("slice", "row", "column")


def place_of(is_stray: NDArray[np.bool_]) -> str:
    """Say how many pixels (*space) are strays, and where the first is, counted from 0.

    Example:
        >>> place_of(np.array([[False, False, True]]))
        '1 pixel of 3, at row 0, column 2'
    """
    first = np.unravel_index(int(is_stray.argmax()), is_stray.shape)
    axes = _AXES[-is_stray.ndim :]
    where = ", ".join(f"{axis} {place}" for axis, place in zip(axes, first, strict=True))
    number = counted(int(is_stray.sum()), "pixel")
    return f"{number} of {is_stray.size:,}, {'at' if is_stray.sum() == 1 else 'first at'} {where}"


def settled(values: NDArray[Any], known: Collection[int], stray: Stray) -> NDArray[np.int64]:
    """Return values (*space) in which strays are replaced.

    Args:
        values: whole numbers of one channel.
        known: the values that stand for something.
        stray: `nearest` of `known`, the lower of two; or `missing`, -1.

    Raises:
        InputError: more than a tenth of the pixels are strays.

    Example:
        >>> settled(np.array([[0, 254, *[255] * 20]]), {0, 255}, "nearest")[0, :3]
        array([  0, 255, 255])
    """
    numbers = np.array(sorted({*known} - {MISSING}), dtype=np.int64)
    given = values.astype(np.int64)
    is_stray = ~np.isin(given, [*numbers, MISSING])
    require_few(is_stray)
    if stray == "missing":
        return np.where(is_stray, MISSING, given)
    distance = np.abs(given[is_stray][:, None] - numbers)
    given[is_stray] = numbers[distance.argmin(1)]
    return given


def require_few(is_stray: NDArray[np.bool_]) -> None:
    """Refuse to take most of a file for a slip."""
    if is_stray.mean() > MOST_STRAYS:
        raise InputError(
            Fault(
                f"{place_of(is_stray)}, hold values that stand for no class",
                expected=f"at most {MOST_STRAYS:.0%} of the pixels, to be taken for strays",
                fix="declare what the values stand for in classes.csv",
            )
        )
