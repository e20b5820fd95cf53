"""Which fusion to take without being told: every method on studies with a known truth.

    python benchmarks/fusion_choice.py --data ../../shared/data/crowd

Studies are those of `rater_studies.py` (drawings: Dice with the truth, mean over cases; class
labels: share of right labels) and real crowds (`--data`). A method that may be chosen has to be
never far below the majority vote, whatever the raters; seeds 200 and up served to choose, seeds 600
and up are reported. `chosen` is what `multirater fuse` takes by itself. Results go to
benchmarks/results/fusion_choice.jsonl, tables to fusion_choice.md.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from grid import RESULTS, Job, Record, as_table, markdown, records_of, run_grid, what_was_run
from multirater import fuse
from multirater.fuse.choice import choice_for
from multirater.fuse.methods import method_named
from multirater.metrics import dice_score
from multirater.types import MISSING
from rater_measures import DATA, read_crowd_study
from rater_studies import CLASSES, DRAWINGS, Study, study

CHOSEN, REPORTED = range(200, 204), range(600, 606)

MASKS: dict[str, Callable[[Study], Any]] = {
    "majority vote": lambda each: _together(each, fuse.majority_vote),
    "weighted vote": lambda each: _together(each, fuse.weighted_vote),
    "STAPLE": lambda each: _one_by_one(each, fuse.staple),
    "STAPLE, all cases": lambda each: _together(each, fuse.staple),
    "STAPLE, all cases, disputed": lambda each: _together(each, fuse.staple, disputed_only=True),
    "one-coin, all cases": lambda each: _together(each, fuse.one_coin),
}

LABELS: dict[str, Callable[[Study], Any]] = {
    "majority vote": lambda each: _of_classes(each, fuse.majority_vote),
    "weighted vote": lambda each: _of_classes(each, fuse.weighted_vote),
    "one-coin": lambda each: _of_classes(each, fuse.one_coin),
    "MACE": lambda each: _of_classes(each, fuse.mace),
    "Dawid-Skene": lambda each: _of_classes(each, fuse.dawid_skene),
    "Dawid-Skene, Dirichlet 1": lambda each: _of_classes(each, fuse.dawid_skene, dirichlet=1.0),
}


def work(job: Job) -> dict[str, float]:
    """Fuse one study by every method; return how right each is."""
    warnings.simplefilter("ignore")
    if "crowd" in job:
        return scores(read_crowd_study(Path(os.environ[DATA]) / job["crowd"]))
    return scores(study(job["study"], job["seed"]))


def scores(found: Study) -> dict[str, float]:
    """Return the score of every method, and of what is chosen by default."""
    methods = MASKS if found.is_masks else LABELS
    known = {name: _score(found, method(found)) for name, method in methods.items()}
    return {**known, "chosen": _score(found, _chosen(found))}


def _chosen(found: Study) -> Any:
    first = (slice(None), slice(None), *(0,) * (found.labels.ndim - 2))
    per_case = (found.labels[first] != MISSING).sum(1)
    n_raters = found.labels.shape[1]
    choice = choice_for(
        found.is_masks,
        int(np.median(per_case)),
        n_raters,
        n_classes=found.n_classes,
        answers_of_a_rater=per_case.sum() / n_raters,
    )
    fuse_by = _together if found.is_masks else _of_classes
    return fuse_by(found, method_named(choice.method), **choice.options)


def _together(found: Study, method: Callable[..., Any], **options: Any) -> Any:
    return method(list(found.labels), found.n_classes, pooled=True, **options).label


def _one_by_one(found: Study, method: Callable[..., Any]) -> Any:
    return [method(labels, found.n_classes).label for labels in found.labels]


def _of_classes(found: Study, method: Callable[..., Any], **options: Any) -> Any:
    return method(found.labels.T, found.n_classes, **options).label


def _score(found: Study, label: Any) -> float:
    if not found.is_masks:
        return float((np.asarray(label) == found.truth).mean())
    return float(np.mean([dice_score(t, each) for t, each in zip(found.truth, label, strict=True)]))


def all_jobs(data: Path | None) -> list[Job]:
    """Return the jobs: studies that choose, studies that are reported, real crowds."""
    jobs: list[Job] = [
        {"study": name, "seed": seed}
        for seeds in (CHOSEN, REPORTED)
        for name in [*DRAWINGS, *CLASSES]
        for seed in seeds
    ]
    if data is not None:
        os.environ[DATA] = str(data.resolve())
        crowds = sorted(each.name for each in data.iterdir() if (each / "truth.csv").is_file())
        jobs += [{"crowd": name} for name in crowds]
    return jobs


def write_report(records: Sequence[Record], n_jobs: int) -> Path:
    """Write the tables."""
    table = as_table(records)
    parts = ["# The default of fuse\n", what_was_run("fusion_choice", records, n_jobs, quick=False)]
    reported = table["seed"] >= REPORTED[0]
    for title, studies, methods in (
        ("Drawings, Dice with the truth", DRAWINGS, MASKS),
        ("Class labels, share that is right", CLASSES, LABELS),
    ):
        rows = table[table["study"].isin(studies)]
        columns = [*methods, "chosen"]
        for which, part in (
            ("seeds that served to choose", rows[~reported.loc[rows.index]]),
            ("other seeds", rows[reported.loc[rows.index]]),
        ):
            parts.append(f"\n## {title}: {which}\n\n{markdown(_against_vote(part[columns]))}")
        part = rows[reported.loc[rows.index]]
        each = part.groupby("study", sort=False)[columns].mean().round(3)
        parts.append(f"Mean over the other seeds, by study:\n\n{markdown(each)}")
    if "crowd" in table and table["crowd"].notna().any():
        crowds = table[table["crowd"].notna()].set_index("crowd")[[*LABELS, "chosen"]]
        parts.append(f"\n## Real crowds\n\n{markdown(crowds.round(4))}")
    path = RESULTS / "fusion_choice.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def _against_vote(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean, and how far above and below the majority vote."""
    gain = scores.sub(scores["majority vote"], axis=0)
    found = {
        "mean": scores.mean(),
        "gain over the vote": gain.mean(),
        "worst": gain.min(),
        "5 % are below": gain.quantile(0.05),
        "best": gain.max(),
        "share worse by 0.01": (gain < -0.01).mean(),
    }
    return pd.DataFrame(found).rename_axis("method").round(3)


def main() -> None:
    """Run what is missing and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of real crowds")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    read = parser.parse_args()
    jobs = all_jobs(read.data)
    results = RESULTS / "fusion_choice.jsonl"
    run_grid(work, jobs, results, processes=read.jobs)
    print(write_report(records_of(jobs, results), len(jobs)).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
