"""Size of the patches: by the size of images and objects, or as asked for."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.training.fingerprint import Fingerprint

_WHOLE_SIDE, _LEAST_SIDE, _MOST_SIDE = 320, 128, 192
"""Images up to the first are served whole; sides of 2-D patches lie between the others, by the
size of the objects."""

_MOST_VOXELS, _LEAST_VOXELS = 2**17, 16**3


def given_patch(patch: Sequence[int], seen: Fingerprint, view: str) -> tuple[int, ...]:
    """Return the patch that was asked for, once it is known to fit the images."""
    first = 1 if view == "slices" else 0
    n_axes = seen.ndim - first
    if len(patch) != n_axes or any(side < 1 for side in patch):
        raise InputError(
            Fault(f"patch {size_text(patch)}", expected=f"{n_axes} sizes, one per axis")
        )
    smallest = seen.smallest[first:]
    if any(side > have for side, have in zip(patch, smallest, strict=True)):
        raise InputError(
            Fault(
                f"a patch of {size_text(patch)}",
                expected=f"no larger than the smallest image: {size_text(smallest)}",
                fix="choose a smaller --patch, or leave it to the plan",
            )
        )
    return tuple(int(side) for side in patch)


def largest_image(seen: Fingerprint, view: str) -> tuple[int, ...]:
    """Return the size of the largest image, as the network's axes see it."""
    return seen.largest[1:] if view == "slices" else seen.largest


def wanted_patch(
    seen: Fingerprint, size: tuple[int, ...], spacing: tuple[float, ...], view: str
) -> tuple[int, ...]:
    """Return the patch that size of image and objects ask for; empty for whole images."""
    largest = largest_image(seen, view)
    if len(size) == 2:
        if max(largest) <= _WHOLE_SIDE:
            return ()
        extent = max((max(each[-2:]) for each in seen.object_size if each), default=_LEAST_SIDE)
        side = min(max(_up(1.5 * extent, 32), _LEAST_SIDE), _MOST_SIDE)
        return tuple(min(side, _up(have, 16)) for have in size)
    if prod(largest) <= _MOST_VOXELS:
        return ()
    patch = [_up(have, 16) if have >= 16 else have for have in size]
    while prod(patch) > _MOST_VOXELS:
        # The axis that reaches furthest, in millimetres, gives way.
        axis = max(
            (i for i in range(len(patch)) if patch[i] > 16), key=lambda i: patch[i] * spacing[i]
        )
        patch[axis] = max(_up(patch[axis] * 0.85, 16) - 16 * (patch[axis] <= 96), 16)
    return tuple(patch)


def smaller_patch(patch: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return a patch with its longest side halved; None when it is as small as makes sense."""
    if prod(patch) <= (32 * 32 if len(patch) == 2 else _LEAST_VOXELS):
        return None
    axis = patch.index(max(patch))
    return tuple(max(_up(side / 2, 16), 16) if i == axis else side for i, side in enumerate(patch))


def _up(value: float, multiple: int) -> int:
    return ceil(value / multiple) * multiple
