"""Splits by patient, so that nobody is in two of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np


def split_patients(
    patients: Iterable[str], shares: Mapping[str, float], *, seed: int
) -> dict[str, str]:
    """Draw a split for every patient.

    Args:
        patients: names, in any order and any number of times.
        shares: relative size of every split, in the order `train`, ...; the first is never empty.
        seed: same seed and patients, same splits.

    Returns:
        The split of every patient.

    Example:
        >>> split_patients(["p1", "p2", "p3"], {"train": 2, "test": 1}, seed=0)
        {'p3': 'train', 'p1': 'train', 'p2': 'test'}
    """
    names = sorted(set(patients))
    drawn = np.random.default_rng(seed).permutation(len(names)).tolist()
    ends = np.rint(np.cumsum(list(shares.values())) / sum(shares.values()) * len(names))
    places = np.searchsorted(np.maximum(ends, 1), np.arange(len(names)), side="right")
    splits = list(shares)
    return {
        names[index]: splits[place] for index, place in zip(drawn, places.tolist(), strict=True)
    }
