"""The arena: does the default ever do worse than majority vote, and how close to the truth is it?

    python benchmarks/arena.py            all regimes, dense and one label, three seeds: hours
    python benchmarks/arena.py --quick    two regimes, one seed: minutes

Truth is known and never used, neither in training nor in choosing anything, except by the ceiling
`truth`. All methods share backbone and data; the default makes a third more passes. It was chosen
on seeds 0 to 5, 10, 20 to 22 and 30; the tables, benchmarks/results/arena.md, are of `SEEDS`. A
change of how dense labels are learned was taken back for such runs after a look at these.
"""

from __future__ import annotations

import json
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from arena_fusion import fused_dice, with_pooled_staple
from arena_regimes import EPOCHS, REGIMES, Form, arena_dataset, margin_where_disputed
from grid import Job, as_table, grid_arguments, markdown, mean_std, records_of, run_grid
from multirater import fuse
from multirater.evaluation.case_scores import compare, squared_cm_error
from multirater.fuse.spatial_staple import local_confusion
from multirater.training import TrainConfig, train
from multirater.training.predictor import Predictor
from multirater.types import Case, Dataset

METHODS: dict[str, dict[str, Any]] = {
    "truth": {"method": "truth"},
    "mean": {"method": "mean"},
    "mode": {"method": "mode"},
    "staple": {"method": "staple"},
    "pooled-staple": {"method": "mean"},
    "spatial-staple": {"method": "spatial-staple"},
    "auto": {"method": "auto"},
}
BASELINES = ("mean", "mode", "staple", "pooled-staple", "spatial-staple")
SEEDS = (40, 41, 42)
FUSED = {"staple": fuse.staple, "spatial-staple": fuse.spatial_staple}
ROWS = ["form", "regime", "supply"]
CM_CASES = 60
"""Training cases whose confusion matrices are compared with the true ones."""


def settings(method: str, seed: int, epochs: int = EPOCHS) -> TrainConfig:
    """Return the settings of a run, the same for all methods."""
    return TrainConfig(
        **METHODS[method],
        channels=(16, 32, 64),
        n_features=16,
        epochs=epochs,
        batch_size=8,
        validation=0.1,
        seed=seed,
    )


def work(job: Job) -> dict[str, float]:
    """Train, and measure against the truth."""
    warnings.simplefilter("ignore")
    form: Form = job.get("form", "")
    dataset = arena_dataset(job["regime"], job["supply"], job["seed"], form)
    training = _without_test(dataset)
    prepared = with_pooled_staple(training) if job["method"] == "pooled-staple" else training
    config = settings(job["method"], job["seed"], REGIMES[job["regime"]].epochs(form))
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        started = time.process_time()
        train(prepared, run, config)
        seconds = time.process_time() - started
        predictor = Predictor(run)
        raters = pd.read_csv(run / "raters.csv", index_col="rater")
        trust = json.loads((run / "trust.json").read_text(encoding="utf-8"))
        fused = fused_dice(training, run) if job["method"] == "auto" else {}
    return {
        "Dice": _dice(predictor, [case for case in dataset if case.split == "test"]),
        "CM RMSE": _cm_error(job["method"], predictor, list(training)[:CM_CASES], dataset.raters),
        "skill rank": _rank(raters["skill"], _true_skill(list(training), dataset)),
        "is problem": any(each["level"] == "problem" for each in trust["findings"]),
        **{f"said: {each['code']}": each["level"] for each in trust["findings"] if each["code"]},
        "second opinion": _gap(trust),
        "CPU s": seconds,
        **fused,
    }


def _gap(trust: dict[str, Any]) -> float:
    """How far the network is above fixed filters, in Dice; NaN where nothing is said of it."""
    known = [e["numbers"]["gap"] for e in trust["findings"] if e["code"] == "second-opinion"]
    return float(known[0]) if known else float("nan")


def _without_test(dataset: Dataset) -> Dataset:
    return replace(dataset, cases=tuple(case for case in dataset if case.split == "train"))


def _dice(predictor: Predictor, cases: list[Case]) -> float:
    classes = predictor.data.classes
    scores = []
    for each in predictor.of_cases(cases, lambda _: ()):
        truth = each.case.read_truth()
        assert truth is not None
        scores.append(compare(truth.array, each.prediction.label, classes)["Dice", "all"])
    return float(np.mean(scores))


def _cm_error(
    method: str, predictor: Predictor, cases: list[Case], raters: tuple[str, ...]
) -> float:
    """Root mean square error of the matrices, at the labels that were given; NaN without any."""
    total, n = 0.0, 0
    for case, cm in _matrices(method, predictor, cases, raters):
        truth = case.read_truth()
        assert truth is not None
        for rater, matrix in zip(case.labels, cm, strict=True):
            squares, entries = squared_cm_error(truth.array, case.read_label(rater).array, matrix)
            total, n = total + squares, n + entries
    return float(np.sqrt(total / n)) if n else float("nan")


def _matrices(
    method: str, predictor: Predictor, cases: list[Case], raters: tuple[str, ...]
) -> Iterator[tuple[Case, Any]]:
    if method in FUSED:
        for case in cases:
            labels = case.read_labels()
            fused = FUSED[method](labels.array, len(predictor.data.classes))
            is_local = method == "spatial-staple"
            local = (local_confusion(drawn, fused.probability) for drawn in labels.array)
            yield case, local if is_local else fused.cm
    elif predictor.network.knows_raters:
        wanted = predictor.of_cases(cases, lambda case: [raters.index(r) for r in case.labels])
        for each in wanted:
            yield each.case, each.prediction.confusion


def _true_skill(cases: list[Case], dataset: Dataset) -> pd.Series[float]:
    """Mean recall over classes of each rater's labels, against the truth."""
    n = len(dataset.classes or ())
    counts = {rater: np.zeros((n, n)) for rater in dataset.raters}
    for case in cases:
        truth = case.read_truth()
        assert truth is not None
        for rater in case.labels:
            np.add.at(counts[rater], (truth.array, case.read_label(rater).array), 1)
    skill = {r: np.mean(np.diag(c) / np.maximum(c.sum(1), 1)) for r, c in counts.items()}
    return pd.Series(skill)


def _rank(estimated: pd.Series[float], true: pd.Series[float]) -> float:
    """Spearman correlation of skills; NaN for methods that know one rater only."""
    both = pd.concat([estimated, true], axis=1, join="inner").dropna()
    return float(spearmanr(both.iloc[:, 0], both.iloc[:, 1]).statistic) if len(both) > 2 else np.nan


def grid(quick: bool) -> list[Job]:
    """List the runs, seed by seed, without those that would only repeat another."""
    regimes = ["five", "spammers"] if quick else list(REGIMES)
    methods = ["truth", "mode", "auto"] if quick else list(METHODS)
    supplies = ["one"] if quick else ["one", "dense"]
    forms: dict[Form, Sequence[str]] = {"": methods}
    if not quick:
        forms |= {"few": ("auto", "truth", *BASELINES), "long": ("auto", "mode")}
    jobs = [
        {"regime": regime, "supply": supply, "method": method, "seed": seed}
        | ({"form": form} if form else {})
        for form, compared in forms.items()
        for seed in ((0,) if quick else SEEDS[:1] if form == "long" else SEEDS)
        for regime in regimes
        for supply in supplies
        for method in compared
        if method not in REPEATED[supply]
    ]
    # Long training last; the default, the vote and the ceiling before other fusions; seed by seed.
    first = ("auto", "mode", "truth")
    return sorted(
        jobs, key=lambda job: (job.get("form") == "long", job["method"] not in first, job["seed"])
    )


REPEATED = {"one": ("mean", "staple", "pooled-staple", "spatial-staple"), "dense": ("truth",)}
"""With one label per image all fusions are that label; the truth does not depend on the supply."""


def report(table: pd.DataFrame, n_missing: int) -> str:
    """Return the tables of all runs that are done."""
    rows = ROWS
    commits = ", ".join(sorted(set(table["commit"])))
    parts = [
        "# Arena\n\n`python benchmarks/arena.py`: "
        f"{len(table)} runs at {commits}, {n_missing} missing. Mean ± standard deviation over "
        f"{table['seed'].nunique()} seeds.\n",
        "## Dice of unseen images, %\n\n"
        + markdown(mean_std(table, rows, "method", "Dice", digits=1, scale=100)),
        "## The default against the best of the fusions that are there, points of Dice\n\n"
        + markdown(margins(table)),
        "## Fused labels of the labelled cases, Dice, %\n\nNo training but for `learned`, by "
        "network and raters; pooled: over the disputed pixels of all cases.\n\n"
        + markdown(fused(table)),
        "## Whether the trust statement calls a run a problem\n\nFailed: more than 3 points below "
        "the network on majority vote, or more than 5 below that on the truth.\n\n"
        + markdown(problems(table)),
        "## How far the right class leads where raters disagree\n\nDiagonal of the mean confusion "
        "matrix of the disputed pixels, above the largest other entry of the row; the smallest "
        "over classes and seeds. Above 0 the matrix is diagonally dominant there.\n\n"
        + markdown(leads(table)),
        "## Error of confusion matrices (root mean square)\n\n"
        + markdown(mean_std(table, rows, "method", "CM RMSE")),
        "## Rank correlation of estimated and true skill of raters\n\n"
        + markdown(mean_std(table, rows, "method", "skill rank", digits=2)),
        "## CPU time of training, relative to mode\n\n" + markdown(times(table)),
    ]
    return "\n".join(parts)


def margins(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the default with the best baseline and with the ceiling, by means over seeds."""
    means = 100 * table.pivot_table(index=ROWS, columns="method", values="Dice", sort=False)
    means["truth"] = means["truth"].groupby(["form", "regime"]).transform("max")
    known = [name for name in BASELINES if name in means]
    spread = 100 * table[table["method"] == "auto"].groupby(ROWS)["Dice"].std()
    found = pd.DataFrame(
        {
            "best baseline": means[known].dropna(how="all").idxmax(axis=1),
            "above it": (means["auto"] - means[known].max(axis=1)).round(1),
            "below the ceiling": (means["truth"] - means["auto"]).round(1),
            "std over seeds": spread.round(2),
        }
    )
    return found.reindex(means.index)


def fused(table: pd.DataFrame) -> pd.DataFrame:
    """Mean Dice of fused labels, and how far the best of the others is below `learned`."""
    columns = [name for name in table if name.startswith("fused: ")]
    found = 100 * table[table["method"] == "auto"].groupby(ROWS, sort=False)[columns].mean()
    found.columns = [name.removeprefix("fused: ") for name in columns]
    others = found.drop(columns="learned").max(axis=1)
    return found.assign(**{"learned above the best": found["learned"] - others}).round(1)


def problems(table: pd.DataFrame) -> pd.DataFrame:
    """Share of runs that are called a problem, among those that failed and those that did not."""
    vote = table[table["method"] == "mode"].set_index([*ROWS, "seed"])["Dice"].rename("vote")
    best = table[table["method"] == "truth"].groupby(["form", "regime", "seed"])["Dice"].max()
    known = table[table["method"] != "truth"].join(vote, on=[*ROWS, "seed"])
    known = known.join(best.rename("best"), on=["form", "regime", "seed"])
    known = known.dropna(subset=["vote", "best"])
    failed = (known["Dice"] < known["vote"] - 0.03) | (known["Dice"] < known["best"] - 0.05)
    known = known.assign(failed=np.where(failed, "failed", "not"))
    by = ["form", "method", "failed"]
    counted = known.groupby(by, sort=False)["is problem"].agg(["mean", "size"])
    named = counted.rename(columns={"mean": "called a problem", "size": "runs"})
    return named.round(2).sort_index()


def leads(table: pd.DataFrame) -> pd.DataFrame:
    """Smallest lead of the right class at disputed pixels, of each regime's raters."""
    known = table[["regime", "seed"]].drop_duplicates()
    lead = [
        margin_where_disputed(regime, seed)
        for regime, seed in zip(known["regime"], known["seed"], strict=True)
    ]
    found = known.assign(lead=lead).groupby("regime", sort=False)["lead"].min()
    return found.round(2).to_frame()


def times(table: pd.DataFrame) -> pd.DataFrame:
    """CPU time of each method over that of mode on the same data, by the median over runs."""
    wide = table.pivot_table(index=[*ROWS, "seed"], columns="method", values="CPU s", sort=False)
    return wide.div(wide["mode"], axis=0).groupby(ROWS, sort=False).median().round(2)


def main() -> None:
    """Run what is missing and write the tables."""
    arguments = grid_arguments(__doc__.splitlines()[0], "arena")
    jobs = grid(arguments.quick)
    if not arguments.report:
        run_grid(work, jobs, arguments.results, processes=arguments.jobs)
    records = records_of(jobs, arguments.results)
    table = as_table(records).assign(
        commit=[record["commit"] for record in records],
        form=[record["job"].get("form", "usual") for record in records],
    )
    path = arguments.results.with_suffix(".md")
    path.write_text(report(table, len(jobs) - len(records)), encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
