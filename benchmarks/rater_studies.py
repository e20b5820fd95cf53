"""Studies with a known truth, as label arrays: who labels what, and how well.

Every study is a function of a seed. Raters are described here once and are not adjusted to results.
Drawings come as labels (n_cases, n_raters, height, width) with the truth (n_cases, height, width),
class labels as (n_cases, n_raters) with (n_cases,); -1 where a rater did not label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena_regimes import OF_THREE_CLASSES, Draw, anything, digits, mask, noise, other, tiles
from multirater.simulate import hammer_spammer_cm, pairwise_flipper_cm
from multirater.types import MISSING

Labels: TypeAlias = NDArray[np.int16]
Objects: TypeAlias = Callable[[int, int], Labels]
"""The true masks of a seed and a number of cases."""

N_CASES = 30
SIDE = 64


@dataclass(frozen=True, eq=False)
class Study:
    """Labels and truth of one study."""

    labels: Labels
    truth: Labels
    n_classes: int

    @property
    def is_masks(self) -> bool:
        """Whether labels are drawings."""
        return self.labels.ndim > 2


@dataclass(frozen=True)
class Drawings:
    """Objects, and who draws them.

    Attributes:
        objects: true masks.
        raters: of a seed, since strengths may be drawn.
        n_classes: background included.
        n_cases: of the study.
        most: labels per case; None for one of every rater.
    """

    objects: Objects
    raters: Callable[[int], Sequence[Draw]]
    n_classes: int = 2
    n_cases: int = N_CASES
    most: int | None = None


def blobs(low: float, high: float) -> Objects:
    """Return smooth shapes with a mean radius in pixels between two values."""

    def make(seed: int, n_cases: int) -> Labels:
        random = np.random.default_rng([seed, 20])
        rows, columns = np.mgrid[:SIDE, :SIDE]
        truth = np.zeros((n_cases, SIDE, SIDE), dtype=np.int16)
        for each in truth:
            radius = random.uniform(low, high)
            row, column = random.uniform(radius + 3, SIDE - radius - 3, 2)
            angle = np.arctan2(rows - row, columns - column)
            waves = [
                random.normal(0, 0.15) * np.cos(k * angle + random.uniform(0, 7)) for k in (2, 3)
            ]
            each[np.hypot(rows - row, columns - column) < radius * (1 + sum(waves))] = 1
        return truth

    return make


SMALL, LARGE = blobs(3, 6), blobs(16, 24)


def strokes(seed: int, n_cases: int) -> Labels:
    """Return handwritten digits: thin structures."""
    return digits(seed, n_cases, 0)[1]


def classes_of_digits(seed: int, n_cases: int) -> Labels:
    """Return three small digits of three classes in one image."""
    return tiles(seed, n_cases, 0)[1]


def shifted(by: int) -> Draw:
    """Return a rater who draws everything some pixels off, with an uneven outline."""

    def draw(truth: Labels, seed: int, pool: Labels) -> Labels:
        drawn = mask("good", 2)(truth, seed, pool)
        return np.roll(drawn, (by, by), axis=(0, 1)).astype(np.int16)

    return draw


def missing_some(draw: Draw, share: float) -> Draw:
    """Return a rater who draws nothing in a share of the cases."""

    def drawn(truth: Labels, seed: int, pool: Labels) -> Labels:
        if np.random.default_rng([seed, 21]).random() < share:
            return np.zeros_like(truth)
        return draw(truth, seed, pool)

    return drawn


def mixed(seed: int, n_raters: int = 15) -> list[Draw]:
    """Return raters with habits drawn at random: size, unevenness, objects missed, places off."""
    random = np.random.default_rng([seed, 22])
    made: list[Draw] = []
    for _ in range(n_raters):
        kind = random.choice(
            ["good", "over", "under", "wrong", "shifted"], p=[0.3, 0.25, 0.2, 0.15, 0.1]
        )
        if kind == "shifted":
            draw = shifted(int(random.integers(1, 3)))
        else:
            draw = mask(kind, random.uniform(1, 8) if kind == "good" else random.uniform(0.2, 1.2))
        if random.random() < 0.3:
            draw = missing_some(draw, random.uniform(0.05, 0.25))
        made.append(draw)
    return made


def experts_and_crowd(seed: int) -> list[Draw]:
    """Return three careful raters and twelve of a crowd that mostly draws too much."""
    random = np.random.default_rng([seed, 23])
    crowd: list[Draw] = []
    for _ in range(12):
        kind = random.choice(["over", "over", "wrong", "good", "under"])
        crowd.append(
            mask(kind, random.uniform(4, 9) if kind == "good" else random.uniform(0.3, 1.4))
        )
    return [mask("good", random.uniform(1, 3)) for _ in range(3)] + crowd


def sparse_crowd(seed: int) -> list[Draw]:
    """Return thirty raters of all kinds, some of whom draw anything."""
    random = np.random.default_rng([seed, 24])
    spam = [[other, anything, noise(0.2)][int(random.integers(3))] for _ in range(5)]
    return [*mixed(seed, 25), *spam]


def copying(draw: Draw) -> tuple[Draw, Draw]:
    """Return two raters who use the same tool: their errors are the same but for an edge."""

    def twin(truth: Labels, seed: int, pool: Labels) -> Labels:
        same = draw(truth, int(truth.sum()), pool)
        return mask("good", 0.5)(same, seed, pool) if same.any() else same

    return twin, twin


def always(*raters: Draw) -> Callable[[int], Sequence[Draw]]:
    """Return the same raters for every seed."""
    return lambda _: raters


GOOD, OVER, UNDER, WRONG = mask("good", 2), mask("over"), mask("under"), mask("wrong")

DRAWINGS = {
    "small, 15 mixed": Drawings(SMALL, mixed),
    "large, 15 mixed": Drawings(LARGE, mixed),
    "thin, 15 mixed": Drawings(strokes, mixed),
    "small, experts and crowd": Drawings(SMALL, experts_and_crowd),
    "small, sparse crowd": Drawings(SMALL, sparse_crowd, n_cases=80, most=5),
    "small, 5 mixed": Drawings(SMALL, lambda seed: mixed(seed, 5)),
    "large, 5 mixed": Drawings(LARGE, lambda seed: mixed(seed, 5)),
    "thin, 5 mixed, 10 cases": Drawings(strokes, lambda seed: mixed(seed, 5), n_cases=10),
    "three nested": Drawings(SMALL, always(mask("over", 0.8), GOOD, mask("under", 0.8))),
    "large, three nested": Drawings(LARGE, always(mask("over", 0.8), GOOD, mask("under", 0.8))),
    "five nested": Drawings(
        SMALL, always(mask("over", 1.2), mask("over", 0.5), GOOD, mask("under", 0.5), UNDER)
    ),
    "most draw too much": Drawings(
        SMALL, always(mask("over", 0.6), mask("over", 0.8), OVER, GOOD, mask("good", 4))
    ),
    "thin: good, over, under, wrong": Drawings(strokes, always(GOOD, OVER, UNDER, WRONG)),
    "thin: good, over, under, wrong, blank": Drawings(
        strokes, always(GOOD, OVER, UNDER, WRONG, mask("blank"))
    ),
    "one expert": Drawings(
        strokes, always(GOOD, mask("over", 2), mask("under", 2), other, noise(0.3))
    ),
    "shifted": Drawings(SMALL, always(GOOD, GOOD, shifted(1), shifted(2), shifted(3))),
    "spammers": Drawings(strokes, always(GOOD, mask("good", 4), other, other, anything)),
    "small, spammers": Drawings(
        SMALL, always(GOOD, mask("good", 4), mask("over", 0.5), other, anything)
    ),
    "small, 4 mixed": Drawings(SMALL, lambda seed: mixed(seed, 4)),
    "thin, 4 mixed": Drawings(strokes, lambda seed: mixed(seed, 4)),
    "small, 3 mixed": Drawings(SMALL, lambda seed: mixed(seed, 3)),
    "large, 3 mixed": Drawings(LARGE, lambda seed: mixed(seed, 3)),
    "thin, 3 mixed": Drawings(strokes, lambda seed: mixed(seed, 3)),
    "thin, three nested": Drawings(strokes, always(mask("over", 0.8), GOOD, mask("under", 0.8))),
    "thin, four nested": Drawings(
        strokes, always(OVER, mask("over", 0.4), mask("under", 0.4), UNDER)
    ),
    "large, 7 mixed, 10 cases": Drawings(LARGE, lambda seed: mixed(seed, 7), n_cases=10),
    "same tool over": Drawings(SMALL, always(*copying(mask("over", 0.8)), GOOD, GOOD, GOOD)),
    "same tool wrong": Drawings(
        LARGE, always(*copying(mask("wrong", 0.8)), GOOD, mask("good", 4), mask("under", 0.3))
    ),
    "same tool under": Drawings(
        strokes, always(*copying(mask("under", 0.8)), GOOD, mask("good", 4))
    ),
    "half labelled": Drawings(SMALL, lambda seed: mixed(seed, 8), most=4),
    "two": Drawings(SMALL, always(GOOD, mask("over", 0.6))),
    "all alike": Drawings(LARGE, always(*[mask("good", 3)] * 5)),
    "three classes": Drawings(classes_of_digits, OF_THREE_CLASSES, n_classes=4),
}


@dataclass(frozen=True)
class Answers:
    """Who gives class labels: matrices of a seed, cases, and labels per case."""

    matrices: Callable[[np.random.Generator], NDArray[np.float64]]
    n_cases: int = 300
    most: int | None = None
    rare: float = 0.0
    """Share of the first class beyond what the others have."""


def flippers(n_raters: int, n_classes: int, low: float, high: float):
    """Return raters who mix classes up in pairs, with a share of right answers between two."""
    return lambda random: np.stack(
        [
            pairwise_flipper_cm(
                n_classes, random.uniform(low, high), seed=int(random.integers(1e9))
            )
            for _ in range(n_raters)
        ]
    )


def hammers(n_raters: int, n_classes: int, low: float, high: float):
    """Return raters who answer right or anything."""
    return lambda random: np.stack(
        [
            hammer_spammer_cm(n_classes, random.uniform(low, high), seed=int(random.integers(1e9)))
            for _ in range(n_raters)
        ]
    )


def biased(n_raters: int):
    """Return raters of two classes who find the first and miss the second to differing degrees."""
    return lambda random: np.stack(
        [
            [[a, 1 - a], [1 - b, b]]
            for a, b in zip(
                random.uniform(0.75, 0.98, n_raters),
                random.uniform(0.35, 0.9, n_raters),
                strict=True,
            )
        ]
    )


def with_spammers(n_raters: int, n_classes: int, share: float):
    """Return raters of whom a share answers the same whatever is shown, or anything."""

    def make(random: np.random.Generator) -> NDArray[np.float64]:
        found = hammers(n_raters, n_classes, 0.55, 0.95)(random)
        for each in found[: round(share * n_raters)]:
            each[:] = np.eye(n_classes)[0] if random.random() < 0.5 else 1 / n_classes
        return found

    return make


CLASSES = {
    "2 classes, 3 raters": Answers(hammers(3, 2, 0.6, 0.95)),
    "4 classes, 5 raters": Answers(hammers(5, 4, 0.4, 0.9)),
    "3 classes, 5 flippers": Answers(flippers(5, 3, 0.5, 0.95)),
    "2 classes, 7 biased": Answers(biased(7)),
    "2 classes, 7 biased, rare": Answers(biased(7), rare=0.6),
    "crowd of 40, 5 each": Answers(hammers(40, 2, 0.55, 0.95), 800, 5),
    "crowd of 40, 3 each, 4 classes": Answers(flippers(40, 4, 0.4, 0.95), 800, 3),
    "crowd with spammers": Answers(with_spammers(30, 3, 0.4), 600, 5),
    "9 raters, half spammers": Answers(with_spammers(9, 2, 0.5)),
    "30 cases, 5 raters": Answers(hammers(5, 3, 0.5, 0.95), 30),
    "2 raters": Answers(hammers(2, 2, 0.6, 0.95)),
}


def study(name: str, seed: int) -> Study:
    """Return the study of a name and a seed."""
    return answered(CLASSES[name], seed) if name in CLASSES else _drawings(DRAWINGS[name], seed)


def _drawings(made: Drawings, seed: int) -> Study:
    truth = made.objects(seed, made.n_cases)
    raters = made.raters(seed)
    random = np.random.default_rng([seed, 25])
    labels = np.full((len(truth), len(raters), *truth.shape[1:]), MISSING, dtype=np.int16)
    for case, true in enumerate(truth):
        for rater in _who(len(raters), made.most, random):
            labels[case, rater] = raters[rater](true, int(random.integers(1 << 30)), truth)
    return Study(labels, truth, made.n_classes)


def answered(made: Answers, seed: int) -> Study:
    """Draw matrices, true classes and answers of a seed."""
    random = np.random.default_rng([seed, 26])
    matrices = made.matrices(random)
    n_raters, n_classes = matrices.shape[:2]
    prior = np.full(n_classes, (1 - made.rare) / n_classes)
    prior[0] += made.rare
    truth = random.choice(n_classes, made.n_cases, p=prior)
    labels = np.full((made.n_cases, n_raters), MISSING, dtype=np.int16)
    for case, true in enumerate(truth):
        for rater in _who(n_raters, made.most, random):
            labels[case, rater] = random.choice(n_classes, p=matrices[rater, true])
    return Study(labels, truth.astype(np.int16), n_classes)


def _who(n_raters: int, most: int | None, random: np.random.Generator) -> Sequence[int]:
    return range(n_raters) if most is None else random.permutation(n_raters)[:most].tolist()
