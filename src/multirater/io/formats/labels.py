"""Label files in and out: one drawing per file, as class indices.

How file values become class indices is the subject of `label_values`; here the label meets the
image it was drawn on, which settles what the file leaves open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from multirater.errors import InputError
from multirater.io.formats.encoded_labels import encode_labels
from multirater.io.formats.grid import fit_image, is_default
from multirater.io.formats.images import read_label_array, suffix_of, write_image
from multirater.io.formats.label_values import decode_labels
from multirater.io.formats.segment_names import BY_NAME, indices_by_name, rule_of, segment_names
from multirater.io.formats.stray import Stray
from multirater.io.formats.suffixes import PICTURES_IN, is_dicom_file
from multirater.types import Classes, Geometry, Image, LabelMap

Grid: TypeAlias = tuple[tuple[int, ...], Geometry]
"""Size and geometry of the image a label belongs to."""

_AMBIGUOUS = {".npy", ".npz", ".tif", ".tiff"}
"""Formats in which a third axis may be depth or channels: the image decides."""

_LOSSY = {".jpg", ".jpeg"}

_PICTURES = {".png", ".tif", ".tiff"} | PICTURES_IN
"""Formats in which channels may be colours and opacity."""


def read_label(
    path: str | Path,
    *,
    classes: Classes | None = None,
    like: Callable[[], Grid] | None = None,
    unlabelled: int | None = None,
    may_be_transparent: bool = False,
    stray: Stray | None = None,
) -> LabelMap:
    """Read a label file as class indices (*space), -1 where not labelled.

    A label that has, or lacks, a slice axis of size one gets the axes of its image; a label from a
    format without geometry gets that of its image.

    Args:
        path: the file.
        classes: the classes that may occur; any small index when not given.
        like: tells size and geometry of the image; asked only where the file leaves them open.
        unlabelled: the value that means *not labelled* in this file; what the classes declare when
            not given.
        may_be_transparent: whether transparent pixels of pictures are *not labelled*.
        stray: how values that stand for no class are read; they are refused when not given.

    Example:
        >>> import tempfile, numpy as np
        >>> target = Path(tempfile.mkdtemp()) / "mask.npy"
        >>> np.save(target, np.array([[0, 255]], dtype=np.uint8))
        >>> read_label(target).array
        array([[0, 1]], dtype=int16)
    """
    file = path if isinstance(path, Path) else Path(path)  # to make one anew is slow
    image = _read_array(file, like)
    names = _segments(file)
    try:
        by_name = None if classes is None else indices_by_name(image.array[0], names, classes)
        if by_name is not None:
            return LabelMap(by_name, image.geometry, BY_NAME)
        is_picture = suffix_of(file) in _PICTURES
        indices, rule = decode_labels(
            image.array,
            classes,
            is_picture=is_picture,
            may_be_transparent=may_be_transparent,
            unlabelled=unlabelled,
            stray=stray,
        )
    except InputError as error:
        faults = error.faults
        if suffix_of(file) in _LOSSY:
            fix = "JPEG changes the values it stores: export the label as PNG"
            faults = tuple(replace(fault, fix=fix) for fault in faults)
        raise InputError(faults).at(file=file) from None
    return LabelMap(indices, image.geometry, rule_of(names) if names else rule)


def _segments(path: Path) -> dict[int, str]:
    """Return the names of the segments of DICOM-SEG; none of other files."""
    if not is_dicom_file(path):
        return {}
    from multirater.io.formats.dicom_seg import is_dicom_seg

    return segment_names(path) if is_dicom_seg(path) else {}


def _read_array(path: Path, like: Callable[[], Grid] | None) -> Image:
    if like is None:
        return read_label_array(path)
    if is_dicom_file(path):
        return _read_dicom(path, like())
    if suffix_of(path) in _AMBIGUOUS:
        grid = like()
        return _fitted(read_label_array(path, ndim=len(grid[0])), grid)
    image = read_label_array(path)
    if not is_default(image.geometry) and len(image.space) == 3 and 1 not in image.space:
        return image
    try:
        return _fitted(image, like())
    except InputError:  # the image's own fault, to be told when the image is read
        return image


def _read_dicom(path: Path, grid: Grid) -> Image:
    from multirater.io.formats.dicom_seg import is_dicom_seg, read_dicom_seg

    # A segmentation may omit empty slices, so that only the image's grid tells its size.
    if is_dicom_seg(path) and not is_default(grid[1]):
        return read_dicom_seg(path, like=grid)
    return _fitted(read_label_array(path), grid)


def _fitted(label: Image, grid: Grid) -> Image:
    """Give a label the axes of its image, and its place when the file tells none."""
    space, geometry = grid
    if _without_ones(label.space) == _without_ones(space) and len(label.space) != len(space):
        label = fit_image(label.array, label.geometry, len(space))
    if is_default(label.geometry) and label.space == space:
        return Image(label.array, geometry)
    return label


def _without_ones(space: tuple[int, ...]) -> list[int]:
    return [size for size in space if size != 1]


def write_label(
    label: LabelMap, path: str | Path, *, classes: Classes | None = None, overwrite: bool = False
) -> None:
    """Write class indices to a file, in the smallest type that holds them.

    Unlabelled pixels become the value that `classes` declares for them, or -1 in formats that can
    hold it.
    """
    target = Path(path)
    try:
        values = encode_labels(label.array, classes, signed=suffix_of(target) != ".png")
    except InputError as error:
        raise error.at(file=target) from None
    write_image(Image(values[None], label.geometry), target, overwrite=overwrite)
