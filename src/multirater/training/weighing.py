"""How far to follow each rater: step 2 of the recipe in `multirater.training.jury`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multirater.types import MISSING

_ROUNDS = 3
_MOST = 0.98
"""Largest agreement: nobody gets all the weight by coinciding with what their weight decided."""

_MOST_PREDICTABLE = 0.9
_LEAST_START = 0.01
"""What a rater weighs of whom the image tells nothing: agreement may still speak for them."""

_LEAST = 1e-3
"""Smallest probability of a head: a single surprise must not decide a rater's predictability."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Weighed:
    """What was found about raters.

    Attributes:
        weight: (n_raters,), sums to one.
        reliability: (n_raters,), 0 to 1, how far a rater's label is preferred to their head.
        confusion: (n_raters, true, observed), of their labels, against the weighted truth.
        locality: (n_raters,), 0 to 1, how far a rater's errors depend on the place: 0 where the
            matrix above says all that the head knows, 1 where the head says more.
    """

    weight: Array
    reliability: Array
    confusion: Array
    locality: Array


@dataclass(frozen=True, eq=False)
class Pixels:
    """Some pixels, with what raters would draw and did draw there.

    Attributes:
        predicted: probabilities (n_raters, n_pixels, n_classes).
        labels: (n_raters, n_pixels), -1 where missing.
    """

    predicted: Array
    labels: NDArray[np.int64]


def weigh(pixels: Pixels) -> Weighed:
    """Weigh raters: step 2 of the recipe.

    Example:
        >>> drawn = np.eye(2)[[[0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0]]]
        >>> labels = drawn.argmax(2)
        >>> weigh(Pixels(0.98 * drawn + 0.01, labels)).weight.round(2)
        array([0.5, 0.5, 0. ])
    """
    drawn = pixels.predicted.argmax(2)
    disputed = (drawn != drawn[0]).any(0)
    predictable = predictability(pixels)
    start = _odds(predictable) * _odds(_where_disputed(pixels, disputed)) + _LEAST_START
    weight = _shares(start)
    for _ in range(_ROUNDS if disputed.any() else 0):
        truth = _verdict(weight, pixels.predicted[:, disputed])
        agreement = _agreement(drawn[:, disputed], truth, pixels.predicted.shape[2])
        weight = _shares(start * agreement / (1 - agreement), weight)
    truth = _verdict(weight, pixels.predicted)
    best = max(float(predictable.max()), 1e-6)
    confusion = _confusion(truth, pixels.labels, pixels.predicted.shape[2])
    return Weighed(weight, predictable / best, confusion, _locality(pixels, truth, confusion))


def _odds(share: Array) -> Array:
    return np.asarray(share / (1 - share))


def _where_disputed(pixels: Pixels, disputed: NDArray[np.bool_]) -> Array:
    """Return the predictability at disputed pixels and a fourth as many others."""
    others = np.flatnonzero(~disputed)
    # Pixels come in random order: any of them will do.
    chosen = np.concatenate([np.flatnonzero(disputed), others[: disputed.sum() // 4]])
    chosen = chosen if disputed.any() else others
    return predictability(Pixels(pixels.predicted[:, chosen], pixels.labels[:, chosen]))


def predictability(pixels: Pixels) -> Array:
    """Share of the information in each rater's labels that follows from the image, (n_raters,).

    0 for a rater without labels, and for labels that are all of one class.
    """
    n_raters, _, n_classes = pixels.predicted.shape
    found = np.zeros(n_raters)
    for rater, (probability, labels) in enumerate(
        zip(pixels.predicted, pixels.labels, strict=True)
    ):
        given = labels != MISSING
        if not given.any():
            continue
        picked = np.take_along_axis(probability[given], labels[given, None], axis=1)
        share = (np.bincount(labels[given], minlength=n_classes) + 1) / (given.sum() + n_classes)
        entropy = -(share * np.log(share)).sum()
        surprise = -np.log(np.maximum(picked, _LEAST)).mean()
        found[rater] = np.clip(1 - surprise / max(entropy, 1e-3), 0, _MOST_PREDICTABLE)
    return found


def _verdict(weight: Array, predicted: Array) -> NDArray[np.int64]:
    return np.asarray(np.einsum("r,rpl->pl", weight, predicted).argmax(1))


def _agreement(drawn: NDArray[np.int64], truth: NDArray[np.int64], n_classes: int) -> Array:
    """Mean recall of each rater over the classes, 0 at chance and at most `_MOST`."""
    cm = _counts(truth, drawn, n_classes) + 1.0
    recall = np.diagonal(cm / cm.sum(2, keepdims=True), axis1=1, axis2=2).mean(1)
    return np.asarray(np.clip((recall - 1 / n_classes) / (1 - 1 / n_classes), 0, _MOST))


def _confusion(truth: NDArray[np.int64], labels: NDArray[np.int64], n_classes: int) -> Array:
    """Confusion matrices of the labels given; the identity where nothing is known."""
    counts = _counts(truth, labels, n_classes) + np.eye(n_classes)
    return np.asarray(counts / counts.sum(2, keepdims=True))


def _locality(pixels: Pixels, truth: NDArray[np.int64], confusion: Array) -> Array:
    """Share of the head in the mixture of head and overall row that fits the labels best.

    By least squares, in which confusion matrices are measured too; 0 for a rater without labels.
    """
    found = np.zeros(len(confusion))
    for rater, (head, labels) in enumerate(zip(pixels.predicted, pixels.labels, strict=True)):
        given = labels != MISSING
        overall = confusion[rater][truth[given]]
        more = head[given] - overall
        missed = np.eye(confusion.shape[1])[labels[given]] - overall
        found[rater] = (more * missed).sum() / max((more**2).sum(), 1e-9)
    return np.asarray(np.clip(found, 0, 1))


def _counts(truth: NDArray[np.int64], drawn: NDArray[np.int64], n_classes: int) -> Array:
    """Count pixels (n_raters, true, observed); missing labels do not count."""
    counted = np.zeros((len(drawn), n_classes * n_classes))
    for rater, labels in enumerate(drawn):
        given = labels != MISSING
        cells = truth[given] * n_classes + labels[given]
        counted[rater] = np.bincount(cells, minlength=n_classes * n_classes)
    return counted.reshape(len(drawn), n_classes, n_classes)


def _shares(weight: Array, otherwise: Array | None = None) -> Array:
    total = weight.sum()
    if total > 0:
        return np.asarray(weight / total)
    return np.full(len(weight), 1 / len(weight)) if otherwise is None else otherwise
