"""How far a rater's own label stands against the heads of all raters: part of step 2 of the recipe.

Where raters disagree, agreement tells the better ones from the others, however little they disagree
about. That is right for heads, which are many. A label is the one thing that was seen of the case:
it gives way where its rater is worse than others by what matters in all, not at the few pixels in
dispute. Ten raters nearly alike, told apart by those pixels, had half of their labels replaced by
what a network smoothed out of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.metrics import dice_score
from multirater.training.pixels import Pixels
from multirater.types import MISSING

_LEAST, _MOST = 0.02, 0.98
"""Bounds of the overlap: nobody stands by a single drawing that coincides."""

_GIVES_WAY = 0.5
"""Share of the best rater's below which a label begins to give way: the benefit of the doubt, since
what replaces it is a network's guess."""

Array = NDArray[np.float64]


def standing(pixels: Pixels, weight: Array, log_evidence: Array) -> Array:
    """Return how far a rater's label stands, (n_raters,): 1 as far as the best rater's.

    The evidence of the image times the odds of Dice between the rater's labels and the verdict of
    all heads, over all pixels; from half of the best rater's on, all of it.

    Args:
        pixels: of all cases that were looked at.
        weight: of the heads, (n_raters,).
        log_evidence: draws of what the image says for each rater, (n_draws, n_raters).

    Example:
        >>> drawn = np.array([[0, 1, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0]])
        >>> pixels = Pixels.of_one_case(np.eye(2)[drawn], drawn)
        >>> standing(pixels, np.array([0.6, 0.3, 0.1]), np.zeros((1, 3))).round(2)
        array([1.  , 0.08, 0.  ])
    """
    verdict = np.einsum("r,rpl->pl", weight, pixels.predicted).argmax(1)
    overlap = np.array([_overlap(own, verdict) for own in pixels.labels])
    known = ~np.isnan(overlap)
    overlap[~known] = overlap[known].mean() if known.any() else 0.5
    overlap = np.clip(overlap, _LEAST, _MOST)
    found = shares(log_evidence + np.log(overlap / (1 - overlap)))
    share = found / found.max()
    return np.asarray(np.maximum(share, np.minimum((share / _GIVES_WAY) ** 2, 1.0)))


def shares(log_weight: Array) -> Array:
    """Return the expected share of each rater, (n_raters,), over draws (n_draws, n_raters).

    Raters who cannot be told apart share alike, whoever happens to be ahead.
    """
    weight = np.exp(log_weight - log_weight.max(1, keepdims=True))
    return np.asarray((weight / weight.sum(1, keepdims=True)).mean(0))


def _overlap(own: NDArray[np.int64], verdict: NDArray[np.int64]) -> float:
    """Dice of a rater's labels with the verdict; NaN for a rater without any."""
    given = own != MISSING
    return dice_score(verdict[given], own[given]) if given.any() else float("nan")
