"""One image among those of an export: find it, and see that it is the one that was drawn on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TypeVar

from multirater.errors import Fault, InputError

T = TypeVar("T")


def closest(candidates: Iterable[tuple[T, Iterable[str]]], image: str) -> list[T]:
    """Return what carries the image's file name; of several, those whose folders agree best.

    Args:
        candidates: things, each with the paths it may go by.
        image: path of the image, or its file name alone.

    Example:
        >>> tasks = [(1, ["a/eye.png"]), (2, ["b/eye.png"]), (3, ["b/ear.png"])]
        >>> closest(tasks, "set/b/eye.png"), closest(tasks, "eye.png"), closest(tasks, "nose.png")
        ([2], [1, 2], [])
    """
    scored = [
        (max((_agreement(name, image) for name in names), default=0), item)
        for item, names in candidates
    ]
    best = max((score for score, _ in scored), default=0)
    return [item for score, item in scored if score == best > 0]


def the_one(found: Sequence[T], image: str, *, what: str, n: int, tool: str, absent: str) -> T:
    """Return what was found of an image, if it is one.

    Args:
        found: by `closest`.
        image: path of the image, or its file name alone.
        what: what is looked for, in the singular.
        n: how many the export holds.
        tool: that exported.
        absent: what to do when there is none.
    """
    if len(found) == 1:
        return found[0]
    fix = absent
    if found:
        fix = f"keep the images in folders of the same names as in {tool}, or rename them"
    raise InputError(
        Fault(
            f"{len(found) or 'no'} {what}{'s' if found else ''} called {PurePosixPath(image).name}",
            expected=f"one of its {n} {what}s to be called so",
            fix=fix,
        )
    )


def _agreement(one: str, other: str) -> int:
    """Count the parts in which two paths agree, from the file name up."""
    parts = zip(*(reversed(PurePosixPath(path).parts) for path in (one, other)), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], parts))


def require_size(
    stated: tuple[float, float], space: tuple[int, ...], *, may_scale: bool = False
) -> None:
    """Refuse a drawing that was made on an image of another size.

    Args:
        stated: width and height of the image that was drawn on, in pixels.
        space: (height, width) of the image; volumes are not looked at.
        may_scale: whether another resolution will do, with sides in the same proportion.
    """
    if len(space) != 2:
        return
    size = (space[1], space[0])
    fits = _same_ratio if may_scale else tuple.__eq__
    if fits(stated, size):
        return
    fix = "give the image that was drawn on, or draw on this one"
    if fits(stated[::-1], size):
        fix = (
            "the sides are swapped: the tool may have turned the image by its EXIF orientation, "
            "which is ignored here; store the image upright without it, and draw again"
        )
    raise InputError(
        Fault(
            f"drawn on an image of {stated[0]:g} x {stated[1]:g} pixels (width x height)",
            expected=f"{size[0]} x {size[1]}, the size of the image"
            + (", or the same proportion" if may_scale else ""),
            fix=fix,
        )
    )


def _same_ratio(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether one size is the other scaled, but for the rounding to whole pixels."""
    scale = other[0] / one[0]
    return abs(one[1] * scale - other[1]) < max(1.0, scale)
