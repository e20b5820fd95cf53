"""The studies of `real_studies.py`: real images and raters, and volumes with a known truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Picture
from scipy import ndimage

import multirater
from multirater.simulate import SimulatedRater, simulate_dataset
from multirater.types import Case, Dataset, Geometry, Image, LabelMap, Source

STUDIES = ("QUBIQ brain growth", "CHASE_DB1", "volumes")
N_FOLDS = {"QUBIQ brain growth": 5, "CHASE_DB1": 3, "volumes": 3}
"""Folds of QUBIQ; the others have fixed test images, and this many seeds."""

_STRUCTURES = range(71, 79)
"""Caudate nucleus, putamen, pallidum and thalamus in the AAL atlas."""

_SPACINGS = ((2.0, 2.0, 2.0), (4.0, 2.0, 2.0), (2.0, 3.0, 3.0))
"""Millimetres of the made volumes. The atlas has one; at two a step of a large 3-D network takes
seconds of a processor instead of a quarter of a minute."""


def study(name: str, folder: Path, number: int) -> Dataset:
    """Read a study, with its cases split into `train` and `test`.

    Args:
        name: one of `STUDIES`.
        folder: of the data.
        number: the fold, or the seed.
    """
    if name == "CHASE_DB1":
        return _chase(folder / "chase_db1")
    if name == "QUBIQ brain growth":
        return _qubiq(folder / "qubiq_brain_growth", number)
    return _volumes(folder / "mricron", number)


def _chase(folder: Path) -> Dataset:
    images, labels, names = [], [], []
    for path in sorted(folder.glob("*.jpg")):
        images.append(np.asarray(Picture.open(path)).transpose(2, 0, 1))
        drawn = [Picture.open(folder / f"{path.stem}_{who}HO.png") for who in ("1st", "2nd")]
        labels.append(np.stack([np.asarray(each.convert("L")) > 0 for each in drawn]).astype(int))
        names.append(path.stem)
    splits = ["train"] * 20 + ["test"] * (len(names) - 20)
    raters = ["1st observer", "2nd observer"]
    return multirater.dataset_from_arrays(
        labels, images=images, cases=names, splits=splits, raters=raters
    )


def _qubiq(folder: Path, fold: int) -> Dataset:
    with np.load(folder / "qubiq_brain_growth_39x7.npz") as stored:
        images, masks = stored["images"].astype(np.float32), stored["masks"].astype(np.int16)
    order = np.random.default_rng(0).permutation(len(images))
    test = set(order[fold :: N_FOLDS["QUBIQ brain growth"]].tolist())
    return multirater.dataset_from_arrays(
        masks,
        images=images,
        cases=[f"{number:02d}" for number in range(len(images))],
        splits=["test" if number in test else "train" for number in range(len(images))],
        raters=[f"rater {number + 1}" for number in range(masks.shape[1])],
    )


def _volumes(folder: Path, seed: int, n_train: int = 10, n_test: int = 5) -> Dataset:
    """Deform a brain and its atlas case by case, on grids of several spacings, with three raters.

    Args:
        folder: with `ch2.nii.gz` and `aal.nii.gz` of Debian's mricron-data.
        seed: of deformations and raters.
        n_train: cases to train on.
        n_test: cases to test on.
    """
    brain, atlas = (
        np.asarray(multirater.io.read_image(folder / f"{name}.nii.gz").array[0])
        for name in ("ch2", "aal")
    )
    inside = np.isin(atlas, list(_STRUCTURES))
    middle = [round(each) for each in ndimage.center_of_mass(inside)]
    cut = tuple(slice(at - half, at + half) for at, half in zip(middle, (40, 48, 40), strict=True))
    cases = [
        _deformed(number, brain[cut], inside[cut], np.random.default_rng([seed, number]))
        for number in range(n_train + n_test)
    ]
    cases = [replace(c, split="train" if i < n_train else "test") for i, c in enumerate(cases)]
    truth = Dataset(tuple(cases), (), "masks", multirater.types.Classes.numbered(2))
    raters = [SimulatedRater("good"), SimulatedRater("over"), SimulatedRater("under")]
    return simulate_dataset(truth, raters, seed=seed)


def _deformed(number: int, brain: Any, inside: Any, random: np.random.Generator) -> Case:
    bend = [
        ndimage.gaussian_filter(random.normal(size=brain.shape), 12) * 12**1.5 * 3 for _ in range(3)
    ]
    place = [axis + each for axis, each in zip(np.indices(brain.shape), bend, strict=True)]
    image = ndimage.map_coordinates(brain.astype(float), place, order=1, mode="nearest")
    mask = ndimage.map_coordinates(inside.astype(float), place, order=1) > 0.5
    image = image * random.uniform(0.8, 1.2) + random.normal(0, 6, image.shape)
    spacing = _SPACINGS[number % len(_SPACINGS)]
    shrink = [1 / each for each in spacing]
    image = ndimage.zoom(image, shrink, order=1, grid_mode=True, mode="nearest")
    mask = ndimage.zoom(mask.astype(np.int16), shrink, order=0, grid_mode=True, mode="nearest")
    default = Geometry.default(3)
    geometry = Geometry(spacing, default.origin, default.direction)
    made = Image(image[None].astype(np.float32), geometry)
    drawn = LabelMap(mask.astype(np.int16), geometry)
    return Case(f"case{number:02d}", Source(lambda: made), {}, Source(lambda: drawn))
