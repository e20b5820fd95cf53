"""Convert a file, a DICOM series, or a whole data set to another format."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.folders import is_folder_layout
from multirater.io.formats.images import read_image, read_label_array, write_image
from multirater.io.formats.labels import read_label
from multirater.io.formats.suffixes import suffix_of
from multirater.io.read import read_dataset
from multirater.io.tables.manifest import FILE_NAME
from multirater.io.write import as_numbers, write_dataset
from multirater.progress import say
from multirater.rater_choice import choose_raters
from multirater.types import Classes, Image

_TWO_WAYS = (".png", ".tif", ".tiff", ".bmp", ".gif")
"""Formats whose stored values may stand for colours, or for greys the other way round."""


def convert(
    source: str | Path,
    output: str | Path,
    *,
    suffix: str | None = None,
    like: str | Path | None = None,
    label: bool = False,
    raters: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Convert to the format that the suffix of `output` names, or a data set to `suffix`.

    Args:
        source: an image or label file, a folder with a DICOM series, or a data set.
        output: file to write; a folder for a data set. A file ending in `.dcm` becomes a
            DICOM-SEG, from a label.
        suffix: format of a data set's files, such as `.nii.gz`.
        like: DICOM series that a DICOM-SEG refers to.
        label: whether a file is a label, whose values are kept as they are stored: a palette's
            indices instead of its colours, the black of a TIFF in which white is zero.
        raters: of a data set, whom to keep, as in `choose_raters`; everybody when not given.
        exclude: of a data set, whom to leave out.
        overwrite: replace what is there.

    Returns:
        What was written: the file, or the manifest.
    """
    origin, target = Path(source), Path(output)
    if _is_dataset(origin):
        _require_used("--like", like, like is None, "DICOM-SEG (.dcm)", origin)
        _require_used("--label", "", not label, "files", origin)
        dataset = choose_raters(read_dataset(origin), raters, exclude=exclude)
        return write_dataset(dataset, target, suffix=suffix, overwrite=overwrite)
    for option, value in (("--raters", raters), ("--exclude", exclude)):
        _require_used(option, value, value is None, "data sets", origin)
    _require_used("--format", suffix, suffix is None, "data sets", origin)
    is_segmentation = suffix_of(target) == ".dcm"
    _require_used("--like", like, like is None or is_segmentation, "DICOM-SEG (.dcm)", origin)
    if is_segmentation:
        _to_dicom_seg(origin, target, like, overwrite=overwrite)
    else:
        image = read_label_array(origin) if label else read_image(origin)
        if not label:
            _say_if_other_as_label(image, origin)
        write_image(as_numbers(image, suffix_of(target)), target, overwrite=overwrite)
    return target


def _say_if_other_as_label(image: Image, origin: Path) -> None:
    """Tell what a palette, or a TIFF in which white is zero, would be as a label."""
    if suffix_of(origin) not in _TWO_WAYS:
        return
    stored = read_label_array(origin).array
    if stored.shape != image.array.shape or (stored != image.array).any():
        say("note: read as an image; as a label the file holds other values, which --label keeps")


def _is_dataset(path: Path) -> bool:
    if path.is_dir():
        return (path / FILE_NAME).is_file() or is_folder_layout(path)
    return path.suffix.lower() == ".csv"


def _require_used(option: str, value: object, is_used: bool, what_for: str, origin: Path) -> None:
    if not is_used:
        raise InputError(
            Fault(
                f"{option} {value} has no meaning here",
                expected=f"{option} for {what_for}",
                fix="leave it out; the suffix of the output file names the format",
                file=str(origin),
            )
        )


def _to_dicom_seg(origin: Path, target: Path, like: str | Path | None, *, overwrite: bool) -> None:
    from multirater.io.formats.dicom_seg import write_dicom_seg

    label = read_label(origin)
    write_dicom_seg(
        label,
        target,
        classes=Classes.numbered(max(int(label.array.max()) + 1, 2)),
        source=None if like is None else Path(like),
        overwrite=overwrite,
    )
