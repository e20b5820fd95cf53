"""One image or mask in, one out, in every format, with spacing, origin and direction.

The suffix chooses the module that knows the format (`suffixes.FAMILIES`); that module is imported
only then. DICOM files are also recognised without a suffix.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Protocol, cast

import numpy as np

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.atomic import replacing
from multirater.io.formats.claims import require_room
from multirater.io.formats.grid import GridShape, is_default, size_text
from multirater.io.formats.guard import cannot_hold, missing, writing
from multirater.io.formats.suffixes import (
    FAMILIES,
    READABLE,
    WRITABLE,
    is_dicom_file,
    is_image_file,
    suffix_of,
)
from multirater.types import Image

__all__ = [
    "READABLE",
    "WRITABLE",
    "image_shape",
    "is_image_file",
    "read_image",
    "read_label_array",
    "suffix_of",
    "write_image",
]


class _Family(Protocol):
    """What every module of a format offers."""

    def read(self, path: Path, ndim: int | None, *, as_labels: bool = False) -> Image: ...

    def shape(self, path: Path, ndim: int | None) -> GridShape: ...

    def write(self, image: Image, path: Path) -> None: ...


def read_image(path: str | Path | Sequence[str | Path], *, ndim: int | None = None) -> Image:
    """Read an image as (channels, *space), with its type of value and its geometry.

    Args:
        path: a file; several files, one per modality, which become channels; or a folder with one
            DICOM series or, when it holds no DICOM, the files to take as channels by name.
        ndim: number of spatial axes, 2 or 3, where the file leaves it open or a slice axis of size
            one shall be added or dropped; as the file says when not given.

    Raises:
        InputError: missing, unreadable, truncated or not an image; sizes or geometries differ.

    Example:
        >>> import tempfile, numpy as np
        >>> target = Path(tempfile.mkdtemp()) / "a.npy"
        >>> np.save(target, np.zeros((3, 8, 9), dtype=np.uint8))
        >>> read_image(target).array.shape, read_image(target, ndim=3).array.shape
        ((3, 8, 9), (1, 3, 8, 9))
    """
    return _read(path, ndim, as_labels=False)


def read_label_array(path: str | Path | Sequence[str | Path], *, ndim: int | None = None) -> Image:
    """Read a label file as (channels, *space) with the values it stores.

    As `read_image`, but a palette gives indices instead of colours, false and true become 0 and 1,
    a DICOM rescale is not applied, and a DICOM-SEG file gives one channel of segment numbers.

    Example:
        >>> import tempfile, numpy as np
        >>> target = Path(tempfile.mkdtemp()) / "mask.npy"
        >>> np.save(target, np.array([[True, False]]))
        >>> read_label_array(target).array
        array([[[1, 0]]], dtype=uint8)
    """
    image = _read(path, ndim, as_labels=True)
    if image.array.dtype == np.bool_:
        return Image(image.array.astype(np.uint8), image.geometry)
    return image


def write_image(image: Image, path: str | Path, *, overwrite: bool = False) -> None:
    """Write an image in the format of the suffix, whole or not at all.

    Args:
        image: (channels, *space); nothing of it is converted or dropped to fit the format.
        path: the file to make.
        overwrite: whether an existing file may be replaced.

    Raises:
        InputError: the format cannot hold the image, the file exists, or the disk is full.

    Example:
        >>> import tempfile
        >>> from multirater.types import Geometry
        >>> target = Path(tempfile.mkdtemp()) / "volume.nii.gz"
        >>> write_image(Image(np.ones((1, 2, 3, 4), np.int16), Geometry.default(3)), target)
        >>> read_image(target).space
        (2, 3, 4)
    """
    target = Path(path)
    if suffix_of(target) not in WRITABLE:
        raise _unknown_suffix(target, "write", WRITABLE)
    with writing(target):
        _require_image(image, target)
    with replacing(target, overwrite=overwrite) as temporary, writing(target):
        native = image.array.astype(image.array.dtype.newbyteorder("="), copy=False)
        _family(target).write(Image(native, image.geometry), temporary)


def image_shape(path: str | Path | Sequence[str | Path], ndim: int | None = None) -> GridShape:
    """Return size (*space) and geometry, reading only the header where the format allows.

    Example:
        >>> import tempfile, numpy as np
        >>> target = Path(tempfile.mkdtemp()) / "a.npy"
        >>> np.save(target, np.zeros((8, 9)))
        >>> image_shape(target)[0]
        (8, 9)
    """
    files = _files(path)
    shapes = [_shape(file, ndim) for file in files]
    for file, (space, geometry) in zip(files, shapes, strict=True):
        _require_same_grid(file, (space, geometry), files[0], shapes[0])
    return shapes[0]


def _shape(file: Path, ndim: int | None) -> GridShape:
    """Read a header; every label of a case asks for its image's, one after the other."""
    if not file.is_file():
        return _family(file).shape(file, ndim)
    state = file.stat()
    return _header(file, ndim, state.st_mtime_ns, state.st_size, state.st_ino)


@lru_cache(maxsize=16)
def _header(file: Path, ndim: int | None, *_: int) -> GridShape:
    """Read the header of a file, once as long as it stays as it is.

    Labels are painted on what it claims, one byte for each pixel at least.
    """
    found = _family(file).shape(file, ndim)
    require_room(prod(found[0]), file)
    return found


def _read(path: str | Path | Sequence[str | Path], ndim: int | None, *, as_labels: bool) -> Image:
    files = _files(path)
    images = [_family(file).read(file, ndim, as_labels=as_labels) for file in files]
    for file, image in zip(files, images, strict=True):
        _require_numbers(image, str(file))
        if image is images[0]:
            continue
        _require_same_grid(
            file, (image.space, image.geometry), files[0], (images[0].space, images[0].geometry)
        )
    if len(images) == 1:
        return images[0]
    return Image(np.concatenate([image.array for image in images]), images[0].geometry)


def _files(path: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return the files, or the folder with a DICOM series, that make up one image."""
    if isinstance(path, Path):
        return _channels_of(path)
    if isinstance(path, str):
        return _channels_of(Path(path))
    files = [file for each in path for file in _channels_of(Path(each))]
    if not files:
        raise InputError(Fault("no file was given", expected="at least one", fix="name a file"))
    return files


def _channels_of(path: Path) -> list[Path]:
    if suffix_of(path) in READABLE and _has_content(path):
        return [path]
    if not path.is_dir():
        _require_content(path)
        return [path]
    files = sorted(file for file in path.iterdir() if is_image_file(file))
    if any(is_dicom_file(file) for file in files):
        return [path]
    if not files:
        raise InputError(
            Fault(
                "is a folder without images",
                expected=f"a DICOM series, or files of {_listed(READABLE)}",
                fix="put the images there, or name another folder",
                file=str(path),
            )
        )
    for file in files:
        _require_content(file)
    return files


def _family(path: Path) -> _Family:
    is_dicom = os.path.isdir(path) or is_dicom_file(path)  # noqa: PTH112, twice as fast
    name = "dicom" if is_dicom else FAMILIES.get(suffix_of(path))
    if name is None:
        raise _unknown_suffix(path, "read", READABLE)
    return _module(name)


@cache
def _module(name: str) -> _Family:
    with extra():
        return cast(_Family, import_module(f"multirater.io.formats.{name}"))


def _listed(suffixes: frozenset[str]) -> str:
    return ", ".join(sorted(suffixes))


def _unknown_suffix(path: Path, verb: str, suffixes: frozenset[str]) -> InputError:
    hint = "; `write_dicom_seg` writes DICOM" if verb == "write" else ""
    return InputError(
        Fault(
            f"cannot {verb} files of suffix {suffix_of(path) or '(none)'}",
            expected=_listed(suffixes) + hint,
            fix="convert the file, or correct its suffix",
            file=str(path),
        )
    )


def _has_content(path: Path) -> bool:
    """Whether this is a file that is not empty, in one question to the system."""
    try:
        found = os.stat(path)  # noqa: PTH116, twice as fast
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


def _require_content(path: Path) -> None:
    if not path.exists():
        raise missing(path)
    if path.stat().st_size > 0:
        return
    raise InputError(
        Fault(
            "is empty (0 bytes)",
            expected="an image file",
            fix="copy or export the file again",
            file=str(path),
        )
    )


def _require_numbers(image: Image, file: str) -> None:
    kind = image.array.dtype.kind
    if kind in "buif" and image.array.size > 0:
        return
    found = f"holds values of type {image.array.dtype}" if kind not in "buif" else "holds no values"
    raise InputError(
        Fault(
            f"{found} (size {size_text(image.space)})",
            expected="at least one pixel of whole or real numbers",
            fix="export the image again",
            file=file,
        )
    )


def _require_image(image: Image, target: Path) -> None:
    _require_numbers(image, "")
    if image.array.ndim == 1 and image.geometry.ndim == 0:
        if suffix_of(target) != ".npy":
            raise cannot_hold("a vector of features", suffix_of(target), (".npy",))
        return
    if image.array.ndim != image.geometry.ndim + 1 or image.geometry.ndim not in (2, 3):
        raise InputError(
            Fault(
                f"has an array of {image.array.ndim} axes and a {image.geometry.ndim}-D geometry",
                expected="an array (channels, *space) with 2 or 3 axes of space",
                fix="add the channel axis: array[None]",
            )
        )


def _require_same_grid(path: Path, shape: GridShape, first_path: Path, first: GridShape) -> None:
    if shape[0] != first[0]:
        found, expected = f"has size {size_text(shape[0])}", size_text(first[0])
    elif not shape[1].is_close(first[1]):
        found = f"lies elsewhere: {'no geometry' if is_default(shape[1]) else shape[1]}"
        expected = str(first[1])
    else:
        return
    raise InputError(
        Fault(
            found,
            expected=f"{expected}, as in {first_path.name}",
            fix="give all files of one image the same grid, or name one file only",
            file=str(path),
        )
    )
