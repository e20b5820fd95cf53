"""Convert a file, a DICOM series, or a whole data set to another format."""

from __future__ import annotations

from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.dataset import read_dataset
from multirater.io.folders import is_folder_layout
from multirater.io.formats import read_image, read_label_array, write_image
from multirater.io.labels import decode_labels
from multirater.io.manifest import FILE_NAME
from multirater.io.suffixes import suffix_of
from multirater.io.write import write_dataset
from multirater.types import Classes, LabelMap


def convert(
    source: str | Path,
    output: str | Path,
    *,
    suffix: str | None = None,
    like: str | Path | None = None,
    overwrite: bool = False,
) -> Path:
    """Convert to the format that the suffix of `output` names, or a data set to `suffix`.

    Args:
        source: an image or label file, a folder with a DICOM series, or a data set.
        output: file to write; a folder for a data set. A file ending in `.dcm` becomes a
            DICOM-SEG, from a label.
        suffix: format of a data set's files, such as `.nii.gz`.
        like: DICOM series that a DICOM-SEG refers to.
        overwrite: replace what is there.

    Returns:
        What was written: the file, or the manifest.
    """
    origin, target = Path(source), Path(output)
    if _is_dataset(origin):
        return write_dataset(read_dataset(origin), target, suffix=suffix, overwrite=overwrite)
    if suffix is not None:
        raise InputError(
            Fault(
                "--format is for data sets",
                fix="name the format by the suffix of the output file",
                file=str(origin),
            )
        )
    if suffix_of(target) == ".dcm":
        _to_dicom_seg(origin, target, like, overwrite=overwrite)
    else:
        write_image(read_image(origin), target, overwrite=overwrite)
    return target


def _is_dataset(path: Path) -> bool:
    if path.is_dir():
        return (path / FILE_NAME).is_file() or is_folder_layout(path)
    return path.suffix == ".csv"


def _to_dicom_seg(origin: Path, target: Path, like: str | Path | None, *, overwrite: bool) -> None:
    from multirater.io.dicom_seg import write_dicom_seg

    image = read_label_array(origin)
    indices, rule = decode_labels(image.array, None)
    write_dicom_seg(
        LabelMap(indices, image.geometry, rule),
        target,
        classes=Classes.numbered(max(int(indices.max()) + 1, 2)),
        source=None if like is None else Path(like),
        overwrite=overwrite,
    )
