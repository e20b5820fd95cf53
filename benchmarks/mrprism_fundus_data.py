"""Made-up fundus images: optic disc and cup, five raters, a diagnosis, and a second camera.

The disc is a bright ellipse under dark vessels, the cup a brighter one within. An eye has glaucoma
when the cup is high in proportion to the disc. Raters agree about the disc and not about the cup.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

import multirater
from multirater.types import Classes, Dataset, LabelClass

SIZE = 48
GLAUCOMA = 0.55
"""Height of the cup, as a share of the disc's, from which on an eye is ill."""

CLASSES = Classes(tuple(LabelClass(name) for name in ("background", "disc", "cup")))

RATERS: dict[str, tuple[float, float]] = {
    "careful": (1.0, 0.03),
    "fair": (1.0, 0.08),
    "wide": (1.3, 0.08),
    "narrow": (0.7, 0.08),
    "careless": (1.0, 0.4),
}
"""By how much a rater enlarges cups, and by how much that varies from eye to eye."""


@dataclass(frozen=True)
class Eye:
    """What an eye looks like.

    Attributes:
        centre: of disc and cup, in pixels.
        disc: half axes, vertical and horizontal, in pixels.
        ratio: of the cup to the disc.
    """

    centre: NDArray[np.float64]
    disc: NDArray[np.float64]
    ratio: float

    def label(self, of_disc: float = 1.0, of_cup: float = 1.0) -> NDArray[np.int64]:
        """Return class indices, with disc and cup enlarged; the cup stays within the disc."""
        inside = self.within(self.disc * of_disc)
        ratio = min(self.ratio * of_cup, 0.95 * of_disc)
        return inside.astype(np.int64) + (inside & self.within(self.disc * ratio))

    def within(self, half_axes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the pixels of an ellipse."""
        place = np.stack(np.mgrid[:SIZE, :SIZE]) - self.centre[:, None, None]
        return np.asarray(((place / half_axes[:, None, None]) ** 2).sum(0) < 1)


def fundus(n_train: int, n_test: int, *, seed: int) -> Dataset:
    """Make a study; every second test image is of another camera than those to train on."""
    rng = np.random.default_rng(seed)
    n_cases = n_train + n_test
    eyes = [_eye(rng) for _ in range(n_cases)]
    is_other = [number >= n_train and number % 2 == 1 for number in range(n_cases)]
    images = [_image(eye, rng, other=other) for eye, other in zip(eyes, is_other, strict=True)]
    drawn = [np.stack([_drawn(eye, rng, *habits) for habits in RATERS.values()]) for eye in eyes]
    return multirater.dataset_from_arrays(
        drawn,
        images=images,
        truths=[eye.label() for eye in eyes],
        cases=[f"{'other' if other else 'same'}-{n:03d}" for n, other in enumerate(is_other)],
        splits=["train"] * n_train + ["test"] * n_test,
        raters=list(RATERS),
        diagnoses=["glaucoma" if eye.ratio > GLAUCOMA else "healthy" for eye in eyes],
        classes=CLASSES,
    )


def _eye(rng: np.random.Generator) -> Eye:
    centre = SIZE / 2 + rng.uniform(-6, 6, 2)
    width = rng.uniform(10, 14)
    return Eye(centre, np.array([width * rng.uniform(1.0, 1.15), width]), rng.uniform(0.3, 0.8))


def _drawn(eye: Eye, rng: np.random.Generator, habit: float, spread: float) -> NDArray[np.int64]:
    return eye.label(rng.normal(1, 0.03), max(habit * rng.normal(1, spread), 0.2))


def _image(eye: Eye, rng: np.random.Generator, *, other: bool) -> NDArray[np.float32]:
    """Return red, green and blue, (3, SIZE, SIZE)."""
    label = eye.label()
    shade = gaussian_filter(rng.normal(0, 1, (SIZE, SIZE)), 8) * 4
    disc, cup = (gaussian_filter((label >= each).astype(float), 1.2) for each in (1, 2))
    light = 0.35 + 0.1 * shade + 0.3 * disc + 0.15 * cup - 0.25 * _vessels(eye, rng)
    colours = np.array([1.0, 0.6, 0.3]) if not other else np.array([0.8, 0.65, 0.45])
    picture = colours[:, None, None] * light
    if other:
        picture = gaussian_filter(picture, (0, 0.8, 0.8)) ** 1.5
    return (picture + rng.normal(0, 0.05, picture.shape)).astype(np.float32)


def _vessels(eye: Eye, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return dark lines that leave the disc upwards and downwards."""
    row, column = np.mgrid[:SIZE, :SIZE]
    found = np.zeros((SIZE, SIZE))
    for side in (-1, 1):
        for _ in range(2):
            height = (row - eye.centre[0]) * side
            bend = rng.uniform(-0.03, 0.03) * height**2 + rng.uniform(-0.4, 0.4) * height
            distance = np.abs(column - eye.centre[1] - bend)
            found = np.maximum(found, (height > 0) * np.exp(-(distance**2)))
    return found
