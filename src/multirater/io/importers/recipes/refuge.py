"""REFUGE: optic disc and cup on fundus images, by seven raters, with the arbitrated truth."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.images import read_image
from multirater.io.importers.recipes.fundus import CLASSES, disc_and_cup
from multirater.io.importers.recipes.layout import require_folder
from multirater.io.write import write_dataset
from multirater.types import Case, Dataset, Geometry, LabelMap, Source

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".tif")
TRUTH_FOLDER = "Disc_Cup_Masks"
_DRAWN = re.compile(r"(?P<case>.+)_seg_(?P<part>cup|disc)_(?P<rater>\d+)(_cropped)?")
DIAGNOSES = ("Glaucoma", "Non-Glaucoma")
"""Folders of arbitrated masks that tell the diagnosis of an eye."""

_HALF = 127
"""Masks are grey images, some of them compressed with loss."""


def import_refuge(source: str | Path, folder: str | Path, *, overwrite: bool = False) -> Path:
    """Make a data set of REFUGE with background, disc and cup.

    The raters' masks come in a folder per case, `<part>/<case>/<case>.jpg` with
    `<case>_seg_{cup,disc}_<rater>.png` (all names may end in `_cropped`). The arbitrated masks of
    the challenge, `Disc_Cup_Masks/**/<case>.bmp` (0 cup, 128 disc, 255 background), are the truth
    of cases of the same name and size; where they lie in folders `Glaucoma` and `Non-Glaucoma`,
    that is the diagnosis. Either may be missing. A part whose name begins with `Training`,
    `Validation` or `Test` gives the splits `train`, `val` and `test`.

    Args:
        source: folder that holds all of this, at any depth.
        folder: target.
        overwrite: replace a data set that is there already.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with every file that is missing; nothing is written then.

    Example:
        >>> import_refuge("REFUGE", "refuge")  # doctest: +SKIP
    """
    root = Path(source)
    require_folder(root, "the images and masks of REFUGE")
    files = sorted(
        file
        for file in root.rglob("*")
        if file.suffix.lower() in SUFFIXES and not file.name.startswith(".")
    )
    truths = {file.stem: file for file in files if TRUTH_FOLDER in file.parts}
    drawn = _drawn(files)
    images = [f for f in files if TRUTH_FOLDER not in f.parts and not _DRAWN.fullmatch(f.stem)]
    faults: list[Fault] = []
    cases = [
        _case(image, root, drawn.get((image.parent, _name(image)), {}), truths, faults)
        for image in images
    ]
    if not cases or not any(case.labels or case.truth for case in cases):
        faults.append(_nothing(root))
    if faults:
        raise InputError(faults)
    raters = tuple(sorted({rater for case in cases for rater in case.labels}))
    dataset = Dataset(tuple(cases), raters, "masks", CLASSES)
    return write_dataset(dataset, folder, suffix=".png", overwrite=overwrite)


Parts = dict[str, Path]
"""Mask files of a rater by what they show: cup and disc."""


def _drawn(files: list[Path]) -> dict[tuple[Path, str], dict[str, Parts]]:
    """Collect mask files by folder and case, then by rater, then by what they show."""
    found: dict[tuple[Path, str], dict[str, Parts]] = {}
    for file in files:
        if match := _DRAWN.fullmatch(file.stem):
            of_case = found.setdefault((file.parent, match["case"]), {})
            of_case.setdefault(f"rater {int(match['rater'])}", {})[match["part"]] = file
    return found


def _case(
    image: Path,
    root: Path,
    drawn: Mapping[str, Parts],
    truths: Mapping[str, Path],
    faults: list[Fault],
) -> Case:
    name = _name(image)
    faults += [
        Fault(
            f"has no mask of the {part}",
            expected="a mask of the cup and one of the disc",
            fix="unpack the data again, or remove the other mask",
            case=name,
            rater=rater,
        )
        for rater, parts in drawn.items()
        for part in ("cup", "disc")
        if part not in parts
    ]
    labels = {
        rater: Source(partial(_read_parts, parts), tuple(parts.values()))
        for rater, parts in drawn.items()
    }
    of_eye = truths[name].parent.name if name in truths else ""
    # The arbitrated masks are of whole images.
    truth = truths.get(name) if not image.stem.endswith("_cropped") else None
    return Case(
        name,
        Source(partial(read_image, image), (image,)),
        labels,
        None if truth is None else Source(partial(_read_truth, truth), (truth,)),
        _split(image.relative_to(root)),
        diagnosis=of_eye if of_eye in DIAGNOSES else "",
    )


def _name(image: Path) -> str:
    return image.stem.removesuffix("_cropped")


def _split(path: Path) -> str:
    """Tell the split from the names of the folders."""
    parts = [part.lower().removeprefix("refuge").strip("-_ ") for part in path.parts[:-1]]
    starts = {"train": "train", "valid": "val", "test": "test"}
    return next(
        (split for part in parts for start, split in starts.items() if part.startswith(start)), ""
    )


def _grey(path: Path) -> NDArray[np.uint8]:
    return np.asarray(read_image(path).array[0])


def _read_parts(parts: Parts) -> LabelMap:
    disc, cup = (_grey(parts[part]) > _HALF for part in ("disc", "cup"))
    return LabelMap(disc_and_cup(disc, cup), Geometry.default(2))


def _read_truth(path: Path) -> LabelMap:
    from PIL import Image

    with Image.open(path) as stored:
        grey = np.asarray(stored.convert("L"))
    return LabelMap(disc_and_cup(grey < 200, grey < 64), Geometry.default(2))


def _nothing(root: Path) -> Fault:
    return Fault(
        "holds no image with masks",
        expected="<part>/<case>/<case>.jpg with <case>_seg_cup_1.png and <case>_seg_disc_1.png, or "
        f"images and {TRUTH_FOLDER}/<case>.bmp",
        fix="name the folder that the data was unpacked to",
        file=str(root),
    )
