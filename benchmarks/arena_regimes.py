"""The regimes of the arena: real and made-up images, simulated raters, known truth.

Every regime is a function of supply and seed that gives a data set with the splits `train` and
`test`, truth in both. Raters are described here once and are not adjusted to results.

Every regime comes in three forms: as it is, `few` with a quarter of the cases (and so of the
steps), and `long` with five times the epochs, after which nothing should be worse than before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

import multirater
from multirater.samples import load_digits
from multirater.simulate import simulate_mask
from multirater.simulate.masks import MaskKind
from multirater.types import MISSING, Classes, Dataset

Supply: TypeAlias = Literal["dense", "one"]
Form: TypeAlias = Literal["", "few", "long"]
Labels: TypeAlias = NDArray[np.int16]
Draw: TypeAlias = Callable[[Labels, int, Labels], Labels]
"""Draws a label from a true one, a seed, and the true labels of all training cases."""

N_TRAIN, N_TEST = 320, 120
EPOCHS = 6
N_SURE = 60
"""Cases that tell how far the right class leads among raters."""

NOISE = 0.35
"""Standard deviation of the noise on digits, whose strokes are 1 and ground 0."""


@dataclass(frozen=True)
class Regime:
    """Images, and who labels them.

    Attributes:
        images: of a seed and numbers of training and test cases: images and their truth.
        raters: of a seed, since skills may be drawn.
        n_classes: background included.
        most: labels per case of the dense form; None for one of every rater.
        share: of the usual number of training cases. Fewer cases get as many more epochs, so that
            all regimes are trained for about as many steps.
    """

    images: Callable[[int, int, int], tuple[NDArray[np.float32], Labels]]
    raters: Callable[[int], Sequence[Draw]]
    n_classes: int = 2
    most: int | None = None
    share: float = 1.0

    def n_train(self, form: Form = "") -> int:
        """Training cases."""
        return max(8, round(N_TRAIN * self.share / (4 if form == "few" else 1)))

    def epochs(self, form: Form = "") -> int:
        """Passes over them."""
        return round(EPOCHS / self.share) * (5 if form == "long" else 1)


def digits(seed: int, n_train: int, n_test: int) -> tuple[NDArray[np.float32], Labels]:
    """Return handwritten digits and their masks."""
    random = np.random.default_rng([seed, 0])
    images, masks = [], []
    for split, n in (("train", n_train), ("test", n_test)):
        found = load_digits(split)  # type: ignore[arg-type]
        chosen = random.permutation(len(found.images))[:n]
        images.append(found.images[chosen])
        masks.append(found.masks[chosen])
    return np.concatenate(images).astype(np.float32), np.concatenate(masks)


def tiles(seed: int, n_train: int, n_test: int) -> tuple[NDArray[np.float32], Labels]:
    """Return images of three small digits, bright, middle and dark: classes 1, 2 and 3."""
    tones, size, half, n = (0.9, 0.6, 0.35), 40, 20, n_train + n_test
    images, _ = digits(seed, 3 * n_train, 3 * n_test)
    small = ndimage.zoom(images / 255, (1, half / 28, half / 28), order=1)
    random = np.random.default_rng([seed, 1])
    made = 0.05 * random.standard_normal((n, size, size)).astype(np.float32)
    truth = np.zeros((n, size, size), dtype=np.int16)
    for number, three in enumerate(np.arange(3 * n).reshape(n, 3)):
        for k, (digit, corner) in enumerate(zip(three, random.permutation(4), strict=False), 1):
            rows = slice(corner // 2 * half, corner // 2 * half + half)
            columns = slice(corner % 2 * half, corner % 2 * half + half)
            made[number, rows, columns] += small[digit] * tones[k - 1]
            truth[number, rows, columns][small[digit] > 0.5] = k
    return made, truth


def blobs(seed: int, n_train: int, n_test: int) -> tuple[NDArray[np.float32], Labels]:
    """Return smooth shapes of low contrast, blurred, in textured noise."""
    random = np.random.default_rng([seed, 2])
    size = 32
    rows, columns = np.mgrid[:size, :size]
    images, truth = [], []
    for _ in range(n_train + n_test):
        (row, column), radius = random.uniform(10, size - 10, 2), random.uniform(5, 9)
        angle = np.arctan2(rows - row, columns - column)
        waves = [random.normal(0, 0.15) * np.cos(k * angle + random.uniform(0, 7)) for k in (2, 3)]
        shape = np.hypot(rows - row, columns - column) < radius * (1 + sum(waves))
        texture = ndimage.gaussian_filter(random.standard_normal((size, size)), 2)
        image = ndimage.gaussian_filter(shape.astype(float), 1.2) * random.uniform(0.5, 1)
        images.append(image + 1.4 * texture + 0.45 * random.standard_normal((size, size)))
        truth.append(shape)
    return np.stack(images).astype(np.float32), np.stack(truth).astype(np.int16)


def noisy_digits(seed: int, n_train: int, n_test: int) -> tuple[NDArray[np.float32], Labels]:
    """Return digits under heavy noise, at which a network on the truth loses about ten points."""
    images, masks = digits(seed, n_train, n_test)
    random = np.random.default_rng([seed, 10])
    return (images / 255 + NOISE * random.standard_normal(images.shape)).astype(np.float32), masks


def cells(seed: int, n_train: int, n_test: int) -> tuple[NDArray[np.float32], Labels]:
    """Return a few small, faint ellipses each, in uneven light."""
    random = np.random.default_rng([seed, 11])
    size = 48
    rows, columns = np.mgrid[:size, :size]
    images, truth = [], []
    for _ in range(n_train + n_test):
        shape = np.zeros((size, size), dtype=bool)
        for _ in range(random.integers(1, 4)):
            (row, column), angle = random.uniform(8, size - 8, 2), random.uniform(0, np.pi)
            along = (rows - row) * np.cos(angle) + (columns - column) * np.sin(angle)
            across = (columns - column) * np.cos(angle) - (rows - row) * np.sin(angle)
            axes = random.uniform(3, 5.5, 2)
            shape |= (along / axes[0]) ** 2 + (across / axes[1]) ** 2 < 1
        light = ndimage.gaussian_filter(random.standard_normal((size, size)), 8)
        image = ndimage.gaussian_filter(shape.astype(float), 1) * random.uniform(0.6, 1)
        images.append(image + 6 * light + 0.35 * random.standard_normal((size, size)))
        truth.append(shape)
    return np.stack(images).astype(np.float32), np.stack(truth).astype(np.int16)


def shifted(rows: int, columns: int) -> Draw:
    """Return a rater whose drawings, uneven as a good rater's, lie off by some pixels."""
    return lambda truth, seed, _: np.roll(mask("good")(truth, seed, truth), (rows, columns), (0, 1))


def mask(kind: MaskKind, strength: float = 1.0) -> Draw:
    """Return a rater of `multirater.simulate`."""
    return lambda truth, seed, _: simulate_mask(truth, kind, strength=strength, seed=seed)[0]


def other(_: Labels, seed: int, pool: Labels) -> Labels:
    """Draw the object of another image."""
    return pool[np.random.default_rng([seed, 3]).integers(len(pool))]


def noise(share: float) -> Draw:
    """Return a rater who gets this share of all pixels wrong, at random."""
    return lambda truth, seed, _: np.where(
        np.random.default_rng([seed, 4]).random(truth.shape) < share, 1 - truth, truth
    ).astype(np.int16)


def anything(truth: Labels, seed: int, _: Labels) -> Labels:
    """Draw random patches of the object's area."""
    field = ndimage.gaussian_filter(
        np.random.default_rng([seed, 5]).standard_normal(truth.shape), 1.5
    )
    return (field > np.quantile(field, 1 - (truth > 0).mean())).astype(np.int16)


def several(*parts: tuple[MaskKind, int]) -> Draw:
    """Return a rater who errs in some way on each of some classes."""

    def draw(truth: Labels, seed: int, _: Labels) -> Labels:
        for kind, target in parts:
            truth = simulate_mask(truth, kind, target=target, seed=seed + target)[0]
        return truth

    return draw


def confusing(chances: dict[tuple[int, int], float]) -> Draw:
    """Return a rater who calls whole objects of a class another, with these chances."""

    def draw(truth: Labels, seed: int, _: Labels) -> Labels:
        random = np.random.default_rng([seed, 6])
        label = truth.copy()
        for (true, drawn), chance in chances.items():
            if random.random() < chance:
                label[truth == true] = drawn
        return label

    return draw


def crowd(seed: int) -> list[Draw]:
    """Return forty raters of all kinds, with strengths drawn at random."""
    random = np.random.default_rng([seed, 7])
    kinds = random.choice(
        ["good", "over", "under", "wrong", "noise", "other"], 40, p=[0.2, 0.2, 0.2, 0.15, 0.15, 0.1]
    )
    made: list[Draw] = []
    for kind in kinds:
        if kind == "other":
            made.append(other)
        elif kind == "noise":
            made.append(noise(random.uniform(0.05, 0.4)))
        else:
            made.append(
                mask(kind, random.uniform(0.5, 3) if kind == "good" else random.uniform(0.3, 2))
            )
    return made


def always(*raters: Draw) -> Callable[[int], Sequence[Draw]]:
    """Return the same raters for every seed."""
    return lambda _: raters


FIVE = always(*(mask(kind) for kind in ("good", "over", "under", "wrong", "blank")))  # type: ignore[arg-type]

OF_THREE_CLASSES = always(
    several(("good", 1), ("good", 2), ("good", 3)),
    confusing({(1, 2): 0.7, (2, 1): 0.7}),
    several(("over", 1), ("under", 3)),
    several(("wrong", 2), ("over", 3)),
    confusing({(3, 0): 1.0, (2, 3): 0.5}),
)

REGIMES = {
    "five": Regime(digits, FIVE),
    "biased": Regime(
        digits,
        always(mask("good"), mask("over", 0.6), mask("over", 1.2), mask("wrong"), mask("under")),
    ),
    "one expert": Regime(
        digits, always(mask("good"), mask("over", 2), mask("under", 2), other, noise(0.3))
    ),
    "spammers": Regime(digits, always(mask("good"), mask("good"), other, other, anything)),
    "multi-class": Regime(tiles, OF_THREE_CLASSES, n_classes=4),
    "many, sparse": Regime(digits, crowd, most=3),
    "clean": Regime(digits, always(*[mask("good", 0.5)] * 5)),
    "real texture": Regime(blobs, FIVE),
    "noisy": Regime(
        noisy_digits,
        always(*(mask(kind) for kind in ("good", "over", "under", "wrong"))),  # type: ignore[arg-type]
        share=70 / 320,
    ),
    "nested": Regime(digits, always(mask("under", 0.6), mask("good", 0.5), mask("over", 0.6))),
    "two raters": Regime(digits, always(mask("good"), mask("over", 0.5))),
    "alike": Regime(
        cells,
        always(
            *[mask("good", 4)] * 4,
            *[mask("over", 0.2), mask("under", 0.2)] * 2,
            *[shifted(1, 0), shifted(0, -1)],
        ),
        share=0.25,
    ),
}


def arena_dataset(name: str, supply: Supply, seed: int, form: Form = "") -> Dataset:
    """Return the data set of a regime: only training cases have labels, all have a truth."""
    regime = REGIMES[name]
    n_train = regime.n_train(form)
    images, truth = regime.images(seed, n_train, N_TEST)
    raters = regime.raters(seed)
    random = np.random.default_rng([seed, 8])
    labels = np.full((len(images), len(raters), *truth.shape[1:]), MISSING, dtype=np.int16)
    seeds = np.random.SeedSequence([seed, 9]).generate_state(labels[:, :, 0, 0].size)
    seeds = seeds.reshape(labels.shape[:2]) // 4
    for case in range(n_train):
        for rater in _who(len(raters), supply, regime.most, random):
            drawn = raters[rater](truth[case], int(seeds[case, rater]), truth[:n_train])
            labels[case, rater] = drawn
    with_labels = (labels != MISSING).any((0, 2, 3))
    return multirater.dataset_from_arrays(
        labels[:, with_labels],
        images=images,
        truths=truth,
        splits=["train"] * n_train + ["test"] * N_TEST,
        cases=[f"{number:04d}" for number in range(len(images))],
        raters=[f"rater {number + 1}" for number in np.flatnonzero(with_labels)],
        classes=Classes.numbered(regime.n_classes),
    )


def margin_where_disputed(name: str, seed: int) -> float:
    """How far the right class leads in the mean confusion matrix of the disputed pixels.

    All raters draw every one of some cases, as many as are quick. Negative where the raters'
    mean matrix is not diagonally dominant, so that no method is bound to find the truth.

    Returns:
        The smallest lead of a diagonal entry over the others of its row.
    """
    regime = REGIMES[name]
    images, truth = regime.images(seed, N_SURE, 0)
    raters = regime.raters(seed)
    counts = np.zeros((regime.n_classes, regime.n_classes))
    for case in range(len(images)):
        drawn = np.stack(
            [draw(truth[case], 1000 * case + r, truth) for r, draw in enumerate(raters)]
        )
        disputed = (drawn != drawn[0]).any(0)
        true = np.broadcast_to(truth[case], drawn.shape)[:, disputed]
        np.add.at(counts, (true, drawn[:, disputed]), 1)
    cm = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    others = np.where(np.eye(len(cm), dtype=bool), -np.inf, cm)
    return float((np.diagonal(cm) - others.max(1)).min())


def _who(
    n_raters: int, supply: Supply, most: int | None, random: np.random.Generator
) -> Sequence[int]:
    if supply == "dense" and most is None:
        return range(n_raters)
    n = 1 if supply == "one" or most is None else int(random.integers(1, most + 1))
    return random.permutation(n_raters)[:n].tolist()
