"""How well labels settle a case, by each of the ballots that `auto` chooses from, without training.

    python benchmarks/ballot_choice.py                 seeds 0 to 2, minutes
    python benchmarks/ballot_choice.py --seeds 50,51   others
    python benchmarks/ballot_choice.py --data DATA     the volumes of real_studies.py, too

Dense regimes of the arena, as they are and `few`, and volumes made of a real brain. Raters are
weighed and ballots chosen by fixed filters alone, which is what a network that has not begun does.
Columns `0` to `1`: votes of which this share goes by weight. The table goes to
benchmarks/results/ballot_choice.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena_regimes import REGIMES, Form, arena_dataset
from grid import RESULTS, current_commit, markdown
from multirater.metrics import dice_score
from multirater.training.ballots import Ballots, candidates, choose_ballots
from multirater.training.filters import responses
from multirater.training.pixels import Pixels
from multirater.training.weighing import foreseen_by_filters, weigh
from multirater.types import Case, Dataset
from real_studies_data import study

SHARES = (0.0, 1 / 3, 1 / 2, 2 / 3, 1.0)
CASES, PIXELS, VOXELS = 100, 1000, 4096


def pixels_of(case: Case, number: int, raters: tuple[str, ...], n_classes: int) -> Pixels:
    """Return some pixels of a case as a network sees them that knows nothing."""
    image = case.read_image()
    assert image is not None
    array = (image.array - image.array.mean()) / max(float(image.array.std()), 1e-6)
    most = PIXELS if array.ndim == 3 else VOXELS
    place = np.random.default_rng(number).permutation(array[0].size)[:most]
    labels = case.read_labels(raters).array.reshape(len(raters), -1)[:, place].astype(np.int64)
    return Pixels(
        np.full((len(raters), len(place), n_classes), 1 / n_classes),
        labels,
        np.full(len(place), number),
        np.zeros((len(place), 0), np.float32),
        np.full((len(place), n_classes), 1 / n_classes),
        responses(array.astype(np.float32)).reshape(-1, array[0].size)[:, place].T,
    )


def settled(dataset: Dataset) -> dict[str, float | str]:
    """Return the Dice of labels settled by every ballot, and which is chosen."""
    cases = [case for case in dataset if case.split == "train"][:CASES]
    n_classes = len(dataset.classes or ())
    seen = Pixels.joined(
        [pixels_of(case, number, dataset.raters, n_classes) for number, case in enumerate(cases)]
    )
    weight = weigh(seen, None, foreseen_by_filters(seen)).weight
    one_each, none = np.tile(np.eye(n_classes), (len(weight), 1, 1)), np.zeros(n_classes)
    known = {
        f"{share:.2g}": Ballots(
            "", (share * weight + (1 - share) / len(weight))[:, None, None] * one_each, none
        )
        for share in SHARES
    }
    known["STAPLE"] = candidates(seen, weight)[-1]
    found = {name: _dice(each, cases, dataset.raters) for name, each in known.items()}
    chosen = choose_ballots(seen, None, weight)
    if chosen is None:
        return {**found, "chosen": "nobody can say"}
    return {**found, "by choice": _dice(chosen, cases, dataset.raters), "chosen": chosen.name}


def _dice(ballots: Ballots, cases: list[Case], raters: tuple[str, ...]) -> float:
    scores = []
    for case in cases:
        labels: NDArray[np.int64] = case.read_labels(raters).array.astype(np.int64)
        truth = case.read_truth()
        assert truth is not None
        label = ballots.settle(labels.reshape(len(raters), -1)).reshape(truth.array.shape)
        present = [k for k in np.unique(truth.array) if k]
        scores += [float(dice_score(truth.array == k, label == k)) for k in present]
    return round(100 * float(np.mean(scores)), 1)


def datasets(
    seeds: Sequence[int], data: Path | None
) -> Iterator[tuple[dict[str, str | int], Dataset]]:
    """Yield every study with its place in the table."""
    forms: tuple[Form, ...] = ("", "few")
    for form, regime, seed in product(forms, REGIMES, seeds):
        place = {"form": form or "usual", "regime": regime, "seed": seed}
        yield place, arena_dataset(regime, "dense", seed, form)
    for seed in seeds if data else ():
        assert data is not None
        yield {"form": "usual", "regime": "volumes", "seed": seed}, study("volumes", data, seed)


def main() -> None:
    """Settle the cases of all regimes and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0,1,2", help="by commas")
    parser.add_argument("--data", type=Path, help="folder of the data of real_studies.py")
    arguments = parser.parse_args()
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    warnings.simplefilter("ignore")
    rows = []
    for place, dataset in datasets(seeds, arguments.data):
        rows.append({**place, **settled(dataset)})
        print(rows[-1], flush=True)
    table = markdown(pd.DataFrame(rows).set_index("form"))
    words = f"--seeds {','.join(map(str, seeds))}{' --data DATA' if arguments.data else ''}"
    head = f"`python benchmarks/ballot_choice.py {words}`"
    text = f"# Dice of settled labels with the truth, %\n\n{head} at {current_commit()}.\n\n{table}"
    (RESULTS / "ballot_choice.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
