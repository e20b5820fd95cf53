"""What an expert's last word on the most disputed cases is worth, beside one more rater everywhere.

    python benchmarks/adjudication.py

Studies are the regimes of the arena (drawings: Dice with the truth, mean over cases) and of the
arena of class labels on vectors (share of right labels). An expert who knows the truth decides the
5 % of the cases that `multirater view --adjudicate` shows first; their decisions are gold labels of
`fuse`, which chooses its method by itself. Beside it: the majority vote, the same with one more
label of every case, by a rater like one of those there are (each in turn; the mean counts, and the
best of them is told), and the fusion without gold labels. Results go to
benchmarks/results/adjudication.jsonl, tables to adjudication.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import arena_regimes
import class_arena_regimes
from arena_fusion import stacked
from grid import (
    RESULTS,
    Job,
    Record,
    as_table,
    grid_arguments,
    markdown,
    run_and_report,
    what_was_run,
)
from multirater import fuse
from multirater.dataset_disagreement import disagreements
from multirater.fuse.choice import choice_of, choose_method
from multirater.fuse.methods import method_named
from multirater.io.survey import survey
from multirater.metrics import dice_score
from multirater.simulate import simulate_class_labels
from multirater.types import MISSING, Dataset

SHARE = 0.05
SEEDS = range(700, 705)
MOST_OTHERS = 6
"""Raters that one more may be like; of forty, these."""

CLASSES = [name for name, each in class_arena_regimes.REGIMES.items() if not each.only_hard]
VOTE, MORE, BEST = "vote", "vote, one more rater", "the best one more"
FUSED, GOLD, VOTE_GOLD = "fuse", "fuse, 5 % decided", "vote, 5 % decided"
COLUMNS = [VOTE, MORE, BEST, FUSED, VOTE_GOLD, GOLD]


def work(job: Job) -> dict[str, float]:
    """Score every way to label one study."""
    warnings.simplefilter("ignore")
    name, seed = job["regime"], job["seed"]
    if job["labels"] == "drawings":
        dataset = arena_regimes.arena_dataset(name, "dense", seed)
        more = _more_drawings(name, seed)
    else:
        dataset = class_arena_regimes.class_arena_dataset(name, "vectors", "dense", seed)
        more = _more_answers(name, seed)
    dataset = replace(dataset, cases=tuple(case for case in dataset if case.labels))
    decided = with_disputed_decided(dataset, SHARE)
    labels = stacked(dataset)
    extra = [_score(dataset, _vote(np.concatenate([labels, each[None]]))) for each in more]
    return {
        VOTE: _score(dataset, _vote(labels)),
        MORE: float(np.mean(extra)),
        BEST: float(np.max(extra)),
        FUSED: _score(dataset, _fused(dataset)),
        VOTE_GOLD: _score(dataset, _fused(decided, "majority-vote")),
        GOLD: _score(dataset, _fused(decided)),
        "decided": float(sum(case.gold is not None for case in decided)),
        "cases": float(len(dataset)),
    }


def with_disputed_decided(dataset: Dataset, share: float) -> Dataset:
    """Return the study with the truth for a gold label of its most disputed cases."""
    apart = np.nan_to_num(disagreements(survey(dataset)), nan=-1.0)
    first = set(np.argsort(-apart, kind="stable")[: round(share * len(dataset))].tolist())
    cases = tuple(
        replace(case, gold=case.truth) if number in first else case
        for number, case in enumerate(dataset)
    )
    return replace(dataset, cases=cases)


def _fused(dataset: Dataset, method: str | None = None) -> NDArray[Any]:
    """Fuse as `fuse_dataset` does, without writing files."""
    assert dataset.classes is not None
    choice = choice_of(method, {}, choose_method(dataset))
    gold = [case.read_gold() for case in dataset]
    labels, known = stacked(dataset), {}
    if any(gold):
        none = np.full(labels.shape[2:], MISSING, dtype=np.int16)
        known = {"gold": np.stack([none if each is None else each.array for each in gold])}
    fuser = method_named(choice.method)
    return np.asarray(fuser(labels, len(dataset.classes), **choice.options, **known).label)


def _vote(labels: NDArray[np.int16]) -> NDArray[Any]:
    return np.asarray(fuse.majority_vote(labels).label)


def _score(dataset: Dataset, label: Sequence[NDArray[Any]] | NDArray[Any]) -> float:
    found = []
    for case, each in zip(dataset, label, strict=True):
        truth = case.read_truth()
        assert truth is not None
        is_class = dataset.kind == "classes"
        found.append(
            float(truth.array == each) if is_class else float(dice_score(truth.array, each))
        )
    return float(np.mean(found))


def _more_drawings(name: str, seed: int) -> Iterator[NDArray[np.int16]]:
    """Yield the labels of one more rater, (n_cases, *space), like each of those there are."""
    regime = arena_regimes.REGIMES[name]
    n_train = regime.n_train()
    _, truth = regime.images(seed, n_train, arena_regimes.N_TEST)
    raters, pool = regime.raters(seed), truth[:n_train]
    random = np.random.default_rng([seed, 20])
    for number in random.permutation(len(raters))[:MOST_OTHERS].tolist():
        drawn = [
            raters[number](each, int(random.integers(2**30)), pool).astype(np.int16)
            for each in pool
        ]
        yield np.stack(drawn)


def _more_answers(name: str, seed: int) -> Iterator[NDArray[np.int16]]:
    items = class_arena_regimes.DATA["vectors"](seed)
    cm = class_arena_regimes.REGIMES[name].raters(items.n_classes, seed)
    random = np.random.default_rng([seed, 20])
    truth = items.truth[: items.n_train]
    for number in random.permutation(len(cm))[:MOST_OTHERS].tolist():
        own = int(random.integers(2**30))
        yield simulate_class_labels(truth, cm[number : number + 1], seed=own)[0].astype(np.int16)


def all_jobs(seeds: Sequence[int] = SEEDS) -> list[Job]:
    """Return the jobs: every regime with every seed."""
    named = [("drawings", name) for name in arena_regimes.REGIMES]
    named += [("class labels", name) for name in CLASSES]
    return [
        {"labels": labels, "regime": name, "seed": seed} for seed in seeds for labels, name in named
    ]


def write_report(records: Sequence[Record], n_jobs: int, arguments: Any) -> Path:
    """Write the tables."""
    table = as_table(records)
    parts = ["# The last word of an expert\n"]
    parts.append(what_was_run("adjudication", records, n_jobs, quick=arguments.quick))
    for labels, measure in (("drawings", "Dice"), ("class labels", "share that is right")):
        rows = table[table["labels"] == labels]
        found = rows.groupby("regime", sort=False)[COLUMNS].mean()
        gain = rows.assign(gain=rows[GOLD] - rows[MORE]).groupby("regime", sort=False)["gain"]
        found["gain"], found["worst seed"] = gain.mean(), gain.min()
        n_level = int((found["gain"] >= 0).sum())
        parts.append(f"\n## {labels.capitalize()}: {measure}, mean over seeds\n")
        parts.append(markdown(found.round(3)))
        parts.append(
            f"`gain` is of `{GOLD}` over `{MORE}`: not below zero in {n_level} of {len(found)} "
            f"regimes, in {int((rows[GOLD] >= rows[MORE]).sum())} of {len(rows)} studies.\n"
        )
    path = RESULTS / f"adjudication{'-quick' if arguments.quick else ''}.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def main() -> None:
    """Run what is missing and write the tables."""
    arguments = grid_arguments("What an expert's last word is worth.", "adjudication")
    seeds = SEEDS[:1] if arguments.quick else SEEDS
    run_and_report(work, all_jobs(seeds), arguments, write_report)


if __name__ == "__main__":
    main()
