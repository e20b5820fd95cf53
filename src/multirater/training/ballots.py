"""How the labels of a case settle its truth, where there are several of them.

Every way to settle is a ballot: what the label of each rater counts for each class. Three are
compared: one vote each, votes of which half go by the weights of the jury, and the confusion
matrices of STAPLE on the disputed pixels of all cases. Each fails somewhere: the vote where most
raters share an error, weights where errors are independent and pooling is better than the best
rater, or where two raters cannot be told apart (half of the votes stay with everybody, so that the
others decide between them), STAPLE where errors are nested. The image decides: the ballot is taken
whose outcome follows from it best (`multirater.training.witness`), and the vote unless another
leads it by more than chance would have it, whether large drawings are discounted for their size or
not: else whoever draws less than all others would lead where the image shows little, and whoever
draws more where it shows much. No rater's own predictability enters, and nobody has to be believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.staple import staple
from multirater.nn.jury import FEWEST_LABELS
from multirater.training.pixels import Pixels
from multirater.training.witness import OUTLINE, Statement, by_features, by_filters, log_evidence
from multirater.types import MISSING

NEARLY_ALL = 0.9
"""Share of cases, or of pixels, from which on labels are said to settle a study."""

_LEAST = 1e-4

_BY_WEIGHT = 0.5
"""Share of the votes that goes by weight, in the ballots that do."""

_SURE, _DRAWS = 1.0, 200
"""Standard errors by which a ballot has to lead the vote, over draws of cases."""

_DISCOUNTS = (0.0, OUTLINE)
"""Powers of a drawing's entropy that what is unexplained of it may grow with: the least and the
usual one. A ballot has to lead by either."""

_FEWEST_CASES = 3
"""Cases below which nothing is said of chance, and the vote is taken."""

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
        training: pixels of cases that were trained on.
        held_out: pixels of cases that were not.
        weight: of the jury, (n_raters,).

    Returns:
        None where hardly any case has several labels, or nobody can say.
    """
    if not has_several_labels(training):
        return None
    known = candidates(training, weight)
    witnesses = [
        w
        for w in (_by_features(known, training, held_out), _by_filters(known, training, held_out))
        if w
    ]
    if not witnesses:
        return None
    # Whoever explains any outcome best is believed.
    said = max(witnesses, key=lambda each: max(one.explained()[0][0] for one in each))
    return known[_clear_winner(said)]


def has_several_labels(pixels: Pixels) -> bool:
    """Whether nearly all cases have labels enough to settle them."""
    return bool(((pixels.labels != MISSING).sum(0) >= FEWEST_LABELS).mean() >= NEARLY_ALL)


def _by_features(
    known: Sequence[Ballots], training: Pixels, held_out: Pixels | None
) -> list[Statement]:
    if held_out is None:
        return []
    return [
        by_features(training, held_out, each.settle(training.labels), each.settle(held_out.labels))
        for each in known
    ]


def _by_filters(
    known: Sequence[Ballots], training: Pixels, held_out: Pixels | None
) -> list[Statement]:
    pixels = training.with_cases_of(held_out)
    n_classes = pixels.predicted.shape[2]
    found = [
        by_filters(pixels.filters, pixels.case, each.settle(pixels.labels), n_classes)
        for each in known
    ]
    return [each for each in found if each is not None]


def _clear_winner(said: Sequence[Statement]) -> int:
    """Return which ballots lead the first ones, the vote, for sure; 0 when none do."""
    n = said[0].n_cases
    if n < _FEWEST_CASES:
        return 0
    random = np.random.default_rng(0)
    # As the cases are, and drawn anew with replacement.
    times = np.vstack([np.ones((1, n)), random.multinomial(n, np.full(n, 1 / n), size=_DRAWS)])
    told = [each.explained(times) for each in said]
    sure = np.min([_sure_lead(told, power) for power in _DISCOUNTS], axis=0)
    return int(sure.argmax()) if sure.max() > 0 else 0


def _sure_lead(told: Sequence[tuple[Array, Array]], power: float) -> Array:
    """Return by how much each leads the first, less what is chance, (n_ballots,)."""
    found = np.stack([log_evidence(*each, power=power) for each in told])
    leads = found - found[0]
    return np.asarray(leads[:, 0] - _SURE * leads[:, 1:].std(1))


def candidates(pixels: Pixels, weight: NDArray[np.float64]) -> list[Ballots]:
    """Return the ways to settle that are compared, the vote first.

    Args:
        pixels: that STAPLE is fitted to.
        weight: of the jury, (n_raters,).
    """
    n_raters, _, n_classes = pixels.predicted.shape
    one_each = np.tile(np.eye(n_classes), (n_raters, 1, 1))
    nothing = np.zeros(n_classes)
    votes = _BY_WEIGHT * weight + (1 - _BY_WEIGHT) / n_raters
    fused = staple(pixels.labels, n_classes, disputed_only=True, dirichlet=1.0)
    return [
        Ballots("vote", one_each, nothing),
        Ballots("weights", votes[:, None, None] * one_each, nothing),
        Ballots("STAPLE", *(np.log(np.maximum(each, _LEAST)) for each in (fused.cm, fused.prior))),
    ]
