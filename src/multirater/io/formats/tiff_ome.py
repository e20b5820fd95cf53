"""What the OME-XML of a TIFF file claims, held against its files before tifffile believes it.

OME-XML counts planes, and names the files that hold them. tifffile makes room for every plane
that is counted and opens every file that is named, wherever it lies.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from multirater.io.formats.own_folder import inside
from multirater.io.formats.tiff_directories import Directories, walked

_SIDES = ("SizeX", "SizeY", "SizeZ", "SizeC", "SizeT")


def require_honest_planes(xml: str, path: Path, own: Directories) -> None:
    """Refuse planes that cannot be, and files of other folders.

    Args:
        xml: of the first page.
        path: the file.
        own: its directories.

    Raises:
        InputError: pixels lie outside the folder.
        ValueError: more planes are claimed than the files can hold, or the XML is damaged.
    """
    root = ElementTree.fromstring(xml)  # expat bounds what entities expand to
    files = [own, *(walked(file) for file in _others(root, path) if file.is_file())]
    most = sum(each.n_bytes for each in files)
    least_pixels = min(each.least_pixels for each in files)
    n_pages = sum(each.n_pages for each in files)
    claimed = sum(_planes(each, least_pixels) for each in _of_kind(root, "Pixels"))
    claimed += sum(_named(each, n_pages) for each in _of_kind(root, "TiffData"))
    claimed += sum(_steps(each) for each in root.iter() if "Along" in str(each.tag))
    if claimed > most:
        raise ValueError(f"it claims {claimed} planes, in {most} bytes")


def _of_kind(root: Any, kind: str) -> Iterator[Any]:
    return (each for each in root.iter() if str(each.tag).endswith(kind))


def _others(root: Any, path: Path) -> set[Path]:
    """Return the other files that hold pixels, which must lie in the file's folder or below."""
    own = root.attrib.get("UUID")
    return {
        inside(path, name)
        for each in _of_kind(root, "UUID")
        if (name := each.attrib.get("FileName")) and name != path.name and each.text != own
    }


def _planes(pixels: Any, least_pixels: int) -> int:
    """Return how many pages the sizes of an image come to."""
    order = pixels.attrib["DimensionOrder"]
    if not order.startswith("XY") or sorted(order) != sorted("XYZCT"):
        raise ValueError(f"its OME-XML has axes in the order {order}")
    sizes = [int(pixels.attrib.get(side, 1)) for side in _SIDES]
    if min(sizes) < 1:
        raise ValueError(f"its OME-XML has sizes {sizes}")
    return max(prod(sizes) // least_pixels, prod(sizes[2:]))


def _named(data: Any, n_pages: int) -> int:
    """Return how many pages a part of the XML assigns: all of them where it does not say."""
    counts = [int(data.attrib.get(name, 0)) for name in ("PlaneCount", "NumPlanes")]
    return max(*counts, 0) or (1 if "IFD" in data.attrib else n_pages)


def _steps(along: Any) -> int:
    """Return how many values an axis within an axis (`ModuloAlong`) has."""
    if "Start" not in along.attrib:
        return len(along)
    start, end = float(along.attrib["Start"]), float(along.attrib["End"])
    return int(abs((end - start) / float(along.attrib.get("Step", 1)))) + 1
