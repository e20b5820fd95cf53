"""Write a data set: files in folders, `manifest.csv`, `classes.csv` and `raters.csv`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.case_files import CaseFiles, folders_of, read_case_files
from multirater.io.formats.grid import is_default
from multirater.io.formats.images import write_image
from multirater.io.formats.labels import write_label
from multirater.io.formats.suffixes import WRITABLE, suffix_of
from multirater.io.naming import file_names
from multirater.io.new_folder import new_folder
from multirater.io.tables import manifest
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import Row
from multirater.io.tables.rater_info import write_rater_info
from multirater.progress import track
from multirater.types import MISSING, Case, Classes, Dataset, Image, LabelClass, LabelMap

__all__ = ["new_folder", "write_dataset"]


def write_dataset(
    dataset: Dataset,
    folder: str | Path,
    *,
    suffix: str | None = None,
    overwrite: bool = False,
    keep_images: bool = False,
) -> Path:
    """Write a data set into a folder of its own.

    Images go to `images/`, labels to `raters/<rater>/`, the truth to `truth/`, coarse drawings to
    `positive/<rater>/` and `negative/<rater>/`. The folder appears when everything is written, not
    before.

    Args:
        dataset: what to write; cases are read one at a time.
        folder: target.
        suffix: format of all files, such as `.nii.gz`; that of the source when not given, or
            `.png` where it holds the data, else `.nii.gz`.
        overwrite: replace a data set that is there already.
        keep_images: images that are files stay where they are, and the manifest names them there.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with all faults of the data set, or because it cannot be written; what was in
            the folder is still there then.

    Example:
        >>> import tempfile, multirater
        >>> target = Path(tempfile.mkdtemp()) / "digits"
        >>> data = multirater.samples.digits_dataset(n_train=2, n_test=0)
        >>> write_dataset(data, target).name
        'manifest.csv'
        >>> sorted(path.name for path in target.iterdir())
        ['.multirater-files', 'classes.csv', 'images', 'manifest.csv', 'truth']
    """
    wanted = _writable(suffix)
    _require_names(dataset)
    target = Path(folder)
    with new_folder(target, overwrite=overwrite, inputs=folders_of(dataset)) as temporary:
        writer = _Writer.of(dataset, temporary, wanted, keep_images)
        rows: list[Row] = []
        faults: list[Fault] = []
        for case in track(dataset, "writing", len(dataset)):
            files = read_case_files(case)
            faults += files.faults
            if not faults:
                rows += writer.write_case(case, files)
        if faults:
            raise InputError(faults)
        write_dataset_tables(temporary, rows, writer.classes())
        write_rater_info(dataset.rater_info, temporary)
    return target / manifest.FILE_NAME


@dataclass(eq=False)
class _Writer:
    """Writes the files of one case after the other, and keeps what `classes.csv` has to say."""

    folder: Path
    suffix: str | None
    kind: Literal["masks", "classes"]
    raters: Sequence[str]
    case_files: Mapping[str, str]
    rater_folders: Mapping[str, str]
    items: tuple[LabelClass, ...] | None
    keep_images: bool
    highest: int = MISSING
    has_unlabelled_value: bool = False

    @staticmethod
    def of(dataset: Dataset, folder: Path, suffix: str | None, keep_images: bool) -> _Writer:
        labelled = dict.fromkeys(rater for case in dataset for rater in case.labels)
        # The order of the data set, and after it those it does not list.
        raters = [*(r for r in dataset.raters if r in labelled), *labelled]
        drawers = [drawing.rater for case in dataset for drawing in case.drawings]
        items = None
        if dataset.classes is not None:
            # What is written are class indices, whatever the values were.
            items = tuple(item.without_values() for item in dataset.classes.items)
        return _Writer(
            folder,
            suffix,
            dataset.kind,
            list(dict.fromkeys(raters)),
            file_names(case.name for case in dataset),
            file_names([*raters, *drawers]),
            items,
            keep_images,
        )

    def classes(self) -> Classes | None:
        """Return the classes to declare; the value of unlabelled pixels only if a file needs it."""
        if self.has_unlabelled_value:
            items = self.items or Classes.numbered(max(self.highest + 1, 2)).items
            return Classes(items, _unlabelled_value(len(items)))
        return None if self.items is None else Classes(self.items)

    def write_case(self, case: Case, files: CaseFiles) -> list[Row]:
        """Write the files of a case and return its rows."""
        image = self._write_image(case, files.image)
        truth_paths = case.truth.paths if case.truth is not None else ()
        truth = self._write_label(case, "(truth)", files.truth, "truth", truth_paths)
        rows = []
        for rater in self.raters:
            if rater in case.labels:
                where, label = f"raters/{self.rater_folders[rater]}", files.labels[rater]
                cell = self._write_label(case, rater, label, where, case.labels[rater].paths)
                drawn = case.simulated.get(rater, "")
                said = (rater, cell, truth, case.split, drawn)
                rows.append(Row(case.name, image, *said, when=case.when.get(rater, "")))
        for drawing, label in files.drawings:
            where = f"{drawing.kind}/{self.rater_folders[drawing.rater]}"
            paths = drawing.source.paths
            cell = self._write_label(case, drawing.rater, label, where, paths)
            about = (drawing.rater, cell, truth, case.split, drawing.simulated, drawing.kind)
            rows.append(Row(case.name, image, *about, undrawn=str(self._undrawn(cell))))
        rows = rows or [Row(case.name, image, truth=truth, split=case.split)]
        return [replace(row, patient=case.patient, diagnosis=case.diagnosis) for row in rows]

    def _write_image(self, case: Case, image: Image | None) -> str:
        if image is None:
            return ""
        paths = case.image.paths if case.image is not None else ()
        if self.keep_images and paths:
            return manifest.cell_of(paths, self.folder)
        suffix = self.suffix or _suffix_like(paths, image)
        if not image.space:  # a vector of features
            suffix = ".npy"
        cell = f"images/{self.case_files[case.name]}{suffix}"
        try:
            write_image(as_numbers(image, suffix), self.folder / cell)
        except InputError as error:
            raise error.at(case=case.name) from error
        return cell

    def _write_label(
        self, case: Case, rater: str, label: LabelMap | None, where: str, paths: Sequence[Path]
    ) -> str:
        if label is None:
            return ""
        self.highest = max(self.highest, int(label.array.max(initial=MISSING)))
        if self.kind == "classes":
            index, names = int(label.array), Classes(self.items or ()).names
            return "" if index == MISSING else names[index]
        smallest = Image(label.array[None].astype(np.uint8), label.geometry)
        suffix = self.suffix or _suffix_like(paths, smallest)
        cell = f"{where}/{self.case_files[case.name]}{suffix}"
        if suffix == ".png" and (label.array == MISSING).any():
            self.has_unlabelled_value = True
        classes = self.classes() if suffix == ".png" else self._without_unlabelled_value()
        try:
            write_label(label, self.folder / cell, classes=classes)
        except InputError as error:
            raise error.at(case=case.name, rater=rater) from error
        return cell

    def _undrawn(self, cell: str) -> int:
        """Return what undrawn pixels of a file are written as, be there any or not."""
        if suffix_of(Path(cell)) != ".png":
            return MISSING
        return _unlabelled_value(self.highest + 1 if self.items is None else len(self.items))

    def _without_unlabelled_value(self) -> Classes | None:
        return None if self.items is None else Classes(self.items)


def _unlabelled_value(n_classes: int) -> int:
    return 255 if n_classes <= 255 else 65535


def _writable(suffix: str | None) -> str | None:
    if suffix is None:
        return None
    wanted = "." + suffix.lstrip(".").lower()
    if wanted in WRITABLE:
        return wanted
    raise InputError(
        Fault(
            f"cannot write files of suffix {wanted}",
            expected=f"one of {', '.join(sorted(WRITABLE))}",
            fix="choose one of them",
        )
    )


def _require_names(dataset: Dataset) -> None:
    """Refuse names that a table cannot hold, or that stand for two cases or raters."""
    faults = []
    kinds = {"case": [case.name for case in dataset], "rater": list(dataset.raters)}
    for kind, names in kinds.items():
        for name, count in Counter(names).items():
            is_text = name == name.encode(errors="replace").decode()
            if count == 1 and name and name == name.strip() and is_text:
                continue
            faults.append(
                Fault(
                    f"two {kind}s are called {name}" if count > 1 else f"{kind} is called {name!r}",
                    expected="distinct names in Unicode that neither begin nor end with a space",
                    fix=f"rename the {kind}",
                    **{kind: name},
                )
            )
    if not dataset.cases:
        faults.append(Fault("the data set is empty", expected="at least one case"))
    if faults:
        raise InputError(faults)


def as_numbers(image: Image, suffix: str) -> Image:
    """Return an image of false and true as 0 and 1 where the format has no room for those."""
    if image.array.dtype != np.bool_ or suffix in (".png", ".tif", ".tiff", ".npy", ".npz"):
        return image
    return Image(image.array.astype(np.uint8), image.geometry)


def _suffix_like(paths: Sequence[Path], image: Image) -> str:
    """Choose the format of the source where it holds the image, else PNG or NIfTI."""
    source = suffix_of(paths[0]) if len(paths) == 1 else ""
    fits_png = len(image.space) == 2 and (
        (image.array.dtype == np.uint8 and len(image.array) <= 4)
        or (image.array.dtype in (np.uint16, np.bool_) and len(image.array) == 1)
    )
    if source in WRITABLE - {".png", ".npy"} or (source == ".npy" and is_default(image.geometry)):
        return source
    return ".png" if fits_png else ".nii.gz"
