"""The regimes of the arena of class labels: real and made-up items, simulated raters, known truth.

Raters are described here once and are not adjusted to results. The design, instead of a full
cross: every regime is met on two of three kinds of data, so that each kind is met in several
regimes.

    digits    MNIST at half size, 14 x 14, ten classes
    photos    CIFAR-10 at half size, 16 x 16, ten classes: a network of this size is often wrong
    vectors   a mixture of Gaussians in 12 dimensions, two bumps per class, six classes of unequal
              frequency
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

import multirater
from multirater.simulate import (
    hammer_spammer_cm,
    label_supply,
    mean_confusion,
    pairwise_flipper_cm,
    simulate_class_labels,
)
from multirater.types import MISSING, Classes, Dataset, LabelClass
from tanno2019_data import halved, load

Supply: TypeAlias = Literal["dense", "one"]
Matrices: TypeAlias = NDArray[np.float64]
"""(n_raters, true, observed)."""

N_TEST = 1000


@dataclass(frozen=True, eq=False)
class Items:
    """Things to be labelled: (n, *shape), their classes (n,), and how many are there to train."""

    x: NDArray[np.float32]
    truth: NDArray[np.int64]
    n_train: int
    n_classes: int


@dataclass(frozen=True)
class Regime:
    """Who labels.

    Attributes:
        raters: matrices of the raters, of the number of classes and a seed.
        data: kinds of items it is met on.
        most: fewest and most labels per item of the dense form; None for one of every rater.
        only_hard: raters err, as their matrices say how often, on hard items alone.
    """

    raters: Callable[[int, int], Matrices]
    data: tuple[str, ...]
    most: tuple[int, int] | None = None
    only_hard: bool = False


# --- items ----------------------------------------------------------------------------------------


def digits(seed: int) -> Items:
    """Return handwritten digits."""
    return _drawn("mnist", 1000, seed)


def photos(seed: int) -> Items:
    """Return photographs of animals and vehicles."""
    return _drawn("cifar10", 1500, seed)


def vectors(seed: int) -> Items:
    """Return points around two centres per class; the rarest class has one item in twenty."""
    n_train, n_features = 800, 12
    share = np.array([0.3, 0.25, 0.2, 0.12, 0.08, 0.05])
    random = np.random.default_rng([seed, 3])
    centres = random.normal(0, 1.0, (len(share), 2, n_features))
    truth = random.choice(len(share), n_train + N_TEST, p=share)
    which = random.integers(0, 2, len(truth))
    x = centres[truth, which] + random.normal(0, 0.8, (len(truth), n_features))
    return Items(x.astype(np.float32), truth, n_train, len(share))


def _drawn(name: str, n_train: int, seed: int) -> Items:
    """Draw images out of the first ten thousand of each split."""
    random = np.random.default_rng([seed, 2])
    parts = [(load(name, "train", 10_000), n_train), (load(name, "test", 10_000), N_TEST)]
    chosen = [(images, random.permutation(len(images.x))[:n]) for images, n in parts]
    x = np.concatenate([halved(images.x[place]) for images, place in chosen]).astype(np.float32)
    truth = np.concatenate([images.truth[place] for images, place in chosen])
    return Items(x, truth, n_train, 10)


DATA: dict[str, Callable[[int], Items]] = {"digits": digits, "photos": photos, "vectors": vectors}


# --- raters ---------------------------------------------------------------------------------------


def flippers(n_classes: int, seed: int) -> Matrices:
    """Five who call each class by one other name, each their own, nearly every second time."""
    return _each(pairwise_flipper_cm, n_classes, (0.55,) * 5, seed)


def spammers(n_classes: int, seed: int) -> Matrices:
    """Two who are mostly right, one who seldom is, two who guess."""
    guess = 1 / n_classes
    return _each(hammer_spammer_cm, n_classes, (0.9, 0.8, 0.4, guess, guess), seed)


def one_expert(n_classes: int, seed: int) -> Matrices:
    """One who is nearly always right, and four novices: two flip, two spread their errors."""
    expert = _each(hammer_spammer_cm, n_classes, (0.97,), seed)
    flip = _each(pairwise_flipper_cm, n_classes, (0.5, 0.5), seed + 50)
    spread = _each(hammer_spammer_cm, n_classes, (0.4, 0.4), seed + 70)
    return np.concatenate([expert, flip, spread])


def renamed(n_classes: int, seed: int) -> Matrices:
    """Five good raters, three of whom mostly call one class by the name of another."""
    cm = _each(hammer_spammer_cm, n_classes, (0.88,) * 5, seed)
    called, name = np.random.default_rng([seed, 4]).permutation(min(n_classes, 4))[:2]
    cm[:3, called] = 0.02 / (n_classes - 2)
    cm[:3, called, called], cm[:3, called, name] = 0.13, 0.85
    return cm


def forty(n_classes: int, seed: int) -> Matrices:
    """Forty: half good, a quarter middling, eight who guess, two who say one class for all."""
    random = np.random.default_rng([seed, 5])
    skill = np.concatenate([random.uniform(0.75, 0.95, 20), random.uniform(0.4, 0.7, 10)])
    cm = _each(hammer_spammer_cm, n_classes, (*skill, *(1 / n_classes,) * 8), seed)
    same = np.full((2, n_classes, n_classes), 0.02 / (n_classes - 1))
    for rater, name in enumerate(random.permutation(n_classes)[:2]):
        same[rater, :, name] = 0.98
    return np.concatenate([cm, same])


def good(n_classes: int, seed: int) -> Matrices:
    """Five who are nearly always right."""
    return _each(hammer_spammer_cm, n_classes, (0.97,) * 5, seed)


def uneven(n_classes: int, seed: int) -> Matrices:
    """Five who are right on hard items as often as this."""
    return _each(hammer_spammer_cm, n_classes, (0.8, 0.6, 0.5, 0.4, 0.2), seed)


def _each(
    draw: Callable[..., Matrices], n_classes: int, skills: tuple[float, ...], seed: int
) -> Matrices:
    return np.stack(
        [draw(n_classes, p, seed=100 * seed + number) for number, p in enumerate(skills)]
    )


REGIMES: dict[str, Regime] = {
    "flippers": Regime(flippers, ("digits", "vectors")),
    "spammers": Regime(spammers, ("digits", "photos")),
    "one expert": Regime(one_expert, ("digits", "vectors")),
    "hard items": Regime(uneven, ("digits", "photos"), only_hard=True),
    "renamed class": Regime(renamed, ("digits", "vectors")),
    "forty raters": Regime(forty, ("photos", "vectors"), most=(2, 4)),
    "clean": Regime(good, ("photos", "vectors")),
}


# --- both -----------------------------------------------------------------------------------------

_NEIGHBOURS, _HARD = 15, 0.4


def hard_labels(items: Items, cm: Matrices, seed: int) -> NDArray[np.int64]:
    """Return labels (n, n_raters) of raters who err on hard items alone.

    Hard are the two fifths whose neighbours, as pixels or features go, are least of their own
    class. Who errs there says the class of a neighbour of another class.
    """
    flat = items.x.reshape(len(items.x), -1)
    near = NearestNeighbors(n_neighbors=_NEIGHBOURS + 1).fit(flat).kneighbors(flat)[1][:, 1:]
    around = items.truth[near]
    strange = around != items.truth[:, None]
    random = np.random.default_rng([seed, 6])
    score = strange.mean(1) + 1e-6 * random.random(len(flat))
    is_hard = (score >= np.quantile(score, 1 - _HARD)) & strange.any(1)
    labels = np.repeat(items.truth[:, None], len(cm), axis=1)
    for rater, matrix in enumerate(cm):
        errs = is_hard & (random.random(len(flat)) > matrix[0, 0])
        lots = random.random(near.shape) * strange
        labels[errs, rater] = around[np.arange(len(flat)), lots.argmax(1)][errs]
    return labels


def all_labels(name: str, items: Items, seed: int) -> NDArray[np.int64]:
    """Return what every rater of a regime calls every item, (n, n_raters)."""
    regime = REGIMES[name]
    cm = regime.raters(items.n_classes, seed)
    if regime.only_hard:
        return hard_labels(items, cm, seed)
    return simulate_class_labels(items.truth, cm, seed=seed).T.astype(np.int64)


def true_matrices(name: str, data: str, seed: int) -> Matrices:
    """Return the matrices of a regime's raters; counted, where errors are on hard items alone."""
    regime, items = REGIMES[name], DATA[data](seed)
    if not regime.only_hard:
        return regime.raters(items.n_classes, seed)
    labels = all_labels(name, items, seed)
    return np.stack([mean_confusion(items.truth, each, items.n_classes) for each in labels.T])


def class_arena_dataset(name: str, data: str, supply: Supply, seed: int) -> Dataset:
    """Return the items with the labels of a regime's raters, and the splits train and test.

    Args:
        name: of the regime.
        data: kind of items.
        supply: every rater's label, or one per item.
        seed: of items, raters, errors and supply.
    """
    regime, items = REGIMES[name], DATA[data](seed)
    labels = all_labels(name, items, seed)
    per_item = "one" if supply == "one" else regime.most or "dense"
    given = label_supply(items.n_train, labels.shape[1], per_item, seed=seed)
    labels[: items.n_train][~given] = MISSING
    labels[items.n_train :] = MISSING
    n_test = len(items.truth) - items.n_train
    return multirater.dataset_from_arrays(
        labels,
        images=items.x,
        truths=items.truth,
        splits=["train"] * items.n_train + ["test"] * n_test,
        classes=Classes(tuple(LabelClass(f"class {k}") for k in range(items.n_classes))),
    )
