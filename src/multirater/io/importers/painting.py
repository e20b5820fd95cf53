"""Things that were drawn over each other on one image, as a label map of named classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.drawings.shapes import Shape, covered
from multirater.io.formats.labels import Grid
from multirater.io.importers.collecting import collecting
from multirater.types import Classes, LabelClass, LabelMap
from multirater.words import did_you_mean

Mask: TypeAlias = Callable[[tuple[int, ...]], NDArray[np.bool_]]
"""Makes the pixels (height, width) that something covers on an image of this size."""


@dataclass(frozen=True, eq=False)
class Thing:
    """One thing that was drawn.

    Attributes:
        where: the tool's own number of it, such as `annotation 12`.
        index: of its class.
        mask: what it covers.
    """

    where: str
    index: int
    mask: Mask


def shape_mask(shape: Shape) -> Mask:
    """Return the mask of a polygon or line on whatever size the image has."""
    return lambda space: covered(shape, space)


def paint(layers: Sequence[Thing], grid: Grid) -> LabelMap:
    """Paint layers over each other, the last on top, on a background of class 0.

    Raises:
        InputError: with every layer that cannot be painted, or because all miss the image.

    Example:
        >>> from multirater.types import Geometry
        >>> left = Thing("annotation 1", 1, lambda space: np.array([[True, True, False]]))
        >>> over = Thing("annotation 2", 2, lambda space: np.array([[False, True, False]]))
        >>> paint([left, over], ((1, 3), Geometry.default(2))).array
        array([[1, 2, 0]], dtype=int16)
    """
    space, geometry = grid
    # Masks of RLE come column by column; painting them on rows would take thrice as long.
    label = np.zeros(space, dtype=np.int16, order="F")
    faults: list[Fault] = []
    covers = False
    for layer in layers:
        with collecting(faults, thing=layer.where):
            mask = layer.mask(space)
            np.copyto(label, layer.index, where=mask)
            covers = covers or bool(mask.any())
    if layers and not covers and not faults:
        faults.append(
            Fault(
                f"nothing of what was drawn covers the image, such as {layers[0].where}",
                expected=f"something within {space[1]} x {space[0]} pixels (width x height)",
                fix="give the image that was drawn on, or remove what was drawn by mistake",
            )
        )
    if faults:
        raise InputError(faults)
    return LabelMap(np.ascontiguousarray(label), geometry)


def named_classes(used: Iterable[str], order: Sequence[str], *, background: bool = True) -> Classes:
    """Return the classes of an export that does not list them: in the order given, else by name.

    Args:
        used: the names that occur.
        order: `--classes`; what is not among them is found when it is met, see `index_of`.
        background: whether class 0 is the background of masks.
    """
    names = list(order) or sorted(set(used))
    first = [LabelClass("background")] if background else []
    others = [name for name in names if name != "background"] if background else names
    return Classes((*first, *map(LabelClass, others)))


def index_of(name: str, known: Mapping[str, int], where: str) -> int:
    """Return the index of a class, or say that there is none of that name."""
    if name in known:
        return known[name]
    raise InputError(
        Fault(
            f"{where} is of class {name!r}, which is not known{did_you_mean(name, known)}",
            expected=f"one of {', '.join(known)}",
            fix="correct it in the tool, or name all classes by --classes",
        )
    )


def pasted(
    part: NDArray[np.bool_], left: int, top: int, space: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return a mask (height, width) that is a smaller one, put at a place; what juts out is cut.

    Example:
        >>> pasted(np.ones((2, 2), dtype=bool), 1, -1, (2, 3)).astype(int)
        array([[0, 1, 1],
               [0, 0, 0]])
    """
    mask = np.zeros(space, dtype=bool)
    low = np.maximum([top, left], 0)
    high = np.minimum([top + part.shape[0], left + part.shape[1]], space)
    if (high > low).all():
        inside = part[low[0] - top : high[0] - top, low[1] - left : high[1] - left]
        mask[low[0] : high[0], low[1] : high[1]] = inside
    return mask
