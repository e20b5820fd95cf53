"""What `tanno2019.py` leaves out: oracle and annotators, marginal rows, rounds of EM, Fig. 2.

    python benchmarks/tanno2019_forms.py --jobs 2
    python benchmarks/tanno2019_forms.py --quick --jobs 1

Pairwise-flippers on digits of half the size, as there: the oracle, who knows every rater's matrix,
and the raters' own accuracy ("annotators" of Fig. 3); the paper's marginal likelihood beside the
joint one; the weight of the trace per label and per image, as in the paper's listing (Fig. 5,
left); rounds of generalized EM and MBEM at the same number of epochs (Fig. 5, T and G); the four
raters of CIFAR-10 with one label per image, true and found (Fig. 2); and Table 1 with more
photographs and passes, which are turned, scaled and shaded at random: without that the network on
the truth knows its photographs by heart after four passes, and is not above one on noisy labels.
Results: benchmarks/results/tanno2019_forms.jsonl, .md, and tanno2019-cifar10-raters.png.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from grid import Job, Record, as_table, grid_arguments, markdown, mean_std, run_and_report
from grid import what_was_run as ran
from multirater import RaterClassifier
from multirater.simulate import label_supply, simulate_class_labels
from tanno2019 import (
    FULL,
    METHODS,
    NETWORKS,
    OF_THE_PAPER,
    QUICK,
    Part,
    Sizes,
    images_of,
    job_of,
    measures,
    rater_cms,
)
from tanno2019_data import fetch_all
from tanno2019_report import table_1

MARGINAL = {"likelihood": "marginal"}
FORMS: dict[str, dict[str, Any]] = {
    "oracle": {"method": "oracle"},
    "trace": {"method": "cm"},
    "trace, marginal": {"method": "cm", "settings": MARGINAL},
    "no trace, marginal": {"method": "cm", "trace_weight": 0.0, "settings": MARGINAL},
}
WEIGHTS, PER = (0.1, 0.01, 0.001), ("label", "image")
ROUNDS = (1, 2, 5, 12)
LONGER = Part(20_000, 5000, 20)
"""Photographs of Table 1 here, and passes over them."""


def all_jobs(sizes: Sizes) -> list[Job]:
    """Every run once, Fig. 2 first."""
    jobs: list[Job] = [
        {**job_of(sizes.cifar10, "cifar10", "four raters", 0.45, "one", "trace", 0), "part": "2"}
    ]
    for seed in range(sizes.seeds):
        for supply in ("one", "dense"):
            for p in sizes.skills["pairwise-flipper"]:
                jobs += [_job(sizes, p, supply, form, seed, "3") for form in FORMS]
            for weight in WEIGHTS:
                for per in PER:
                    job = _job(sizes, 0.45, supply, "trace, marginal", seed, "5 weight")
                    jobs.append({**job, "trace_weight": weight, "per": per})
            for method in ("gem", "mbem"):
                for rounds in ROUNDS:
                    job = _job(sizes, 0.45, supply, method, seed, "5 rounds")
                    jobs.append({**job, "rounds": rounds})
    longer = LONGER if sizes is FULL else sizes.cifar10
    for method in ("truth", *OF_THE_PAPER):
        for supply in ("dense", "one"):
            job = job_of(longer, "cifar10", "four raters", 0.45, supply, method, 0)
            jobs.append({**job, "part": "1", "augment": True})
    return jobs


def _job(sizes: Sizes, p: float, supply: str, form: str, seed: int, part: str) -> dict[str, Any]:
    job = job_of(sizes.swept, "small mnist", "pairwise-flipper", p, supply, form, seed)
    return {**job, "part": part}


def settings_of(job: Job) -> dict[str, Any]:
    """Arguments of `RaterClassifier` for a job."""
    known = METHODS if job["part"] == "1" else FORMS
    own = known.get(job["method"], {"method": job["method"]})
    network = NETWORKS[job["data"]]
    more: dict[str, Any] = {**network.get("settings", {}), **own.get("settings", {})}
    if "rounds" in job:
        more["options"] = {"rounds": job["rounds"]}
    if "per" in job:
        more["options"] = {"trace_per": job["per"]}
    if "augment" in job:
        more["augment"] = job["augment"]
    weight = {"trace_weight": job["trace_weight"]} if "trace_weight" in job else {}
    return {**network, **own, **weight, "settings": more}


def work(job: Job) -> dict[str, Any]:
    """Train, and compare with the truth."""
    warnings.simplefilter("ignore")
    images, truth = images_of(job["data"], "train", job["n_train"])
    cm = rater_cms(job)
    labels = simulate_class_labels(truth, cm, seed=job["seed"]).T
    given = label_supply(len(truth), len(cm), job["supply"], seed=job["seed"])
    shared = {"epochs": job["epochs"], "validation": 0.1, "seed": job["seed"]}
    model = RaterClassifier(**settings_of(job), **shared)
    model.fit(images, np.where(given, labels, -1), truth=truth)
    found = measures(model, job, cm)
    if job["part"] == "2":
        found["matrices"] = np.round(model.confusion_, 3).tolist()
    return found


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write tables and the figure beside the results; return the file of the tables."""
    path: Path = arguments.results.with_suffix(".md")
    parts = [
        "# Tanno 2019: oracle, marginal rows, rounds, the four raters\n\n"
        f"{ran('tanno2019_forms', records, n_jobs, quick=arguments.quick)} Accuracy in per cent, "
        "mean ± standard deviation over seeds; digits of 14 x 14 pixels, five pairwise-flippers.\n"
    ]
    runs = as_table(records)
    if len(runs):
        parts += [_figure_3(runs[runs["part"] == "3"]), _weights(runs), _rounds(runs)]
        parts.append(_figure_2(runs[runs["part"] == "2"], path.parent))
        parts.append(table_1(runs[runs["part"] == "1"]))
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    return path


def _figure_3(runs: pd.DataFrame) -> str:
    if runs.empty:
        return ""
    table = mean_std(runs, "method", ["supply", "p"], "accuracy", digits=1, scale=100)
    raters = mean_std(
        runs.assign(method="annotators"),
        "method",
        ["supply", "p"],
        "rater accuracy",
        digits=1,
        scale=100,
    )
    both = pd.concat([table, raters])
    both.index.name = "method"
    return "## Fig. 3: the oracle, the annotators, and the paper's likelihood\n\n" + markdown(both)


def _weights(runs: pd.DataFrame) -> str:
    chosen = runs[runs["part"] == "5 weight"]
    if chosen.empty:
        return ""
    rows, columns = ["trace_weight", "per"], "supply"
    return "## Fig. 5: weight of the trace, per label and per image\n\n" + markdown(
        mean_std(chosen, rows, columns, "accuracy", digits=1, scale=100)
    )


def _rounds(runs: pd.DataFrame) -> str:
    chosen = runs[runs["part"] == "5 rounds"]
    if chosen.empty:
        return ""
    return "## Fig. 5: rounds of EM (T) at the same number of steps\n\n" + markdown(
        mean_std(chosen, ["method", "rounds"], "supply", "accuracy", digits=1, scale=100)
    )


def _figure_2(runs: pd.DataFrame, folder: Path) -> str:
    if runs.empty:
        return ""
    from matplotlib import pyplot

    from multirater.simulate import cifar10_raters_cm

    run, name = runs.iloc[0], "tanno2019-cifar10-raters.png"
    figure, axes = pyplot.subplots(2, 4, figsize=(9, 4.6), layout="constrained")
    titles = ("hammer-spammer", "similar classes", "neighbouring classes", "adversarial")
    for row, matrices in enumerate((cifar10_raters_cm(), np.asarray(run["matrices"]))):
        for ax, cm, title in zip(axes[row], matrices, titles, strict=True):
            ax.imshow(cm, vmin=0, vmax=1, cmap="viridis")
            ax.set(xticks=[], yticks=[], title=title if row == 0 else "")
        axes[row, 0].set_ylabel(("true", "found")[row])
    figure.savefig(folder / name, dpi=110)
    pyplot.close(figure)
    return (
        f"## Fig. 2: the four raters of CIFAR-10, one label per image\n\n"
        f"{run['n_train']} photographs, {run['epochs']} epochs; accuracy "
        f"{100 * run['accuracy']:.1f} %, CM error x 100 {100 * run['CM error']:.2f}.\n\n"
        f"![true and found matrices]({name})\n"
    )


def main() -> None:
    """Run what is missing and write tables and figure."""
    arguments = grid_arguments(__doc__.splitlines()[0], "tanno2019_forms")
    jobs = all_jobs(QUICK if arguments.quick else FULL)
    if not arguments.report:
        fetch_all(arguments.data)
    run_and_report(work, jobs, arguments, write_report)


if __name__ == "__main__":
    main()
