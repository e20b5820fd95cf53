"""How the labels of a case settle its truth, where there are several of them.

Every way to settle is a ballot: what the label of each rater counts for each class. Three are
compared: one vote each, votes by the weights of the jury, and the confusion matrices of STAPLE on
the disputed pixels of all cases. Each fails somewhere: the vote where most raters share an error,
weights where errors are independent and pooling is better than the best rater, STAPLE where errors
are nested. The image decides: the ballot is taken whose outcome follows from it best, on held-out
cases (`evidence`). No rater's own predictability enters, and nobody has to be believed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from multirater.fuse.staple import staple
from multirater.nn.jury import FEWEST_LABELS
from multirater.training.pixels import Pixels
from multirater.types import MISSING

_NEARLY_ALL = 0.9
_PIXELS = 30_000
"""Pixels that a ballot's predictability is learned from."""

_LEAST = 1e-4

_OUTLINE = 0.6
"""How what stays unexplained of equally good drawings grows with their entropy: with the length of
the outline, which is the root of the area for round objects, and does not change when a thin stroke
is drawn thicker. Chosen on simulated raters of both, between the two."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ballots:
    """A way to settle a case by its labels.

    Attributes:
        name: of the way.
        counts: what a label counts for each class, (n_raters, class, label), higher for more.
        prior: (n_classes,), the same without any label.
    """

    name: str
    counts: Array
    prior: Array

    def settle(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the class with the highest count, (n_pixels,); what all agree on stands.

        Args:
            labels: (n_raters, n_pixels), -1 where missing.
        """
        score = np.tile(self.prior, (labels.shape[1], 1))
        for counts, own in zip(self.counts, labels, strict=True):
            given = own != MISSING
            score[given] += counts[:, own[given]].T
        highest = labels.max(0)
        lowest = np.where(labels == MISSING, np.iinfo(labels.dtype).max, labels).min(0)
        return np.asarray(np.where(lowest == highest, highest, score.argmax(1)))


def choose_ballots(
    training: Pixels, held_out: Pixels | None, weight: NDArray[np.float64]
) -> Ballots | None:
    """Return the ballots whose outcome follows best from the image.

    Args:
        training: pixels that predictability is learned from.
        held_out: pixels that it is measured on.
        weight: of the jury, (n_raters,).

    Returns:
        None where hardly any case has several labels, or none is held out.
    """
    if held_out is None or min(map(_share_settled, (training, held_out))) < _NEARLY_ALL:
        return None
    known = _candidates(training, weight)
    # The first is the plain vote: it is taken where nothing speaks for another.
    return max(known, key=lambda each: evidence(each, training, held_out))


def _share_settled(pixels: Pixels) -> float:
    return float(((pixels.labels != MISSING).sum(0) >= FEWEST_LABELS).mean())


def _candidates(pixels: Pixels, weight: NDArray[np.float64]) -> list[Ballots]:
    n_raters, _, n_classes = pixels.predicted.shape
    one_each = np.tile(np.eye(n_classes), (n_raters, 1, 1))
    nothing = np.zeros(n_classes)
    fused = staple(pixels.labels, n_classes, disputed_only=True, dirichlet=1.0)
    return [
        Ballots("vote", one_each, nothing),
        Ballots("weights", weight[:, None, None] * one_each, nothing),
        Ballots("STAPLE", *(np.log(np.maximum(each, _LEAST)) for each in (fused.cm, fused.prior))),
    ]


def evidence(ballots: Ballots, training: Pixels, held_out: Pixels) -> float:
    """Return how well the outcome of ballots follows from the image.

    By a linear function of the network's features, learned on training cases and measured on
    held-out ones.
    """
    taken = _spread(len(training.case))
    features, outcome = training.features[taken], ballots.settle(training.labels[:, taken])
    target = ballots.settle(held_out.labels)
    n_classes = len(ballots.prior)
    if len(np.unique(outcome)) < 2:
        return float("-inf")
    scale = StandardScaler().fit(features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learned = LogisticRegression(C=10.0, max_iter=60).fit(scale.transform(features), outcome)
    probability = np.full((len(target), n_classes), _LEAST)
    probability[:, learned.classes_] = learned.predict_proba(scale.transform(held_out.features))
    picked = np.maximum(probability[np.arange(len(target)), target], _LEAST)
    entropy = entropy_of(target, n_classes)
    explained = 1 + float(np.log(picked).mean()) / entropy
    return float(log_evidence(np.array([explained]), np.array([entropy]))[0])


def log_evidence(explained: Array, entropy: Array, least: float = _LEAST) -> Array:
    """Return what the image says for drawings: log U / ((1 - U) H^0.6), each (n,).

    U is the share of the drawings' entropy H that follows from the image. U alone, or its odds,
    would favour whoever draws much: there is more to be explained, and most of it is easily.

    Args:
        explained: U.
        entropy: H, in nats per pixel.
        least: share that counts as nothing when unexplained.
    """
    size = entropy**_OUTLINE
    unexplained = np.maximum((1 - explained) * size, least * np.median(size))
    return np.asarray(np.log(np.maximum(explained, _LEAST) / unexplained))


def entropy_of(labels: NDArray[np.int64], n_classes: int) -> float:
    """Return what there is to know of labels, in nats per pixel."""
    share = (np.bincount(labels, minlength=n_classes) + 1) / (len(labels) + n_classes)
    return float(-(share * np.log(share)).sum())


def _spread(n_pixels: int) -> slice:
    """Return pixels from all cases, at most as many as are quick."""
    return slice(None, None, max(1, n_pixels // _PIXELS))
