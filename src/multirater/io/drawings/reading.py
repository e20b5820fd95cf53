"""Coarse drawings in: label files with undrawn pixels, or polygons and lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.drawings.cvat import cvat_shapes
from multirater.io.drawings.geojson import TYPES, geojson_shapes
from multirater.io.drawings.label_studio import is_label_studio, label_studio_shapes
from multirater.io.drawings.shapes import Shape, rasterise
from multirater.io.formats.images import suffix_of
from multirater.io.formats.labels import Grid, read_label
from multirater.types import MISSING, Classes, LabelMap

VECTOR_SUFFIXES = frozenset({".geojson", ".json", ".xml"})
"""Files that hold polygons and lines instead of pixels."""


def read_drawing(
    path: str | Path,
    *,
    classes: Classes | None = None,
    like: Callable[[], Grid] | None = None,
    image_name: str = "",
    rater: str = "",
    undrawn: int | None = None,
) -> LabelMap:
    """Read a coarse drawing as class indices (*space), -1 where nothing is drawn.

    Args:
        path: a label file; or GeoJSON, a JSON export of Label Studio, or an XML export of CVAT,
            whose polygons and lines are put on the grid of the image.
        classes: the classes that may occur.
        like: tells size and geometry of the image.
        image_name: path or file name of the image, to find it in an export of many.
        rater: who drew, to find them in an export of many.
        undrawn: the value of undrawn pixels in a label file; what the classes declare as
            unlabelled, or -1, when not given. Transparent pixels are undrawn, too.

    Raises:
        InputError: the file cannot be read, or leaves no pixel undrawn though nothing states
            which value would mean that.

    Example:
        >>> import tempfile, numpy as np
        >>> target = Path(tempfile.mkdtemp()) / "scribble.npy"
        >>> np.save(target, np.array([[0, 255, 0]], dtype=np.uint8))
        >>> read_drawing(target, undrawn=0).array
        array([[-1,  1, -1]], dtype=int16)
    """
    file = Path(path)
    if suffix_of(file) not in VECTOR_SUFFIXES:
        drawn = read_label(
            file, classes=classes, like=like, unlabelled=undrawn, may_be_transparent=True
        )
        if undrawn is None and (classes is None or classes.unlabelled is None):
            _require_undrawn(drawn, file)
        return drawn
    if like is None:
        raise InputError(
            Fault("polygons without an image", fix="name the image they belong to", file=str(file))
        )
    space, geometry = like()
    try:
        shapes = _read_shapes(file, image_name, rater, space)
        return LabelMap(rasterise(shapes, space, classes), geometry, "polygons and lines")
    except InputError as error:
        raise error.at(file=file) from None


def _require_undrawn(drawn: LabelMap, file: Path) -> None:
    if (drawn.array == MISSING).any():
        return
    raise InputError(
        Fault(
            "a drawing that leaves no pixel undrawn",
            expected="-1 or the unlabelled value of classes.csv where nothing was drawn",
            fix="state the value of undrawn pixels in the column `undrawn`; for a full mask leave "
            "the column `kind` empty",
            file=str(file),
        )
    )


def _read_shapes(file: Path, image_name: str, rater: str, space: tuple[int, ...]) -> list[Shape]:
    if suffix_of(file) == ".xml":
        return cvat_shapes(file, image_name, space)
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(Fault(f"cannot be read as JSON: {error}", fix="export again")) from None
    if isinstance(content, dict) and content.get("type") in TYPES:
        return geojson_shapes(content)
    if is_label_studio(content):
        return label_studio_shapes(content, image_name, rater, space)
    raise InputError(
        Fault(
            "JSON of an unknown kind",
            expected="GeoJSON, or an export of Label Studio in the format `JSON`",
            fix="export again in one of these formats",
        )
    )
