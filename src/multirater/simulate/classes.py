"""Raters who give each item a class and err by a confusion matrix (Tanno 2019, 3.1 and B).

Matrices are `cm[true, observed]` for one rater and `cm[rater, true, observed]` for several; rows
sum to one. The paper prints the transpose.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.simulate.inputs import as_label_map, require_range
from multirater.types import MISSING

_SKILL_SPREAD = 0.01

_SIMILAR = {0: 2, 1: 9, 2: 0, 3: 5, 4: 7, 5: 3, 6: 4, 7: 4, 8: 1, 9: 1}
"""Indices of CIFAR-10 classes; the pairs are named in `cifar10_raters_cm`."""


def pairwise_flipper_cm(n_classes: int, p: float, *, seed: int) -> NDArray[np.float64]:
    """Return the CM of a rater who confuses each class with one other class.

    The rater is right with the same probability for every class, drawn once from
    Normal(p, 0.01) (standard deviation) and clipped to 0 ... 1. The class that a class is flipped
    to is drawn from all others.

    Returns:
        (n_classes, n_classes), `cm[true, observed]`.

    Example:
        >>> pairwise_flipper_cm(3, 0.6, seed=0).round(1)
        array([[0.6, 0. , 0.4],
               [0. , 0.6, 0.4],
               [0.4, 0. , 0.6]])
    """
    rng = np.random.default_rng(seed)
    skill = _draw_skill(n_classes, p, rng)
    cm = skill * np.eye(n_classes)
    rows = np.arange(n_classes)
    # A step of 1 to n_classes - 1 around the circle of classes never ends where it began.
    flipped = (rows + rng.integers(1, n_classes, size=n_classes)) % n_classes
    cm[rows, flipped] = 1.0 - skill
    return cm


def hammer_spammer_cm(n_classes: int, p: float, *, seed: int) -> NDArray[np.float64]:
    """Return the CM of a rater who is right or else picks any of the other classes.

    The diagonal is one value, drawn from Normal(p, 0.01) (standard deviation) and clipped to
    0 ... 1; the rest of each row is spread evenly. So p is the rater's accuracy, lucky guesses
    included, and p = 1 / n_classes is a rater who knows nothing.

    Returns:
        (n_classes, n_classes), `cm[true, observed]`.

    Example:
        >>> hammer_spammer_cm(3, 0.6, seed=0).round(1)
        array([[0.6, 0.2, 0.2],
               [0.2, 0.6, 0.2],
               [0.2, 0.2, 0.6]])
    """
    return _even_cm(n_classes, _draw_skill(n_classes, p, np.random.default_rng(seed)))


def similar_classes_cm(n_classes: int, p: float, *, seed: int = 0) -> NDArray[np.float64]:
    """Return the CM of a rater who mixes up classes of CIFAR-10 that look alike.

    Cats and dogs, automobiles and trucks, deer and horses, airplanes and birds; frogs are taken for
    deer, ships for automobiles. Nothing is random about it.

    Args:
        n_classes: 10, in the order of CIFAR-10.
        p: share of right answers.
        seed: not looked at.
    """
    if n_classes != len(_SIMILAR):
        raise InputError(
            Fault(f"similar-classes of {n_classes} classes", expected="the 10 of CIFAR-10")
        )
    require_range(p, 0.0, 1.0, "skill p")
    rows = np.arange(n_classes)
    cm = p * np.eye(n_classes)
    cm[rows, [_SIMILAR[row] for row in rows.tolist()]] += 1 - p
    return cm


def neighbouring_classes_cm(n_classes: int, p: float, *, seed: int = 0) -> NDArray[np.float64]:
    """Return the CM of a rater whose wrong answers are the classes before and after, in a circle.

    Example:
        >>> neighbouring_classes_cm(4, 0.6)[0].round(1).tolist()
        [0.6, 0.2, 0.0, 0.2]
    """
    require_range(n_classes, 2, np.inf, "number of classes")
    require_range(p, 0.0, 1.0, "skill p")
    rows = np.arange(n_classes)
    cm = p * np.eye(n_classes)
    for step in (1, -1):
        cm[rows, (rows + step) % n_classes] += (1 - p) / 2
    return cm


def adversarial_cm(n_classes: int, p: float, *, seed: int = 0) -> NDArray[np.float64]:
    """Return the CM of a rater who has learnt wrong names: half the list further on.

    Example:
        >>> adversarial_cm(4, 0.0)[1].tolist()
        [0.0, 0.0, 0.0, 1.0]
    """
    require_range(n_classes, 2, np.inf, "number of classes")
    require_range(p, 0.0, 1.0, "skill p")
    identity, rows = np.eye(n_classes), np.arange(n_classes)
    return np.asarray(p * identity + (1 - p) * identity[(rows + n_classes // 2) % n_classes])


def cifar10_raters_cm() -> NDArray[np.float64]:
    """Return the CMs of four very different raters of CIFAR-10 (Tanno 2019, Fig. 2).

    The paper states what each rater does and that their labels are right 45 % of the time. The
    numbers are chosen here to give exactly that: the first three are right 60 % of the time, the
    last never.

    0. hammer-spammer: the wrong 40 % go to any other class;
    1. mixes up similar classes: cats and dogs, automobiles and trucks, deer and horses, airplanes
       and birds; takes frogs for deer and ships for automobiles;
    2. confuses neighbouring classes: the wrong 40 % go to the classes before and after in the
       list, in a circle;
    3. adversarial: has learnt wrong names, and calls class k by the name of class k + 5.

    The mean CM is diagonally dominant, so that the raters can be told apart from the truth.

    Returns:
        (4, 10, 10), `cm[rater, true, observed]`; classes in the order of CIFAR-10.

    Example:
        >>> float(np.trace(cifar10_raters_cm().mean(axis=0)).round(2)) / 10
        0.45
    """
    right = 0.6
    return np.stack(
        [
            _even_cm(10, right),
            similar_classes_cm(10, right),
            neighbouring_classes_cm(10, right),
            adversarial_cm(10, 0.0),
        ]
    )


def simulate_class_labels(truth: ArrayLike, cms: ArrayLike, *, seed: int) -> NDArray[np.int16]:
    """Draw the labels that raters with these CMs give.

    Args:
        truth: true classes (n_items,), -1 where nobody knows.
        cms: (n_raters, n_classes, n_classes), `cm[rater, true, observed]`, rows sum to one.
        seed: same seed, same labels. Each rater has a random stream of their own: more raters do
            not change the labels of the first ones.

    Returns:
        (n_raters, n_items) classes, -1 where the truth is.

    Example:
        >>> simulate_class_labels([0, 1, -1], [np.eye(2), 1 - np.eye(2)], seed=0)
        array([[ 0,  1, -1],
               [ 1,  0, -1]], dtype=int16)
    """
    classes, matrices = as_label_map(truth), np.asarray(cms, dtype=float)
    _require_cms(matrices)
    _require_classes(classes, matrices.shape[1])
    labels = np.empty((len(matrices), classes.size), dtype=np.int16)
    for rater, cm in enumerate(matrices):
        uniform = np.random.default_rng([seed, rater]).random(classes.size)
        labels[rater] = _sample(cm, classes, uniform)
    labels[:, classes == MISSING] = MISSING
    return labels


def _sample(
    cm: NDArray[np.float64], truth: NDArray[np.int16], uniform: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return the class whose share of the row's cumulative sum each uniform number falls into."""
    reached = np.cumsum(cm, axis=1)
    # Rounding must not leave a gap below 1, which would yield a class that does not exist.
    reached /= reached[:, -1:]
    return np.asarray((uniform[:, None] >= reached[truth]).sum(axis=1))


def _draw_skill(n_classes: int, p: float, rng: np.random.Generator) -> float:
    require_range(n_classes, 2, np.inf, "number of classes")
    require_range(p, 0.0, 1.0, "skill p")
    return float(np.clip(rng.normal(p, _SKILL_SPREAD), 0.0, 1.0))


def _even_cm(n_classes: int, skill: float) -> NDArray[np.float64]:
    cm = np.full((n_classes, n_classes), (1.0 - skill) / (n_classes - 1))
    np.fill_diagonal(cm, skill)
    return cm


def _require_cms(cms: NDArray[np.float64]) -> None:
    square = cms.ndim == 3 and cms.shape[1] == cms.shape[2]
    if square and (cms >= 0).all() and np.allclose(cms.sum(axis=2), 1.0, atol=1e-6):
        return
    raise InputError(
        Fault(
            f"the confusion matrices have shape {cms.shape}"
            + (" and rows that are no probabilities" if square else ""),
            expected="(n_raters, n_classes, n_classes), [rater, true, observed], rows sum to one",
            fix="transpose them if columns sum to one",
        )
    )


def _require_classes(truth: NDArray[np.int16], n_classes: int) -> None:
    if truth.ndim == 1 and (truth.size == 0 or MISSING <= truth.min() <= truth.max() < n_classes):
        return
    raise InputError(
        Fault(
            f"the true classes have shape {truth.shape} and lie in {truth.min()} ... {truth.max()}",
            expected=f"one row of class indices below {n_classes}, -1 where not known",
            fix="give one confusion matrix row per class",
        )
    )
