"""Spatial STAPLE's prior: what decision 0002 rests on.

    python benchmarks/spatial_choice.py

Dice with the truth of 128 x 128 blobs by five raters: bad in different halves of the image, equally
good everywhere, or with outlines that wander. The weight of the global matrix and the prior of the
classes are compared. The table is kept in benchmarks/results/spatial_choice.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from grid import RESULTS, current_commit, markdown
from multirater import fuse
from multirater.metrics import dice_score

Made: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.int8]]
SHAPE, N_RATERS, N_SEEDS = (128, 128), 5, 4


def smooth(random: np.random.Generator, width: float) -> NDArray[np.float64]:
    """A random field whose hills are so wide, of deviation 1."""
    field = gaussian_filter(random.normal(size=SHAPE), width)
    return np.asarray(field / field.std())


def bad_in_halves(seed: int) -> Made:
    """Raters who label 40 % of one half wrongly, and 2 % of the other."""
    random = np.random.default_rng(seed)
    truth = smooth(random, 4) > 0.5
    half = np.indices(SHAPE)[-1] < SHAPE[-1] // 2
    rates = [np.where(half == (rater % 2), 0.4, 0.02) for rater in range(N_RATERS)]
    return truth, flipped(truth, rates, random)


def same_everywhere(seed: int) -> Made:
    """Raters of unlike skill, the same at every pixel."""
    random = np.random.default_rng(seed)
    truth = smooth(random, 5) > 0.6
    return truth, flipped(truth, random.uniform(0.02, 0.35, N_RATERS), random)


def shifted_outlines(seed: int) -> Made:
    """Raters whose outline wanders, each by another amount."""
    random = np.random.default_rng(seed)
    height = smooth(random, 6)
    amounts = random.uniform(0.1, 0.8, N_RATERS)
    drawn = [height + amount * smooth(random, 3) > 0.6 for amount in amounts]
    return height > 0.6, np.stack(drawn).astype(np.int8)


def flipped(truth: NDArray[np.bool_], rates: Any, random: np.random.Generator) -> NDArray[np.int8]:
    """Labels of raters who are wrong at these rates."""
    return np.stack([truth ^ (random.random(SHAPE) < rate) for rate in rates]).astype(np.int8)


RATERS: dict[str, Callable[[int], Made]] = {
    "bad in different halves": bad_in_halves,
    "same everywhere": same_everywhere,
    "shifted outlines": shifted_outlines,
}
FUSIONS: dict[str, Callable[[NDArray[np.int8]], Any]] = {
    "majority vote": lambda labels: fuse.majority_vote(labels, 2),
    "STAPLE": lambda labels: fuse.staple(labels, 2),
    "weight 0.5, global class prior": lambda labels: fuse.spatial_staple(
        labels, 2, prior_weight=0.5, prior="frequency"
    ),
    "weight 0.1, local class prior": lambda labels: fuse.spatial_staple(labels, 2),
    "the same, window 15": lambda labels: fuse.spatial_staple(labels, 2, window=15),
}


def compare(n_seeds: int = N_SEEDS) -> pd.DataFrame:
    """Return mean Dice, a row per kind of raters."""
    warnings.simplefilter("ignore")
    rows = {}
    for name, make in RATERS.items():
        made = [make(seed) for seed in range(n_seeds)]
        rows[name] = {
            how: f"{np.mean([dice_score(t, method(drawn).label) for t, drawn in made]):.3f}"
            for how, method in FUSIONS.items()
        }
    table = pd.DataFrame(rows).T
    table.index.name = "raters"
    return table


def main() -> None:
    """Write the table, and print it."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    text = (
        f"`python benchmarks/spatial_choice.py` at commit {current_commit()}: Dice with the truth, "
        f"{SHAPE[0]} x {SHAPE[1]} pixels, {N_RATERS} raters, {N_SEEDS} seeds.\n\n"
        f"{markdown(compare())}"
    )
    path: Path = RESULTS / "spatial_choice.md"
    path.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
