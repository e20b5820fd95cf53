"""Quality of raters by a trained network, held against the truth.

    python benchmarks/rater_measures_networks.py

`auto` is trained, small and short, on studies of `rater_measures.py` with images made for them: the
object, brighter than its surroundings, in noise. Reported is the rank correlation of `quality` and
of `skill` in the run's `raters.csv` with the true Dice of the raters, with the labels of all raters
and with one label per case. Results go to benchmarks/results/rater_measures_networks.jsonl, a table
to rater_measures_networks.md.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import multirater
from grid import (
    RESULTS,
    Job,
    Record,
    as_table,
    grid_arguments,
    markdown,
    mean_std,
    run_and_report,
    what_was_run,
)
from multirater.training import TrainConfig, train
from multirater.types import MISSING
from rater_measures import rank_correlation, true_quality
from rater_studies import study

STUDIES = ("small, 15 mixed", "small, experts and crowd")


def work(job: Job) -> dict[str, float]:
    """Train on one study and hold its table of raters against the truth."""
    warnings.simplefilter("ignore")
    found = study(job["study"], job["seed"])
    random = np.random.default_rng([job["seed"], 30])
    images = 0.6 * (found.truth > 0) + random.normal(0, 0.25, found.truth.shape)
    labels = found.labels.copy()
    if job["supply"] == "one":
        # Dealt out, so that nobody is left without a label.
        chosen = random.permutation(np.arange(len(labels)) % labels.shape[1])
        left_out = np.arange(labels.shape[1]) != chosen[:, None]
        labels[left_out] = MISSING
    dataset = multirater.dataset_from_arrays(labels, images=images[:, None].astype(np.float32))
    config = TrainConfig(
        method="auto", channels=(8, 16, 32), n_features=8, epochs=12, batch_size=4, seed=job["seed"]
    )
    with tempfile.TemporaryDirectory() as folder:
        train(dataset, Path(folder) / "run", config)
        table = pd.read_csv(Path(folder) / "run" / "raters.csv")
    true = true_quality(found)
    return {
        name: rank_correlation(table[name].to_numpy(dtype=float), true)
        for name in ("quality", "skill")
    }


def all_jobs() -> list[Job]:
    """Return the jobs."""
    return [
        {"study": name, "supply": supply, "seed": seed}
        for seed in range(800, 803)
        for supply in ("dense", "one")
        for name in STUDIES
    ]


def write_report(records: Sequence[Record], n_jobs: int, _: object) -> Path:
    """Write the table."""
    table = as_table(records)
    parts = [
        "# Measures of a rater by networks\n",
        what_was_run("rater_measures_networks", records, n_jobs, quick=False) + "\n",
        "Rank correlation with the true Dice of the raters, mean and standard deviation over "
        "seeds.\n",
    ]
    for name in ("quality", "skill"):
        cells = mean_std(table, "study", "supply", name, digits=2)
        parts.append(f"## {name}\n\n{markdown(cells)}")
    path = RESULTS / "rater_measures_networks.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def main() -> None:
    """Run what is missing and write the tables."""
    arguments = grid_arguments("Quality of raters by networks.", "rater_measures_networks")
    run_and_report(work, all_jobs(), arguments, write_report)


if __name__ == "__main__":
    main()
