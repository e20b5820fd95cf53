"""RIGA: optic disc and cup on 750 fundus images, outlined by six raters."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError, MultiraterWarning
from multirater.io.formats.images import read_image
from multirater.io.importers.recipes.fundus import CLASSES, disc_and_cup
from multirater.io.importers.recipes.layout import require_folder
from multirater.io.importers.recipes.outlines import enclosed
from multirater.io.write import write_dataset
from multirater.types import Case, Dataset, Geometry, LabelMap, Source

PARTS = {"messidor": "train", "binrushed": "train", "magrabia": "test"}
"""Folders by how their names begin. Magrabia, of another hospital, tests (MrPrism)."""

_PRIME = re.compile(r"(?P<number>image\d+)prime", re.IGNORECASE)
_MARKED = re.compile(r"(?P<number>image\d+)-(?P<rater>\d)", re.IGNORECASE)
_SUFFIXES = (".tif", ".tiff", ".jpg", ".jpeg", ".png")
_CHANGED = 40
"""Grey values from which on a pixel is drawn on, and not merely compressed differently."""


def import_riga(source: str | Path, folder: str | Path, *, overwrite: bool = False) -> Path:
    """Make a data set of RIGA with background, disc and cup.

    RIGA has each image as it is, `image<n>prime`, and once per rater with the outlines of disc and
    cup drawn on it, `image<n>-<rater>`. What the two differ in are the outlines; they are filled.
    Where an outline is not closed, the rater counts as not having labelled the image, and a
    warning says how often.

    Args:
        source: folder with MESSIDOR, BinRushed and Magrabia, or any of them.
        folder: target.
        overwrite: replace a data set that is there already.

    Returns:
        The path of the manifest.

    Raises:
        InputError: no images, or files that cannot be read; nothing is written then.

    Example:
        >>> import_riga("RIGA", "riga")  # doctest: +SKIP
    """
    root = Path(source)
    require_folder(root, "the folders MESSIDOR, BinRushed and Magrabia of RIGA")
    found = list(_cases(root))
    if not found:
        raise InputError(
            Fault(
                "holds no image of RIGA",
                expected="MESSIDOR/image1prime.tif with image1-1.tif to image1-6.tif, and so on",
                fix="name the folder that the data was unpacked to",
                file=str(root),
            )
        )
    raters = tuple(sorted({rater for case in found for rater in case.labels}))
    n_given = sum(len(case.labels) for case in found)
    kept = tuple(_with_closed_outlines(case) for case in found)
    _warn_of_open_outlines(n_given - sum(len(case.labels) for case in kept), n_given)
    return write_dataset(
        Dataset(kept, raters, "masks", CLASSES), folder, suffix=".png", overwrite=overwrite
    )


def _cases(root: Path) -> Iterator[Case]:
    """Yield a case per image, named after the folders it is in."""
    for folder in sorted({root, *(path for path in root.rglob("*") if path.is_dir())}):
        files = sorted(file for file in folder.iterdir() if file.suffix.lower() in _SUFFIXES)
        marked: dict[str, dict[str, Path]] = {}
        for file in files:
            if match := _MARKED.fullmatch(file.stem):
                rater = f"rater {match['rater']}"
                marked.setdefault(match["number"].lower(), {})[rater] = file
        for file in files:
            if match := _PRIME.fullmatch(file.stem):
                yield _case(root, file, match["number"].lower(), marked)


def _case(root: Path, image: Path, number: str, marked: dict[str, dict[str, Path]]) -> Case:
    # The source may be one of the folders itself.
    inside = image.parent.relative_to(root.parent if _split(root.name) else root)
    labels = {
        rater: Source(partial(_read_outlines, image, file), (file,))
        for rater, file in marked.get(number, {}).items()
    }
    split = next((found for part in inside.parts if (found := _split(part))), "")
    name = "-".join([*inside.parts, number])
    return Case(name, Source(partial(read_image, image), (image,)), labels, split=split)


def _split(folder: str) -> str:
    return next((split for start, split in PARTS.items() if folder.lower().startswith(start)), "")


def _read_outlines(image: Path, marked: Path) -> LabelMap:
    disc, cup = _disc_and_cup(image, marked)
    return LabelMap(disc_and_cup(disc, cup), Geometry.default(2))


def _disc_and_cup(image: Path, marked: Path) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    plain, drawn_on = (read_image(path).array.astype(np.int16) for path in (image, marked))
    if plain.shape != drawn_on.shape:
        raise InputError(
            Fault(
                f"has shape {drawn_on.shape}",
                expected=f"{plain.shape}, as {image.name}",
                fix="unpack the data again",
                file=str(marked),
            )
        )
    return enclosed(np.abs(plain - drawn_on).max(0) > _CHANGED)


def _with_closed_outlines(case: Case) -> Case:
    """Leave out raters whose outlines enclose nothing."""
    closed = {}
    for rater, source in case.labels.items():
        try:
            label = source.read().array
        except InputError as error:
            raise error.at(case=case.name, rater=rater) from None
        if {1, 2} <= set(np.unique(label).tolist()):
            closed[rater] = source
    return replace(case, labels=closed)


def _warn_of_open_outlines(n_open: int, n_given: int) -> None:
    if n_open:
        warnings.warn(
            f"{n_open} of {n_given} drawings do not enclose both a disc and a cup; they are left "
            "out",
            MultiraterWarning,
            stacklevel=3,
        )
