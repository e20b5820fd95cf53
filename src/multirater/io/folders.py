"""A data set without a table: `images/<case>.*`, `raters/<rater>/<case>.*`, `truth/<case>.*`.

A case with several image files (modalities, or a DICOM series) has a folder of its own,
`images/<case>/`.
"""

from __future__ import annotations

import os
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.formats.images import READABLE, is_image_file, suffix_of
from multirater.io.formats.suffixes import is_dicom_file
from multirater.io.naming import require_texts
from multirater.io.tables.manifest import Row

_OTHER_PICTURES = {".hdr", ".img", ".jp2", ".mgz", ".mnc", ".svs", ".webp"}
"""Files that are surely meant to be read and cannot be; others (notes, Thumbs.db) are passed by."""


def is_folder_layout(folder: Path) -> bool:
    """Whether a folder looks like a data set without a table."""
    return (folder / "raters").is_dir() or (folder / "images").is_dir()


def discover_rows(folder: Path, faults: list[Fault]) -> list[Row]:
    """List the rows that a manifest of this folder would have; what is wrong goes to `faults`."""
    images = _cells_by_case(folder, "images", faults)
    truths = _cells_by_case(folder, "truth", faults)
    labels = _labels_by_rater(folder, faults)
    drawings = [*labels.items(), ("(truth)", truths)]
    if images:
        faults += _without_image(folder, images, drawings)
    if images and not labels and not truths:
        faults += _misnamed(folder, images)
    rows = []
    for case in sorted(set(images).union(*(drawn for _, drawn in drawings))):
        image, truth = images.get(case, ""), truths.get(case, "")
        drawn_by = [rater for rater, drawn in labels.items() if case in drawn]
        rows += [Row(case, image, rater, labels[rater][case], truth) for rater in drawn_by]
        if not drawn_by:
            rows.append(Row(case, image, truth=truth))
    return rows


def loose_rows(folder: Path, faults: list[Fault], *, of_volumes: bool = False) -> list[Row]:
    """List images that lie in a folder as they are, a case each; faults go to `faults`.

    A folder within it that holds images is one case, as in `images/`.

    Args:
        folder: that holds images.
        faults: what is wrong, is added.
        of_volumes: whether volumes are looked for: slices of DICOM are one then, and not a case
            each.
    """
    if of_volumes and _is_series(folder):
        return [Row(folder.resolve().name, ".")]
    cells = _cells_by_case(folder, ".", faults)
    held = {case: cell for case, cell in cells.items() if _holds_images(folder / cell)}
    return [Row(case, cell) for case, cell in held.items()]


def _holds_images(path: Path) -> bool:
    return not path.is_dir() or any(is_image_file(entry.path) for entry in _visible(path))


def _is_series(folder: Path) -> bool:
    """Whether the images of a folder are DICOM files of one frame each."""
    files = [Path(entry.path) for entry in _visible(folder) if is_image_file(entry.path)]
    if len(files) < 2 or not all(map(is_dicom_file, files)):
        return False
    from multirater.io.formats.dicom_series import find_headers

    headers = find_headers(folder).values()
    return all(int(header.get("NumberOfFrames") or 1) == 1 for header in headers)


def _labels_by_rater(folder: Path, faults: list[Fault]) -> dict[str, dict[str, str]]:
    labels = {}
    for entry in _visible(folder / "raters"):
        if entry.is_dir():
            labels[entry.name] = _cells_by_case(folder, f"raters/{entry.name}", faults)
            if not labels[entry.name]:
                faults.append(
                    Fault(
                        "rater has no labels",
                        expected=f"files <case>.* in raters/{entry.name}/",
                        fix="add label files, or remove the folder",
                        file=entry.path,
                        rater=entry.name,
                    )
                )
        elif is_image_file(entry.path):
            faults.append(
                Fault(
                    "label outside the folder of a rater",
                    expected=f"raters/<rater>/{entry.name}",
                    fix="move it into a folder with the name of the rater",
                    file=entry.path,
                )
            )
    return labels


def _visible(folder: Path) -> list[os.DirEntry[str]]:
    if not folder.is_dir():
        return []
    try:
        with os.scandir(folder) as entries:
            shown = [entry for entry in entries if not entry.name.startswith((".", "__MACOSX"))]
    except OSError as error:
        raise InputError(
            Fault(f"cannot be read: {error.strerror}", fix="ask for read access", file=str(folder))
        ) from None
    require_texts((entry.name for entry in shown), folder)
    return sorted(shown, key=lambda entry: entry.name)


def _cells_by_case(folder: Path, inside: str, faults: list[Fault]) -> dict[str, str]:
    """Map case names to files or folders, relative to `folder`; two for one case is a fault."""
    found: dict[str, str] = {}
    for entry in _visible(folder / inside):
        suffix = "" if entry.is_dir() else suffix_of(entry.name)
        if suffix in _OTHER_PICTURES:
            faults.append(_unreadable(entry))
        elif entry.is_dir() or suffix in READABLE or is_image_file(entry.path):
            # Only the suffix of a known format is none of the name: 1.2.840.1 may be a DICOM file.
            case = entry.name[: -len(suffix)] if suffix in READABLE else entry.name
            if case in found:
                faults.append(_two_files(case, found[case], entry))
            found[case] = f"{inside}/{entry.name}"
    return found


def _unreadable(entry: os.DirEntry[str]) -> Fault:
    return Fault(
        f"files of suffix {suffix_of(entry.name)} cannot be read",
        expected=", ".join(sorted(READABLE)),
        fix="convert the file, or move it elsewhere",
        file=entry.path,
    )


def _two_files(case: str, other: str, entry: os.DirEntry[str]) -> Fault:
    return Fault(
        f"two files for one case: {Path(other).name} and {entry.name}",
        expected="one file per case",
        fix="keep one of them",
        file=entry.path,
        case=case,
    )


def _misnamed(folder: Path, images: dict[str, str]) -> list[Fault]:
    """Find folders of raters under another name, of which nothing would be read."""
    return [
        Fault(
            f"{entry.name}/{rater.name}/ holds files named like the images, and is not read",
            expected="raters/<rater>/<case>.*",
            fix=f"call {entry.name}/ raters/, or use `multirater import files`",
            file=rater.path,
        )
        for entry in _visible(folder)
        if entry.is_dir() and entry.name != "images"
        for rater in _visible(Path(entry.path))
        if rater.is_dir()
        and images.keys() & _cells_by_case(Path(entry.path), rater.name, []).keys()
    ]


def _without_image(
    folder: Path, images: dict[str, str], drawings: list[tuple[str, dict[str, str]]]
) -> list[Fault]:
    return [
        Fault(
            "label without an image",
            expected=f"images/{case}.*",
            fix="add the image, or give label and image the same name",
            file=str(folder / cell),
            case=case,
            rater=rater,
        )
        for rater, drawn in drawings
        for case, cell in drawn.items()
        if case not in images
    ]
