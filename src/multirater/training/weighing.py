"""How far to follow each rater: step 2 of the recipe in `multirater.training.jury`.

Whatever judges a rater here is out of sample and leaves the judged rater out: what the image tells
of a rater's labels is measured on held-out cases, and a rater agrees with the verdict of the others
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multirater.training.ballots import Ballots, choose_ballots, has_several_labels
from multirater.training.disputed import matrices_where_disputed
from multirater.training.pixels import Pixels
from multirater.training.standing import shares, standing
from multirater.training.witness import Statement, by_filters, entropy_of, log_evidence
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

_CLEARLY = 0.7
"""Log odds by which the network has to foresee labels better than fixed filters where it has been
tried on hardly any unseen case."""

_DRAWS = 200
"""Draws of what predictability may be."""

_NOTHING_TO_KNOW = 0.05
"""Share of the median rater's entropy below which there is nothing to know of a rater's labels."""

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
        standing: (n_raters,), 0 to 1, how far a rater's own label stands against all heads.
        confusion: (n_raters, true, observed), of their labels, against the truth as ballots settle
            it or, without any, as the weighted heads have it.
        locality: (n_raters,), 0 to 1, how far a rater's errors depend on the place: 0 where the
            matrix above says all that the head knows, 1 where the head says more.
        disputed: (n_raters, true, observed), where raters disagree, by network and labels.
        ballots: how cases with several labels are settled by these alone; None where cases have
            too few.
    """

    weight: Array
    predictable: Array
    standing: Array
    confusion: Array
    locality: Array
    disputed: Array
    ballots: Ballots | None = None


@dataclass(frozen=True, eq=False)
class Foreseen:
    """How far a witness foresees each rater's labels.

    Attributes:
        share: U, of what there is to know of them, (n_raters,).
        error: its standard error, (n_raters,).
    """

    share: Array
    error: Array


def weigh(
    training: Pixels, held_out: Pixels | None = None, filters: Foreseen | None = None
) -> Weighed:
    """Weigh raters: step 2 of the recipe.

    Args:
        training: pixels of cases that were trained on, some of every rater.
        held_out: pixels of cases that were not; without any, predictability is in sample.
        filters: what fixed filters say of the raters (`foreseen_by_filters`).

    Example:
        >>> drawn = np.eye(2)[[[0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0]]]
        >>> labels = drawn.argmax(2)
        >>> weigh(Pixels.of_one_case(0.98 * drawn + 0.01, labels)).weight.round(2)
        array([0.5 , 0.5 , 0.01])
    """
    n_classes = training.predicted.shape[2]
    predictable = out_of_sample(training, held_out)
    start = _by_better_witness(training, held_out, predictable, filters)
    weight = shares(start)
    spoken = _spoken(training)
    drawn = spoken.argmax(2)
    differ = (drawn != drawn[0]).any(0)
    # Of two raters, each agrees with the other as much as the other does.
    for _ in range(_ROUNDS if differ.any() and len(weight) > 2 else 0):
        agreement = _agreement(drawn[:, differ], spoken[:, differ], weight)
        weight = shares(start + _log_odds(agreement))
    stands = standing(training.with_cases_of(held_out), weight, start)
    ballots = choose_ballots(training, held_out, weight)
    truth = np.einsum("r,rpl->pl", weight, training.predicted).argmax(1)
    if ballots is not None:
        truth = ballots.settle(training.labels)
    confusion = _confusion(truth, training.labels, n_classes)
    locality = _locality(training, truth, confusion)
    disputed = matrices_where_disputed(training.truth, training.labels, truth)
    return Weighed(weight, predictable, stands, confusion, locality, disputed, ballots)


def foreseen_by_filters(pixels: Pixels) -> Foreseen | None:
    """Ask fixed filters about every rater; None where they know nothing of anybody.

    Args:
        pixels: of all cases.
    """
    n_classes = pixels.predicted.shape[2]
    return foreseen(
        [by_filters(pixels.filters, pixels.case, own, n_classes) for own in pixels.labels]
    )


def foreseen(said: Sequence[Statement | None]) -> Foreseen | None:
    """Sum up what a witness said of every rater; None where it knows nothing of anybody.

    A rater of whom alone it knows nothing is taken for one of the others, with their spread for an
    error.
    """
    known = np.array([each is not None for each in said])
    if not known.any():
        return None
    share, error = np.transpose([_share_and_error(each) for each in said if each is not None])
    found = Foreseen(np.full(len(said), share.mean()), np.full(len(said), share.std() + _LEAST_U))
    found.share[known], found.error[known] = share, error
    return found


def _share_and_error(said: Statement) -> tuple[float, float]:
    share, entropy = said.explained()
    surprise, counts = said.by_case()
    by_case = surprise / counts.sum(1) / entropy[0]
    return float(share[0]), float(by_case.std(ddof=1) / np.sqrt(len(by_case)))


def _by_better_witness(
    training: Pixels, held_out: Pixels | None, predictable: Array, filters: Foreseen | None
) -> Array:
    """Draw what the evidence of the image may be, (n_draws, n_raters), by the better witness.

    That is the network where it foresees labels better than fixed filters, and clearly better where
    hardly any of its cases are held out.
    """
    entropy = _entropy(training)
    parts = [training] if held_out is None else [training, held_out]
    said = Foreseen(predictable, standard_error(parts, entropy, _judged_by(training, held_out)))
    if filters is not None:
        n_unseen = 0 if held_out is None else np.median(held_out.cases_of_raters())
        handicap = 0.0 if n_unseen >= _ENOUGH_CASES else _CLEARLY
        by_network, without = (_log_odds(_bounded(each.share.mean())) for each in (said, filters))
        said = said if by_network > without + handicap else filters
    return drawn_evidence(said, entropy)


def drawn_evidence(said: Foreseen, entropy: Array) -> Array:
    """Draw what the evidence of the image may be, as logarithms of weights, (n_draws, n_raters).

    Args:
        said: by a witness.
        entropy: of each rater's labels, in nats per pixel, (n_raters,).
    """
    draws = np.random.default_rng(0).standard_normal((_DRAWS, len(entropy)))
    may_be = _bounded(said.share + said.error * draws)
    return drawn_together(_POWER * log_evidence(may_be, entropy, _EXPLAINED))


def drawn_together(draws: Array) -> Array:
    """Move raters towards their mean as far as they differ by no more than chance would have it.

    What raters differ by is compared with how sure one is of each, as a meta-analysis compares
    studies (DerSimonian and Laird's variance between them): of raters nearly alike, whoever is
    ahead is so by luck, and labels of the others are as good.

    Args:
        draws: of what is measured of each rater, (n_draws, n_raters).

    Example:
        >>> alike, apart = np.array([[-1.0, 1.0], [1.0, 0.5]]), np.array([[-1.0, 9.0], [1.0, 9.5]])
        >>> drawn_together(alike).mean(0).round(2), drawn_together(apart).mean(0).round(2)
        (array([0.71, 0.71]), array([0.11, 9.24]))
    """
    mean, square = draws.mean(0), np.maximum(draws.var(0), 1e-6)
    weight = 1 / square
    centre = np.average(mean, weights=weight)
    excess = (weight * (mean - centre) ** 2).sum() - (len(mean) - 1)
    scale = weight.sum() - (weight**2).sum() / weight.sum()
    between = max(excess / max(scale, 1e-12), 0.0)
    kept = between / (between + square)
    centre = np.average(mean, weights=1 / (between + square))
    return np.asarray(centre + kept * (mean - centre) + np.sqrt(kept) * (draws - mean))


def _spoken(pixels: Pixels) -> Array:
    """What raters say: labels where cases have several, else their heads.

    Returns:
        (n_raters, n_pixels, n_classes).
    """
    if not has_several_labels(pixels):
        return pixels.predicted
    said = np.eye(pixels.predicted.shape[2])[np.maximum(pixels.labels, 0)]
    return np.where((pixels.labels != MISSING)[:, :, None], said, pixels.predicted)


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


def standard_error(pixels: Sequence[Pixels], entropy: Array, n_cases: Array) -> Array:
    """Standard error of predictability, (n_raters,), by its spread over cases.

    Cases that several raters labelled are hard for all of them alike: what is left counts. It is
    the median rater's, for all: of a rater who draws next to nothing there is nothing to know, and
    shares of that would vary without bounds.

    Args:
        pixels: that the spread is measured on.
        entropy: of each rater's labels, (n_raters,).
        n_cases: that each rater is judged by, (n_raters,).
    """
    squares, n_free = np.zeros(len(entropy)), np.zeros(len(entropy))
    least = max(_NOTHING_TO_KNOW * float(np.median(entropy)), 1e-3)
    for part in pixels:
        left = _surprise_by_case(part) / np.maximum(entropy, least)[:, None]
        given = ~np.isnan(left)
        left = left - _mean(left, 1)
        left[:, given.sum(0) > 1] -= _mean(left, 0)[:, given.sum(0) > 1]
        n_free += np.maximum(given.sum(1) - 1, 0)
        squares += np.where(given, left**2, 0.0).sum(1)
    known = n_free > 0
    variance = np.median(squares[known] / n_free[known]) if known.any() else 0.0
    return np.asarray(np.sqrt(variance / np.maximum(n_cases, 1)))


def _surprise_by_case(pixels: Pixels) -> Array:
    """Mean surprise at each rater's labels, in nats per pixel, (n_raters, n_cases); NaN without."""
    number, place = np.unique(pixels.case, return_inverse=True)
    found = np.full((len(pixels.labels), len(number)), np.nan)
    for rater, (probability, labels) in enumerate(
        zip(pixels.predicted, pixels.labels, strict=True)
    ):
        given = labels != MISSING
        picked = np.take_along_axis(probability[given], labels[given, None], axis=1)[:, 0]
        surprise = -np.log(np.maximum(picked, _LEAST))
        n = np.bincount(place[given], minlength=len(number))
        total = np.bincount(place[given], weights=surprise, minlength=len(number))
        found[rater, n > 0] = total[n > 0] / n[n > 0]
    return found


def _mean(values: Array, axis: int) -> Array:
    """Mean of what is known along an axis, which is kept; 0 where nothing is."""
    given = ~np.isnan(values)
    total = np.where(given, values, 0.0).sum(axis, keepdims=True)
    return np.asarray(total / np.maximum(given.sum(axis, keepdims=True), 1))


def _judged_by(training: Pixels, held_out: Pixels | None) -> Array:
    """Return the cases that each rater's predictability rests on, in held-out ones, (n_raters,)."""
    if held_out is None:
        return training.cases_of_raters().astype(float)
    n_cases = held_out.cases_of_raters()
    return np.asarray(n_cases + np.where(n_cases < _ENOUGH_CASES, _CASES_OF_TRAINING, 0.0))


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
