"""What cases that look alike are called: a guess at every case from all others, without a network.

Kernel ridge regression on pixels, or on features. Its leave-one-out predictions have a closed form
and are linear in what is learned: once cases are compared, a guess at all of them costs less than
an epoch of a network, whatever is to be foreseen. On small images and on vectors it foresees labels
about as well as a small network does; of a large image it knows only the rough look.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.metrics.pairwise import euclidean_distances

from multirater.training.data import group_of
from multirater.training.resampling import resize_maps
from multirater.training.samples import Grid, read_sample
from multirater.types import Case

Array: TypeAlias = NDArray[np.float64]

SIDE = 32
"""Pixels per axis of a plane that are compared; larger images are made smaller."""

_VOLUME_SIDE = 12
MOST = 1500
"""Cases that are compared with one another; more are dealt out to parts of so many."""

FEWEST = 8
"""Cases, or patients, below which nothing is learned from the others."""

_WIDTH = 0.5
"""Width of the kernel, in median squared distances of cases."""

_RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_LEAST = 1e-3
"""Smallest probability of a guess."""


def looks_of(cases: Sequence[Case], grid: Grid) -> Array:
    """Return how cases look, (n_cases, n_features).

    An image counts relative to its own mean and spread, and to the mean of all images.

    Args:
        cases: with images, or vectors of features.
        grid: of the run.
    """
    rows = [_look_of(case, grid) for case in cases]
    found = np.stack([row.ravel() for row in rows]).astype(float)
    found -= found.mean(0)
    if rows[0].ndim == 1:
        found /= np.maximum(found.std(0), 1e-9)
    return found


def _look_of(case: Case, grid: Grid) -> NDArray[np.float32]:
    """Return a small image of a case, or its features."""
    image = read_sample(case, {}, with_truth=False, of_classes=True, grid=grid).image
    if image.ndim == 1:
        return image
    side = SIDE if image.ndim == 3 else _VOLUME_SIDE
    small = resize_maps(image, [min(side, size) for size in image.shape[1:]])
    return np.asarray((small - small.mean()) / max(float(small.std()), 1e-6))


def compared(cases: Sequence[Case], grid: Grid) -> NearCases | None:
    """Compare cases; None when they are too few.

    Args:
        cases: with images, or vectors of features.
        grid: of the run.
    """
    groups = [group_of(case) for case in cases]
    return NearCases(looks_of(cases, grid), groups) if len(set(groups)) >= FEWEST else None


class NearCases:
    """Guesses at each case from all others that are not of the same group.

    Args:
        looks: how cases look, (n_cases, n_features).
        groups: what each case belongs to, such as its patient, (n_cases,).

    Example:
        >>> looks = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]])
        >>> target = np.eye(2)[[0, 1, 0, 0, 1, 1, 1, 1]]
        >>> NearCases(looks, list("abcdefgh")).guess(target).argmax(1).tolist()
        [0, 0, 0, 0, 1, 1, 1, 1]
    """

    def __init__(self, looks: Array, groups: Sequence[str]) -> None:
        _, group = np.unique(np.asarray(groups), return_inverse=True)
        n_parts = -(-len(looks) // MOST)
        part = np.random.default_rng(0).permutation(group.max() + 1)[group] % n_parts
        places = [np.flatnonzero(part == number) for number in range(n_parts)]
        self.n_cases = len(looks)
        self._parts = [_Part(place, looks[place], group[place]) for place in places if len(place)]

    def guess(self, target: Array) -> Array:
        """Foresee class probabilities (n_cases, L) of each case by those of the others.

        How far neighbours are smoothed follows from how well the guesses foresee the target.
        """
        best, least = target, np.inf
        for ridge in _RIDGES:
            found = np.zeros_like(target)
            for part in self._parts:
                found[part.place] = part.foreseen(target[part.place], ridge)
            error = float(((found - target) ** 2).sum())
            if error < least:
                best, least = found, error
        best = np.maximum(best, _LEAST)
        return np.asarray(best / best.sum(1, keepdims=True))


class _Part:
    """Some cases, compared with one another."""

    def __init__(self, place: NDArray[np.int64], looks: Array, group: NDArray[np.int64]) -> None:
        self.place = place
        distance = euclidean_distances(looks, squared=True)
        apart = distance[np.triu_indices(len(looks), 1)]
        typical = max(float(np.median(apart)) if len(apart) else 1.0, 1e-9)
        values, self.vectors = eigh(np.exp(-distance / (_WIDTH * typical)))
        self.values = np.maximum(values, 0.0)
        order = np.argsort(group, kind="stable")
        together = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
        self.together = [each for each in together if len(each) > 1]

    def foreseen(self, target: Array, ridge: float) -> Array:
        """Return predictions (n, L) of each case by those of other groups."""
        mean = target.mean(0)
        kept = self.values / (self.values + ridge)
        fitted = mean + self.vectors @ (kept[:, None] * (self.vectors.T @ (target - mean)))
        own = (self.vectors**2) @ kept
        missed = (target - fitted) / (1 - own)[:, None]
        for group in self.together:
            among = (self.vectors[group] * kept) @ self.vectors[group].T
            missed[group] = np.linalg.solve(np.eye(len(group)) - among, (target - fitted)[group])
        return np.asarray(target - missed)
