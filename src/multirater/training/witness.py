"""How far labels follow from the image, as told by two witnesses who need no truth.

The *network* has learned features; what it says counts on cases it was not trained on, which are
few. *Fixed filters* with boosted trees on them know less of an image, but they are there before any
training, cannot learn a case by heart through the network, and are cross-validated over all cases.
Whoever explains more is believed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from multirater.errors import Fault, InputError
from multirater.training.pixels import Pixels

Array = NDArray[np.float64]
Target = NDArray[np.int64]

_LEAST = 1e-3
"""Smallest probability: a single surprise must not decide."""

_PIXELS = 15_000
"""Pixels that a witness learns from, and is asked about."""

OUTLINE = 0.6
"""How what stays unexplained of equally good drawings grows with their entropy: with the length of
the outline, which is the root of the area for round objects, and does not change when a thin stroke
is drawn thicker. Chosen on simulated raters of both, between the two. Where a witness hardly finds
the object, as much of a small drawing stays unexplained as of a large one, and it would be 0."""


@dataclass(frozen=True, eq=False)
class Statement:
    """What a witness foresaw of labels.

    Attributes:
        surprise: at each label, in nats, (n_pixels,).
        guess: the class that the witness would have said, (n_pixels,).
        target: the labels, (n_pixels,).
        case: number of the case of each, (n_pixels,), from 0.
        n_classes: background included.
    """

    surprise: Array
    guess: Target
    target: Target
    case: Target
    n_classes: int

    @property
    def n_cases(self) -> int:
        """Cases that it rests on."""
        return int(self.case.max(initial=-1)) + 1

    def by_case(self) -> tuple[Array, Array]:
        """Sum of surprise (n_cases,), and labels of each class (n_cases, n_classes)."""
        surprise = np.bincount(self.case, weights=self.surprise, minlength=self.n_cases)
        cells = self.case * self.n_classes + self.target
        counts = np.bincount(cells, minlength=self.n_cases * self.n_classes)
        shape = (self.n_cases, self.n_classes)
        return np.asarray(surprise, float), np.asarray(counts, float).reshape(shape)

    def explained(self, times: Array | None = None) -> tuple[Array, Array]:
        """Share of the entropy of the labels that follows from the image, and that entropy.

        Args:
            times: how often each case counts, (n_draws, n_cases); once, without.

        Returns:
            Both (n_draws,), the entropy in nats per pixel.
        """
        surprise, counts = self.by_case()
        times = np.ones((1, self.n_cases)) if times is None else times
        seen = times @ counts
        share = (seen + 1) / (seen + 1).sum(1, keepdims=True)
        entropy = -(share * np.log(share)).sum(1)
        mean = (times @ surprise) / np.maximum(seen.sum(1), 1)
        several = (seen > 0).sum(1) > 1
        return np.where(several, np.clip(1 - mean / entropy, 0, 1), 0.0), entropy


def by_filters(
    filters: NDArray[np.float32], case: Target, target: Target, n_classes: int
) -> Statement | None:
    """Ask fixed filters about labels, each half of the cases by what the other half teaches.

    Args:
        filters: their responses, (n_pixels, n_filters).
        case: number of the case of each pixel, (n_pixels,).
        target: labels, (n_pixels,), -1 where missing.
        n_classes: background included.

    Returns:
        None where fewer than two cases have labels.
    """
    given = np.flatnonzero(target >= 0)
    given = given[:: max(1, len(given) // _PIXELS)]
    filters, labels = filters[given], target[given]
    names, case = np.unique(case[given], return_inverse=True)
    if len(names) < 2 or not filters.shape[1]:
        return None
    surprise, guess = np.zeros(len(labels)), np.zeros(len(labels), dtype=np.int64)
    for half in (0, 1):
        asked = case % 2 == half
        probability = _boosted(filters[~asked], labels[~asked], filters[asked], n_classes)
        surprise[asked] = _surprise(probability, labels[asked])
        guess[asked] = probability.argmax(1)
    return Statement(surprise, guess, labels, case, n_classes)


def by_features(training: Pixels, held_out: Pixels, outcome: Target, target: Target) -> Statement:
    """Ask the network's features, by a linear function that is learned on training cases.

    Args:
        training: pixels to learn from.
        held_out: pixels to be asked about.
        outcome: labels of the first.
        target: labels of the second.
    """
    taken = slice(None, None, max(1, len(training.case) // _PIXELS))
    n_classes = training.predicted.shape[2]
    _, case = np.unique(held_out.case, return_inverse=True)
    probability = np.full((len(target), n_classes), 1 / n_classes)
    _require_numbers(training.features, held_out.features)
    if len(np.unique(outcome[taken])) > 1:
        scale = StandardScaler().fit(training.features[taken])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            learned = LogisticRegression(C=10.0, max_iter=60).fit(
                scale.transform(training.features[taken]), outcome[taken]
            )
        probability = np.zeros_like(probability)
        asked = scale.transform(held_out.features)
        probability[:, learned.classes_] = learned.predict_proba(asked)
    return Statement(_surprise(probability, target), probability.argmax(1), target, case, n_classes)


class NoNumbersError(InputError):
    """A network that sees nothing any more, with which nobody could go on."""


def _require_numbers(*features: NDArray[Any]) -> None:
    if not all(np.isfinite(each).all() for each in features):
        raise NoNumbersError(
            Fault(
                "what the network sees in the images is not a number any more",
                expected="a network that learns",
                fix="lower --learning-rate, give a larger --patch, or look for extreme values in "
                "the images",
            )
        )


def log_evidence(
    explained: Array, entropy: Array, least: float = 1e-4, *, power: float = OUTLINE
) -> Array:
    """Return what the image says for drawings: log U / ((1 - U) H^0.6).

    U is the share of the drawings' entropy H that follows from the image. U alone, or its odds,
    would favour whoever draws much: there is more to be explained, and most of it is easily.

    Args:
        explained: U, (..., n).
        entropy: H, in nats per pixel, (n,).
        least: share that counts as nothing when unexplained.
        power: of H.
    """
    size = entropy**power
    unexplained = np.maximum((1 - explained) * size, least * np.median(size))
    return np.asarray(np.log(np.maximum(explained, 1e-4) / unexplained))


def entropy_of(labels: Target, n_classes: int) -> float:
    """Return what there is to know of labels, in nats per pixel."""
    share = (np.bincount(labels, minlength=n_classes) + 1) / (len(labels) + n_classes)
    return float(-(share * np.log(share)).sum())


def _boosted(
    filters: NDArray[np.float32], labels: Target, asked: NDArray[np.float32], n_classes: int
) -> Array:
    """Probability of each class (n_asked, n_classes), learned from filters and labels."""
    found = np.zeros((len(asked), n_classes))
    if len(np.unique(labels)) < 2:
        share = np.bincount(labels, minlength=n_classes) + 1.0
        return np.asarray(found + share / share.sum())
    trees = HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=8, learning_rate=0.2, early_stopping=False, random_state=0
    ).fit(filters, labels)
    found[:, trees.classes_] = trees.predict_proba(asked)
    return found


def _surprise(probability: Array, target: Target) -> Array:
    picked = probability[np.arange(len(target)), target]
    return np.asarray(-np.log(np.maximum(picked, _LEAST)))
