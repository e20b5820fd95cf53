"""Write a data set: files in folders, `manifest.csv` and `classes.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io import classes as classes_file
from multirater.io import manifest
from multirater.io.formats import write_image
from multirater.io.labels import write_label
from multirater.io.manifest import Row
from multirater.io.naming import file_names
from multirater.io.suffixes import WRITABLE, suffix_of
from multirater.progress import track
from multirater.types import Case, Classes, Dataset, Image, LabelMap

UNLABELLED_VALUE = 255
"""What stands for *not labelled* in label files that cannot hold -1."""


def write_dataset(
    dataset: Dataset,
    folder: str | Path,
    *,
    suffix: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a data set into a folder of its own.

    Images go to `images/`, labels to `raters/<rater>/`, the truth to `truth/`. The folder appears
    when everything is written, not before.

    Args:
        dataset: what to write; cases are read one at a time.
        folder: target.
        suffix: format of all files, such as `.nii.gz`; that of the source when not given, or
            `.png` where it holds the data, else `.nii.gz`.
        overwrite: replace a data set that is there already.

    Returns:
        The path of the manifest.
    """
    target = Path(folder)
    if suffix is not None:
        suffix = "." + suffix.lstrip(".").lower()
        if suffix not in WRITABLE:
            raise InputError(
                Fault(f"cannot write {suffix}", expected=f"one of {', '.join(sorted(WRITABLE))}")
            )
    with new_folder(target, overwrite=overwrite) as temporary:
        classes = _classes_for_files(dataset)
        names = file_names(case.name for case in dataset)
        rater_folders = file_names(dataset.raters)
        rows = [
            row
            for case in track(dataset, "writing", len(dataset))
            for row in _write_case(
                case, names[case.name], rater_folders, temporary, suffix, classes, dataset.kind
            )
        ]
        manifest.write_rows(rows, temporary / manifest.FILE_NAME)
        if classes is not None:
            classes_file.write_classes(classes, temporary / classes_file.FILE_NAME)
    return target / manifest.FILE_NAME


@contextmanager
def new_folder(target: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a folder beside the target that takes its place when all went well.

    A folder that is not a data set is never replaced, whatever `overwrite` says.
    """
    taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    if taken and not overwrite:
        raise InputError(
            Fault("already exists", fix="choose another folder or --overwrite", file=str(target))
        )
    if taken and not (target / manifest.FILE_NAME).is_file():
        raise InputError(
            Fault(
                "exists and is not a data set, so it is not replaced",
                fix="choose another folder",
                file=str(target),
            )
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield temporary
        temporary.chmod(0o755)
        if target.exists():
            old = Path(mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
            target.replace(old / "replaced")
            temporary.replace(target)
            rmtree(old)
        else:
            temporary.replace(target)
    except OSError as error:
        raise InputError(
            Fault(f"cannot be written: {error.strerror or error}", file=str(target))
        ) from error
    finally:
        rmtree(temporary, ignore_errors=True)


def _classes_for_files(dataset: Dataset) -> Classes | None:
    """File values no longer matter: what is written are class indices."""
    if dataset.classes is None:
        return None
    items = tuple(replace(item, value=None) for item in dataset.classes.items)
    spare = UNLABELLED_VALUE if len(items) <= UNLABELLED_VALUE and dataset.kind == "masks" else None
    return Classes(items, spare)


def _write_case(
    case: Case,
    name: str,
    rater_folders: dict[str, str],
    folder: Path,
    suffix: str | None,
    classes: Classes | None,
    kind: str,
) -> list[Row]:
    image_cell = ""
    image = case.read_image()
    if image is not None:
        paths = case.image.paths if case.image else ()
        image_cell = f"images/{name}{suffix or _image_suffix(image, paths)}"
        write_image(image, folder / image_cell)

    def write(label: LabelMap, where: str, paths: tuple[Path, ...]) -> str:
        if kind == "classes":
            assert classes is not None
            return classes.names[int(label.array)]
        cell = f"{where}/{name}{suffix or _label_suffix(label, paths)}"
        write_label(label, folder / cell, classes=classes)
        return cell

    truth = case.read_truth()
    truth_cell = ""
    if truth is not None and case.truth is not None:
        truth_cell = write(truth, "truth", case.truth.paths)
    rows = [
        Row(
            case.name,
            image_cell,
            rater,
            write(case.read_label(rater), f"raters/{rater_folders[rater]}", source.paths),
            truth_cell,
            case.split,
            case.simulated.get(rater, ""),
        )
        for rater, source in case.labels.items()
    ]
    return rows or [Row(case.name, image_cell, truth=truth_cell, split=case.split)]


def _image_suffix(image: Image, paths: tuple[Path, ...]) -> str:
    if len(paths) == 1 and suffix_of(paths[0]) in WRITABLE:
        return suffix_of(paths[0])
    fits_png = len(image.space) == 2 and (
        image.array.dtype == np.uint8 or (image.array.dtype == np.uint16 and len(image.array) == 1)
    )
    return ".png" if fits_png and len(image.array) <= 4 else ".nii.gz"


def _label_suffix(label: LabelMap, paths: tuple[Path, ...]) -> str:
    if len(paths) == 1 and suffix_of(paths[0]) in WRITABLE:
        return suffix_of(paths[0])
    return ".png" if label.array.ndim == 2 else ".nii.gz"
