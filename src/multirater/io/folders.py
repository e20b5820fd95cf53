"""A data set without a table: `images/<case>.*`, `raters/<rater>/<case>.*`, `truth/<case>.*`.

A case with several image files (modalities, or a DICOM series) has a folder of its own,
`images/<case>/`.
"""

from __future__ import annotations

from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.formats import is_image_file, suffix_of
from multirater.io.manifest import IMAGE_SEPARATOR, Row


def is_folder_layout(folder: Path) -> bool:
    """Whether a folder looks like a data set without a table."""
    return (folder / "raters").is_dir() or (folder / "images").is_dir()


def discover_rows(folder: Path) -> list[Row]:
    """List the rows that a manifest of this folder would have."""
    faults: list[Fault] = []
    images = _files_by_case(folder / "images", faults)
    truths = _files_by_case(folder / "truth", faults)
    labels: dict[str, dict[str, Path]] = {}
    for rater in sorted(_folders(folder / "raters")):
        drawn = _files_by_case(rater, faults)
        if not drawn:
            faults.append(
                Fault(
                    "rater has no labels",
                    fix="add label files, or remove the folder",
                    file=str(rater),
                    rater=rater.name,
                )
            )
        labels[rater.name] = drawn
    cases = sorted(set(images) | {case for drawn in labels.values() for case in drawn})
    faults += _labels_without_image(cases, images, labels)
    if faults:
        raise InputError(faults)
    rows = []
    for case in cases:
        image = _image_cell(images[case], folder) if case in images else ""
        truth = truths[case].relative_to(folder).as_posix() if case in truths else ""
        drawn_by = {rater: drawn[case] for rater, drawn in labels.items() if case in drawn}
        for rater_name, path in drawn_by.items():
            label = path.relative_to(folder).as_posix()
            rows.append(Row(case, image, rater_name, label, truth))
        if not drawn_by:
            rows.append(Row(case, image, truth=truth))
    return rows


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")]


def _files_by_case(folder: Path, faults: list[Fault]) -> dict[str, Path]:
    """Map case names to files (or, for images, folders); two for one case is a fault."""
    found: dict[str, Path] = {}
    if not folder.is_dir():
        return found
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not (path.is_dir() or is_image_file(path)):
            continue
        case = path.name if path.is_dir() else path.name[: -len(suffix_of(path))]
        if case in found:
            faults.append(
                Fault(
                    f"two files for one case: {found[case].name} and {path.name}",
                    fix="keep one of them",
                    file=str(path),
                    case=case,
                )
            )
        found[case] = path
    return found


def _image_cell(path: Path, folder: Path) -> str:
    """Name a file, a DICOM series by its folder, or every modality of a case."""
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if is_image_file(each))
        if files and not any(suffix_of(each) == ".dcm" for each in files):
            return IMAGE_SEPARATOR.join(each.relative_to(folder).as_posix() for each in files)
    return path.relative_to(folder).as_posix()


def _labels_without_image(
    cases: list[str], images: dict[str, Path], labels: dict[str, dict[str, Path]]
) -> list[Fault]:
    if not images:
        return []
    return [
        Fault(
            "label without an image",
            expected=f"images/{case}.*",
            fix="add the image, or give label and image the same name",
            file=str(drawn[case]),
            case=case,
            rater=rater,
        )
        for case in cases
        if case not in images
        for rater, drawn in labels.items()
        if case in drawn
    ]
