"""Masks in COCO's notation, by `pycocotools`: polygons, RLE as counts or text, panoptic PNG."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.formats.images import read_label_array
from multirater.io.formats.stray import place_of

_FAR = 1e7
"""Pixels from the corner; no image reaches as far, and the library counts in 32 bits."""

_LONGEST_NAME = 255

_LONGEST = 2**22
"""Pixels of an outline, which take a hundred bytes each."""


def mask_of(outline: Any, space: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the mask (height, width) of an annotation's field `segmentation`.

    Args:
        outline: polygons, or RLE with `size` and `counts`.
        space: (height, width) of the image.

    Raises:
        InputError: it is neither, or an RLE that does not fill the image exactly.

    Example:
        >>> mask_of([[0, 0, 2, 0, 2, 2, 0, 2]], (2, 3)).astype(int)
        array([[1, 1, 0],
               [1, 1, 0]])
    """
    masks = coco_library()
    height, width = space
    try:
        if isinstance(outline, Mapping):
            if list(outline["size"]) != [height, width]:
                raise _unusable(f"is an RLE of size {outline['size']}", f"[{height}, {width}]")
            counts = outline["counts"]
            is_list = isinstance(counts, list)
            whole = masks.frPyObjects(outline, height, width) if is_list else outline
            _require_filled(whole, height * width)
            return np.asarray(masks.decode(whole)).view(np.bool_)
        if not _are_polygons(outline):
            raise _unusable(f"has segmentation {outline!r:.40}", "polygons or RLE")
        _require_near(outline)
        parts = masks.frPyObjects(outline, height, width)
        return np.asarray(masks.decode(masks.merge(parts))).view(np.bool_)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise _unusable(f"cannot be decoded: {error}", "polygons or RLE") from None


def rle_of(mask: NDArray[Any]) -> dict[str, Any]:
    """Return a mask as RLE in text.

    Example:
        >>> rle_of(np.eye(2))
        {'size': [2, 2], 'counts': '0120'}
    """
    found = coco_library().encode(np.asfortranarray(mask, dtype=np.uint8))
    return {"size": [int(side) for side in found["size"]], "counts": found["counts"].decode()}


def read_panoptic(
    json_file: Path, name: str, segments: frozenset[int], space: tuple[int, ...]
) -> NDArray[np.int64]:
    """Return the segment of each pixel, 0 for none, from a PNG in the folder of the file's name.

    Args:
        json_file: of the annotation.
        name: of the PNG.
        segments: the numbers that may occur.
        space: (height, width) of the image.
    """
    folders = (json_file.with_suffix(""), json_file.parent)
    if len(name) > _LONGEST_NAME or Path(name).is_absolute() or ".." in Path(name).parts:
        raise _unusable(f"is in the file {name:.80}", "a file in the folder of the export")
    file = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if file is None:
        raise InputError(
            Fault(f"{name} is not there", expected=f"it in {folders[0]}", fix="copy it there")
        )
    return _segments(file, file.stat().st_mtime_ns, segments, space)


@lru_cache(maxsize=2)  # of the segments of one image, one after the other
def _segments(
    file: Path, _changed: int, known: frozenset[int], space: tuple[int, ...]
) -> NDArray[np.int64]:
    channels = read_label_array(file).array[:3].astype(np.int64)
    if len(channels) != 3:
        raise _unusable(f"{file.name} is grey", "a PNG in colour, which holds numbers of segments")
    red, green, blue = channels
    if red.shape != space:
        raise _unusable(f"{file.name} has size {red.shape}", f"{space}, that of the image")
    found = np.asarray(red + 256 * green + 256**2 * blue)
    is_stray = ~np.isin(found, [0, *known])
    if is_stray.any():
        raise _unusable(
            f"{file.name} has segment {found[is_stray][0]}: {place_of(is_stray)}",
            f"one of segments_info: {', '.join(map(str, sorted(known)[:5]))}",
        )
    return found


def coco_library() -> Any:
    """Return the module of `pycocotools` that knows masks."""
    with extra():
        from pycocotools import mask
    return mask


def _are_polygons(outline: Any) -> bool:
    return (
        isinstance(outline, list)
        and len(outline) > 0
        and all(isinstance(p, list) and len(p) >= 6 and len(p) % 2 == 0 for p in outline)
        and all(isinstance(x, int | float) and abs(x) < _FAR for p in outline for x in p)
    )


def _require_near(polygons: list[list[float]]) -> None:
    """Refuse outlines without end: the library walks along them, five steps a pixel."""
    length = 0.0
    for polygon in polygons:
        points = np.array(polygon, dtype=np.float64).reshape(-1, 2)
        length += float(np.abs(np.diff(points, axis=0, append=points[:1])).max(1).sum())
    if length > _LONGEST:
        raise _unusable(f"has an outline of {length:.0f} pixels", f"at most {_LONGEST}")


def _require_filled(rle: Mapping[str, Any], n_pixels: int) -> None:
    """Refuse counts that end early: the library would leave the rest to chance.

    It refuses those that go on too long; so these must go on too long for one pixel fewer.
    """
    masks = coco_library()
    try:
        masks.decode({"size": [1, n_pixels - 1], "counts": rle["counts"]})
    except ValueError:
        return
    raise _unusable("is an RLE that ends before the image does", f"counts of {n_pixels} pixels")


def _unusable(found: str, expected: str) -> InputError:
    return InputError(Fault(found, expected=expected, fix="export again, or mend the annotation"))
