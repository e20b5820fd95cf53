"""Which number says how good a rater is: measures held against the true quality of raters.

    python benchmarks/rater_measures.py --data ../../shared/data/crowd

True quality is Dice with the truth (mean over cases) of drawings and the share of right answers of
class labels; a measure is as good as its rank correlation with it. Measures need no truth: they
compare raters with a fusion, of all raters or without the rater who is judged. Studies are those
of `rater_studies.py` with five raters or more, and real crowds (`--data`). Seeds 300 and up served
to choose, seeds 400 and up are reported. Results go to
benchmarks/results/rater_measures.jsonl, tables to rater_measures.md.
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
from numpy.typing import NDArray
from scipy.stats import spearmanr

from crowds import read_crowd
from grid import RESULTS, Job, Record, as_table, markdown, records_of, run_grid, what_was_run
from multirater import fuse
from multirater.fuse.answers import answers_from_rows
from multirater.fuse.expectation import posterior_of
from multirater.fuse.left_out import left_out_vote
from multirater.fuse.quality import MANY, case_quality
from multirater.metrics import confusion_counts, pairwise_scores, skill_score
from multirater.patterns import Patterns, encode_patterns
from multirater.types import MISSING
from rater_studies import CLASSES, DRAWINGS, Study, study

FEWEST = 5
"""Raters from which on a rank correlation says something."""

DATA = "MULTIRATER_CROWDS"
"""Environment variable with the folder of real crowds, for the processes that run jobs."""

CHOSEN, REPORTED = range(300, 304), range(400, 406)

Array = NDArray[np.float64]
Reference = list[NDArray[np.int64]]
"""By case, the class of each row of patterns, (n_rows, n_raters)."""

FUSIONS: dict[str, dict[str, Callable[..., Any]]] = {
    "masks": {
        "majority vote": fuse.majority_vote,
        "weighted vote": fuse.weighted_vote,
        "STAPLE": fuse.staple,
        "STAPLE, disputed pixels": lambda *a, **k: fuse.staple(*a, disputed_only=True, **k),
    },
    "classes": {
        "majority vote": fuse.majority_vote,
        "Dawid-Skene": lambda *a, **k: fuse.dawid_skene(*a, dirichlet=1.0, **k),
    },
}


def work(job: Job) -> dict[str, float]:
    """Return the rank correlation of every measure by every fusion, and how good the fusion is."""
    warnings.simplefilter("ignore")
    if "crowd" in job:
        return correlations(read_crowd_study(Path(os.environ[DATA]) / job["crowd"]))
    return correlations(study(job["study"], job["seed"]))


def correlations(found: Study) -> dict[str, float]:
    """Hold every measure against the true quality; keys are `fusion: measure`."""
    cases = [encode_patterns(case) for case in _by_case(found)]
    true = true_quality(found)
    known = {"agreement with single raters": agreement_with_each(found, cases)}
    for name, method in FUSIONS["masks" if found.is_masks else "classes"].items():
        result = method(
            np.concatenate([case.rows for case in cases]).T,
            found.n_classes,
            weights=np.concatenate([case.counts for case in cases]),
        )
        for measure, values in measures(found, cases, result).items():
            known[f"{name}: {measure}"] = values
    return {name: rank_correlation(values, true) for name, values in known.items()}


def measures(found: Study, cases: Sequence[Patterns], result: Any) -> dict[str, Array]:
    """Return every measure of every rater, (n_raters,) each, by a pooled fusion."""
    left_out = [left_out_labels(case.rows, result) for case in cases]
    ends = np.cumsum([len(case.rows) for case in cases])[:-1]
    everyone = [
        np.repeat(np.asarray(part)[:, None], found.labels.shape[1], 1)
        for part in np.split(result.label, ends)
    ]
    counts = _counts(found, cases, left_out)
    disputed = _counts(found, [_disputed(case) for case in cases], left_out)
    return {
        "quality": _quality(found, cases, left_out),
        "quality, own say": _quality(found, cases, everyone),
        "quality of all cases at once": _pooled(found, counts),
        "mean diagonal, own say": _skill(_counts(found, cases, everyone)),
        "mean diagonal": _skill(counts),
        "mean diagonal, disputed": _skill(disputed),
        "kappa, disputed": _kappa(disputed),
        "information": _information(counts),
    }


def left_out_labels(rows: NDArray[np.int64], result: Any) -> NDArray[np.int64]:
    """Return the fused label of each row without each rater, (n_rows, n_raters).

    Weights of a vote and confusion matrices stay as they were estimated from all raters.
    """
    n_classes = len(result.classes)
    if result.weight is not None:
        return left_out_vote(rows, result.weight, n_classes)
    answers = answers_from_rows(rows, np.ones(len(rows)), n_classes)
    log_posterior = np.log(np.maximum(posterior_of(answers, result.cm, result.prior), 1e-36))
    log_cm = np.log(np.maximum(result.cm, 1e-12))
    given = rows != MISSING
    found = np.full(rows.shape, MISSING, dtype=np.int64)
    for rater, said in enumerate(rows.T):
        own = np.where(given[:, rater, None], log_cm[rater].T[np.maximum(said, 0)], 0.0)
        found[:, rater] = (log_posterior - own).argmax(1)
    return np.where(given.sum(1)[:, None] - given > 0, found, MISSING)


def agreement_with_each(found: Study, cases: Sequence[Patterns]) -> Array:
    """Mean agreement with every other rater, one by one."""
    scores = []
    for case in cases:
        if found.is_masks:
            pairs = pairwise_scores(case.rows.T, weights=case.counts)
        else:
            pairs = _alike(case, found.n_classes)
        np.fill_diagonal(pairs, np.nan)
        scores.append(pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(np.concatenate(scores, axis=1), axis=1)


def _alike(case: Patterns, n_classes: int) -> Array:
    """Share of the items that two raters labelled alike, (n_raters, n_raters)."""
    said = [(case.rows == k).astype(float) for k in range(n_classes)]
    given = sum(said)
    alike = sum(each.T @ (each * case.counts[:, None]) for each in said)
    both = given.T @ (given * case.counts[:, None])
    return np.where(both > 0, alike / np.maximum(both, 1), np.nan)


def _quality(found: Study, cases: Sequence[Patterns], reference: Reference) -> Array:
    scores = [
        case_quality(case.rows, case.counts, true, found.n_classes, is_mask=found.is_masks)
        for case, true in zip(cases, reference, strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(scores, axis=0)


def _counts(found: Study, cases: Sequence[Patterns], reference: Reference) -> Array:
    """Items of all cases, (n_raters, true, observed)."""
    n_raters = found.labels.shape[1]
    total = np.zeros((n_raters, found.n_classes, found.n_classes))
    for case, true in zip(cases, reference, strict=True):
        for rater in range(n_raters):
            total[rater] += confusion_counts(
                true[:, rater], case.rows[:, rater], found.n_classes, weights=case.counts
            )
    return total


def _disputed(case: Patterns) -> Patterns:
    """Let patterns on which all agree count nothing."""
    lowest = np.where(case.rows == MISSING, case.rows.max(), case.rows).min(1)
    return Patterns(case.rows, np.where(lowest < case.rows.max(1), case.counts, 0), case.index)


def _pooled(found: Study, counts: Array) -> Array:
    if not found.is_masks:
        return np.trace(counts, axis1=1, axis2=2) / np.maximum(counts.sum((1, 2)), 1)
    right = np.diagonal(counts, axis1=1, axis2=2)
    return (2 * right / np.maximum(counts.sum(1) + counts.sum(2), 1))[:, 1:].mean(1)


def _skill(counts: Array) -> Array:
    rows = counts.sum(2, keepdims=True)
    return skill_score(np.where(rows > 0, counts / np.maximum(rows, 1e-9), np.nan))


def _kappa(counts: Array) -> Array:
    total = np.maximum(counts.sum((1, 2)), 1e-9)
    seen = np.trace(counts, axis1=1, axis2=2) / total
    chance = (counts.sum(1) * counts.sum(2)).sum(1) / total**2
    return (seen - chance) / np.maximum(1 - chance, 1e-9)


def _information(counts: Array) -> Array:
    """Share of the reference's entropy that the rater's label tells."""
    joint = counts / np.maximum(counts.sum((1, 2), keepdims=True), 1e-9)
    true, said = joint.sum(2, keepdims=True), joint.sum(1, keepdims=True)
    ratio = np.where(joint > 0, joint / np.maximum(true * said, 1e-300), 1)
    entropy = -(true * np.log(np.maximum(true, 1e-300))).sum((1, 2))
    return (joint * np.log(ratio)).sum((1, 2)) / np.maximum(entropy, 1e-9)


def true_quality(found: Study) -> Array:
    """Dice with the truth, mean over cases, or the share of right answers, (n_raters,)."""
    truth = found.truth if found.is_masks else [found.truth]
    cases = [
        encode_patterns([*case, true]) for case, true in zip(_by_case(found), truth, strict=True)
    ]
    scores = [
        case_quality(
            case.rows[:, :-1],
            case.counts,
            case.rows[:, -1],
            found.n_classes,
            is_mask=found.is_masks,
        )
        for case in cases
    ]
    return np.nanmean(scores, axis=0)


def _by_case(found: Study) -> Sequence[Any]:
    """Labels (n_raters, *items) of each case; class labels of all cases are one."""
    return found.labels if found.is_masks else [found.labels.T]


def rank_correlation(values: Array, true: Array) -> float:
    """Spearman's, over the raters of whom both are known."""
    known = ~(np.isnan(values) | np.isnan(true))
    return float(spearmanr(values[known], true[known]).statistic) if known.sum() > 2 else np.nan


def read_crowd_study(folder: Path) -> Study:
    """Read a real crowd, see `crowds.py`."""
    answers, truth = read_crowd(folder)
    wide = answers.pivot_table(index="task", columns="worker", values="label", aggfunc="first")
    labels = wide.reindex(truth.index).fillna(MISSING).to_numpy().astype(np.int16)
    return Study(labels, truth.to_numpy().astype(np.int16), int(max(labels.max(), truth.max())) + 1)


def all_jobs(data: Path | None) -> list[Job]:
    """Return the jobs: studies that choose, studies that are reported, and real crowds."""
    names = [*DRAWINGS, *CLASSES]
    jobs: list[Job] = [
        {"study": name, "seed": seed}
        for seeds in (CHOSEN, REPORTED)
        for name in names
        if study(name, seeds[0]).labels.shape[1] >= FEWEST
        for seed in seeds
    ]
    if data is not None:
        crowds = sorted(each.name for each in data.iterdir() if (each / "truth.csv").is_file())
        os.environ[DATA] = str(data.resolve())
        jobs += [{"crowd": name} for name in crowds]
    return jobs


def write_report(records: Sequence[Record], n_jobs: int) -> Path:
    """Write the tables."""
    table = as_table(records)
    table["as shown: quality"] = [_shown(row) for _, row in table.iterrows()]
    parts = [
        "# Measures of a rater\n",
        what_was_run("rater_measures", records, n_jobs, quick=False) + "\n",
        "Rank correlation of each measure with the true quality of raters (Dice with the truth of "
        "drawings, share of right answers of class labels). The measures compare a rater with the "
        "fusion named, without the rater but for *own say*.\n",
    ]
    drawn, reported = table["study"].isin(DRAWINGS), table["seed"] >= REPORTED[0]
    for title, rows in (
        ("Drawings, seeds that served to choose: mean over studies", table[drawn & ~reported]),
        ("Drawings, other seeds: mean over studies", table[drawn & reported]),
        (
            "Class labels, seeds that served to choose",
            table[table["study"].isin(CLASSES) & ~reported],
        ),
        ("Class labels, other seeds", table[table["study"].isin(CLASSES) & reported]),
    ):
        if len(rows):
            parts.append(f"## {title}\n\n{markdown(_summary(rows))}")
    columns = [str(name) for name in table if str(name).endswith(": quality")]
    names = {name: name.removesuffix(": quality") for name in columns}
    for title, rows in (
        ("Quality by study, drawings, other seeds", table[drawn & reported]),
        (
            "Quality by study, class labels, other seeds",
            table[table["study"].isin(CLASSES) & reported],
        ),
    ):
        if len(rows):
            each = rows.groupby("study", sort=False)[columns].mean().dropna(axis=1, how="all")
            parts.append(f"## {title}\n\n{markdown(each.rename(columns=names).round(2))}")
    if "crowd" in table and table["crowd"].notna().any():
        crowds = table[table["crowd"].notna()]
        parts += [
            f"## Crowd {row['crowd']}\n\n{markdown(_summary(crowds[crowds.index == index]))}"
            for index, row in crowds.iterrows()
        ]
    path = RESULTS / "rater_measures.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def _shown(row: pd.Series) -> float:
    """Quality as `raters.csv` has it: by the majority vote of many, the weighted vote of few."""
    if row["study"] not in DRAWINGS:
        return row["Dawid-Skene: quality"]
    made = DRAWINGS[row["study"]]
    n_labels = made.most or len(made.raters(int(row["seed"])))
    return row[f"{'majority' if n_labels >= MANY else 'weighted'} vote: quality"]


def _summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean and least rank correlation of each measure, by fusion."""
    values = rows[[name for name in rows if ": " in str(name)]].dropna(axis=1, how="all")
    cells: dict[str, dict[str, str]] = {}
    for name in values:
        fusion, measure = str(name).split(": ")
        each = values[name]
        cells.setdefault(measure, {})[fusion] = _cell(each)
    each = rows["agreement with single raters"]
    cells["agreement with single raters"] = {
        fusion: _cell(each) for fusion in [*cells["quality"]][:1]
    }
    return pd.DataFrame(cells).T.rename_axis("measure").fillna("-")


def _cell(values: pd.Series) -> str:
    least = f" (least {values.min():.2f})" if len(values) > 1 else ""
    return f"{values.mean():.2f}{least}"


def main() -> None:
    """Run what is missing and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of real crowds")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    read = parser.parse_args()
    jobs = all_jobs(read.data)
    results = RESULTS / "rater_measures.jsonl"
    run_grid(work, jobs, results, processes=read.jobs)
    print(write_report(records_of(jobs, results), len(jobs)).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
