"""How far to follow each rater: step 2 of the recipe in `multirater.training.jury`.

Whatever judges a rater here is out of sample and leaves the judged rater out: what the image tells
of a rater's labels is measured on held-out cases, and a rater agrees with the verdict of the others
alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multirater.training.ballots import Ballots, choose_ballots, entropy_of, log_evidence
from multirater.training.pixels import Pixels
from multirater.types import MISSING

_ROUNDS = 3
_MOST_AGREEMENT = 0.98
"""Nobody gets all the weight by coinciding with the others."""

_LEAST_U, _MOST_U = 0.02, 0.98
_EXPLAINED = 0.1
"""Share of a rater's labels that counts as nothing when unexplained: below, differences are the
network's and not the raters'."""

_POWER = 3.0
"""How far the evidence of the image counts beside agreement."""

_LEAST = 1e-3
"""Smallest probability of a head: a single surprise must not decide a rater's predictability."""

_ENOUGH_CASES = 5
"""Held-out cases of a rater from which on they alone tell how predictable the rater is."""

_CASES_OF_TRAINING = 4.0
"""What a rater's training cases count for, in held-out cases, where there are fewer."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Weighed:
    """What was found about raters.

    Attributes:
        weight: (n_raters,), sums to one.
        predictable: (n_raters,), 0 to 1, share of what there is to know of a rater's labels that
            follows from the image: how far the head may speak for the rater.
        confusion: (n_raters, true, observed), of their labels, against the truth as ballots settle
            it or, without any, as the weighted heads have it.
        locality: (n_raters,), 0 to 1, how far a rater's errors depend on the place: 0 where the
            matrix above says all that the head knows, 1 where the head says more.
        ballots: how cases with several labels are settled by these alone; None where cases have
            too few.
    """

    weight: Array
    predictable: Array
    confusion: Array
    locality: Array
    ballots: Ballots | None = None


def weigh(training: Pixels, held_out: Pixels | None = None) -> Weighed:
    """Weigh raters: step 2 of the recipe.

    Args:
        training: pixels of cases that were trained on, some of every rater.
        held_out: pixels of cases that were not; without any, predictability is in sample.

    Example:
        >>> drawn = np.eye(2)[[[0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0]]]
        >>> labels = drawn.argmax(2)
        >>> weigh(Pixels.of_one_case(0.98 * drawn + 0.01, labels)).weight.round(2)
        array([0.5, 0.5, 0. ])
    """
    n_classes = training.predicted.shape[2]
    predictable = out_of_sample(training, held_out)
    start = _POWER * log_evidence(predictable, _entropy(training), _EXPLAINED)
    weight = _shares(start)
    drawn = training.predicted.argmax(2)
    disputed = (drawn != drawn[0]).any(0)
    # Of two raters, each agrees with the other as much as the other does.
    for _ in range(_ROUNDS if disputed.any() and len(weight) > 2 else 0):
        agreement = _agreement(drawn[:, disputed], training.predicted[:, disputed], weight)
        weight = _shares(start + _log_odds(agreement))
    ballots = choose_ballots(training, held_out, weight)
    truth = np.einsum("r,rpl->pl", weight, training.predicted).argmax(1)
    if ballots is not None:
        truth = ballots.settle(training.labels)
    confusion = _confusion(truth, training.labels, n_classes)
    locality = _locality(training, truth, confusion)
    return Weighed(weight, predictable, confusion, locality, ballots)


def out_of_sample(training: Pixels, held_out: Pixels | None) -> Array:
    """Predictability (n_raters,) on held-out cases.

    A rater with few of them is judged by the training cases too, less what raters as a whole lose
    from those to held-out ones (in log odds).
    """
    in_sample = _bounded(predictability(training))
    if held_out is None:
        return in_sample
    outside, n_cases = _bounded(predictability(held_out)), held_out.cases_of_raters()
    loss = np.average(_log_odds(in_sample) - _log_odds(outside), weights=np.maximum(n_cases, 1e-9))
    expected = _log_odds(in_sample) - max(float(loss), 0.0)
    share = n_cases / (n_cases + _CASES_OF_TRAINING)
    share = np.where(n_cases >= _ENOUGH_CASES, 1.0, share)
    mixed = share * _log_odds(outside) + (1 - share) * expected
    return np.asarray(1 / (1 + np.exp(-mixed)))


def predictability(pixels: Pixels) -> Array:
    """Share of the information in each rater's labels that follows from the image, (n_raters,).

    0 for a rater without labels, and for labels that are all of one class.
    """
    found = np.zeros(len(pixels.labels))
    for rater, (probability, labels) in enumerate(
        zip(pixels.predicted, pixels.labels, strict=True)
    ):
        given = labels != MISSING
        if given.any():
            picked = np.take_along_axis(probability[given], labels[given, None], axis=1)
            surprise = -np.log(np.maximum(picked, _LEAST)).mean()
            entropy = entropy_of(labels[given], probability.shape[1])
            found[rater] = np.clip(1 - surprise / max(entropy, 1e-3), 0, 1)
    return found


def _bounded(share: Array) -> Array:
    return np.clip(share, _LEAST_U, _MOST_U)


def _entropy(pixels: Pixels) -> Array:
    """Return what there is to know of each rater's labels, in nats per pixel, (n_raters,)."""
    n_classes = pixels.predicted.shape[2]
    each = [entropy_of(labels[labels != MISSING], n_classes) for labels in pixels.labels]
    return np.asarray(each)


def _agreement(drawn: NDArray[np.int64], predicted: Array, weight: Array) -> Array:
    """Return how far each rater agrees with the others, (n_raters,).

    The mean of two shares: recall over the classes of the others' verdict, 0 at chance, since
    drawing nothing is right at most pixels and must not count; and the weight of the others who
    say the same, since in the middle of nested drawings no verdict has a majority.
    """
    n_classes = predicted.shape[2]
    total = np.einsum("r,rpl->pl", weight, predicted)
    found = np.zeros(len(weight))
    for rater, own in enumerate(drawn):
        others = total - weight[rater] * predicted[rater]
        cm = _counts(others.argmax(1), own[None], n_classes)[0] + 1.0
        recall = np.diagonal(cm / cm.sum(1, keepdims=True)).mean()
        recall = np.clip((recall - 1 / n_classes) / (1 - 1 / n_classes), 0, 1)
        same = np.take_along_axis(others, own[:, None], 1).sum() / max(others.sum(), 1e-12)
        found[rater] = (recall + same) / 2
    return np.clip(found, _LEAST_U, _MOST_AGREEMENT)


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


def _log_odds(share: Array) -> Array:
    return np.asarray(np.log(share / (1 - share)))


def _shares(log_weight: Array) -> Array:
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(weight / weight.sum())
