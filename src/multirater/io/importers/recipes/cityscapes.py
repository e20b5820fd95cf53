"""Cityscapes: street scenes with fine masks and, as positive drawings, coarse polygons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.io.formats.images import read_image, write_image
from multirater.io.importers.recipes.layout import require_folder
from multirater.io.new_folder import new_folder
from multirater.io.tables import manifest
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import Row, cell_of
from multirater.progress import track
from multirater.types import Classes, Geometry, Image, LabelClass

_UNLABELLED = 255
_CLASSES = {
    "road": (7, "#804080"),
    "sidewalk": (8, "#f423e8"),
    "building": (11, "#464646"),
    "wall": (12, "#66669c"),
    "fence": (13, "#be9999"),
    "pole": (17, "#999999"),
    "traffic light": (19, "#faaa1e"),
    "traffic sign": (20, "#dcdc00"),
    "vegetation": (21, "#6b8e23"),
    "terrain": (22, "#98fb98"),
    "sky": (23, "#4682b4"),
    "person": (24, "#dc143c"),
    "rider": (25, "#ff0000"),
    "car": (26, "#00008e"),
    "truck": (27, "#000046"),
    "bus": (28, "#003c64"),
    "train": (31, "#005064"),
    "motorcycle": (32, "#0000e6"),
    "bicycle": (33, "#770b20"),
}
"""The 19 classes of the benchmark: value in `labelIds` files, and colour."""

CLASSES = Classes(
    tuple(LabelClass(name, colour) for name, (_, colour) in _CLASSES.items()), _UNLABELLED
)
SPLITS = {"train": "train", "train_extra": "train", "val": "test"}
"""Folders, and the split each goes to: the labels of `test` are not published."""

IMAGE, FINE, COARSE = "leftImg8bit", "gtFine", "gtCoarse"


def import_cityscapes(
    source: str | Path,
    folder: str | Path,
    *,
    masks: int | None = None,
    shrink: int = 1,
    overwrite: bool = False,
) -> Path:
    """Make a data set of Cityscapes: fine masks as masks, coarse ones as positive drawings.

    The fine mask is also the truth. Pixels outside the 19 classes of the benchmark are unlabelled.
    `val` becomes the split `test`, since labels of the published `test` are not public.

    Args:
        source: the folder with `leftImg8bit`, and `gtFine`, `gtCoarse` or both.
        folder: target.
        masks: how many of the training images, in the order of their names, have fine masks; the
            others have drawings only. All when not given.
        shrink: 4 makes images and labels of a fourth of the size: the mean of 4 x 4 pixels, and
            the label in their middle.
        overwrite: replace a data set that is there already.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with every file that is missing, damaged or of another size.

    Example:
        >>> import_cityscapes("cityscapes", "streets", shrink=4)  # doctest: +SKIP
    """
    root, target = Path(source), Path(folder)
    require_folder(root, f"the folder with {IMAGE}, {FINE} and {COARSE}")
    if shrink < 1:
        raise InputError(Fault(f"shrink {shrink}", expected="a whole number from 1 on"))
    scenes = _find_scenes(root)
    with new_folder(target, overwrite=overwrite, inputs=[root]) as temporary:
        rows, faults, n_masks = list[Row](), list[Fault](), 0
        for scene in track(scenes, "converting scenes", len(scenes)):
            is_training = SPLITS[scene.split] == "train"
            has_mask = scene.fine is not None and not (is_training and n_masks == masks)
            n_masks += has_mask and is_training
            try:
                rows += _write(scene, temporary, target, shrink, has_mask=has_mask)
            except InputError as error:
                faults += error.at(case=scene.name).faults
        if faults:
            raise InputError(faults)
        write_dataset_tables(temporary, rows, CLASSES)
    return target / manifest.FILE_NAME


@dataclass(frozen=True)
class _Scene:
    name: str
    split: str
    image: Path
    fine: Path | None
    coarse: Path | None


def _find_scenes(root: Path) -> list[_Scene]:
    found = [
        _Scene(
            name,
            split,
            image,
            _label_of(root, FINE, split, image.parent.name, name),
            _label_of(root, COARSE, split, image.parent.name, name),
        )
        for split in SPLITS
        for image in sorted(root.glob(f"{IMAGE}/{split}/*/*_{IMAGE}.png"))
        for name in [image.name.removesuffix(f"_{IMAGE}.png")]
    ]
    labelled = [scene for scene in found if scene.fine or scene.coarse]
    if not labelled:
        raise InputError(
            Fault(
                f"{len(found)} images, none with a label",
                expected=f"{IMAGE}/train/<city>/*_{IMAGE}.png with "
                f"{FINE}/train/<city>/*_{FINE}_labelIds.png or the same of {COARSE}",
                fix="unpack images and labels into one folder",
                file=str(root),
            )
        )
    return labelled


def _label_of(root: Path, kind: str, split: str, city: str, name: str) -> Path | None:
    file = root / kind / split / city / f"{name}_{kind}_labelIds.png"
    return file if file.is_file() else None


def _write(
    scene: _Scene, folder: Path, target: Path, shrink: int, *, has_mask: bool
) -> Iterator[Row]:
    image = read_image(scene.image)
    cell = cell_of([scene.image], target)
    if shrink > 1:
        cell = f"images/{scene.name}.png"
        small = Image(_block_mean(image.array, shrink), Geometry.default(2))
        write_image(small, folder / cell)
    split = SPLITS[scene.split]
    truth = _write_label(scene.fine, f"truth/{scene.name}.png", folder, image, shrink)
    if has_mask:
        yield Row(scene.name, cell, "fine", truth, truth, split)
    if scene.coarse:
        where = f"positive/coarse/{scene.name}.png"
        drawn = _write_label(scene.coarse, where, folder, image, shrink)
        yield Row(scene.name, cell, "coarse", drawn, truth, split, kind="positive")
    if not has_mask and not scene.coarse:
        yield Row(scene.name, cell, truth=truth, split=split)


def _write_label(file: Path | None, cell: str, folder: Path, image: Image, shrink: int) -> str:
    if file is None:
        return ""
    values = read_image(file).array[0]
    if values.shape != image.space:
        raise InputError(
            Fault(
                f"label has size {size_text(values.shape)}",
                expected=f"{size_text(image.space)}, the size of the image",
                fix="unpack the data again",
                file=str(file),
            )
        )
    indices = np.full(256, _UNLABELLED, dtype=np.uint8)
    for index, (value, _) in enumerate(_CLASSES.values()):
        indices[value] = index
    middle = indices[values[shrink // 2 :: shrink, shrink // 2 :: shrink]]
    height, width = (size // shrink for size in image.space)
    write_image(Image(middle[None, :height, :width], Geometry.default(2)), folder / cell)
    return cell


def _block_mean(array: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Average blocks of size x size pixels; what is left at the border is dropped."""
    channels, height, width = array.shape[0], array.shape[1] // size, array.shape[2] // size
    blocks = array[:, : height * size, : width * size].reshape(channels, height, size, width, size)
    return np.asarray(blocks.mean((2, 4)).round(), dtype=np.uint8)
