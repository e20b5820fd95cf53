"""The tables of the arena of class labels."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from grid import Record, as_table, markdown, mean_std, what_was_run

CELL = ["regime", "data", "supply"]
BASELINES = ("majority", "mean", "dawid-skene")
FUSIONS = ("vote", "one-coin", "MACE", "Dawid-Skene")
FIRST_REPORTED = 10
"""Seeds from here on were not looked at while anything was chosen."""

BELOW_VOTE, BELOW_CEILING = 0.03, 0.05
"""How far below a network on the vote, or on the truth, a run has failed."""


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write all tables beside the results."""
    table = as_table(records)
    reported = table[table["seed"] >= FIRST_REPORTED]
    if reported.empty:
        reported = table
    trained = reported[reported["method"] != "fusions"]
    parts = [
        "# Arena of class labels\n\n"
        + what_was_run("class_arena", records, n_jobs, quick=arguments.quick)
        + f" Mean ± standard deviation over seeds {seeds_of(reported)}.\n",
        "## Accuracy on unseen items, %\n\n"
        + markdown(mean_std(trained, CELL, "method", "accuracy", digits=1, scale=100)),
        "## The default against the best of majority, mean and Dawid-Skene, then train; points\n\n"
        + markdown(margins(trained)),
        "## The label of network and raters (`fuse --method learned`) on the labelled items, %\n\n"
        "`learned` is that of `auto`.\n\n" + markdown(fused(reported)),
        "## Error of confusion matrices (Tanno 2019)\n\n`fusions` is Dawid-Skene without a "
        "network.\n\n" + markdown(mean_std(reported, CELL, "method", "CM error")),
        "## Rank correlation of estimated and true skill of raters\n\n"
        + markdown(mean_std(reported, CELL, "method", "skill rank", digits=2)),
        "## CPU time of training, relative to majority\n\n" + markdown(times(trained)),
        "## The trust statement as a test\n\n" + trust_text(table),
    ]
    path: Path = arguments.results.with_suffix(".md")
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def seeds_of(table: pd.DataFrame) -> str:
    """Name the seeds of a table."""
    return ", ".join(map(str, sorted(set(table["seed"]))))


def margins(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the default with the best baseline and with the ceiling, by means over seeds."""
    every = wide(table, "accuracy")
    known = [name for name in BASELINES if name in every]
    # Seeds on which the default has not been run yet would only move the baselines.
    every = every[every["auto"].notna() & every[known].notna().any(axis=1)]
    means = every.groupby(CELL, sort=False).mean()
    return pd.DataFrame(
        {
            "seeds": every.groupby(CELL, sort=False).size(),
            "auto": means["auto"].round(1),
            "best baseline": means[known].idxmax(axis=1),
            "above it": (means["auto"] - means[known].max(axis=1)).round(1),
            "below the ceiling": (means["truth"] - means["auto"]).round(1),
        }
    )


def wide(table: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return a figure in per cent, a row per cell and seed, a column per method.

    The ceiling does not depend on raters, and stands in all rows of its items.
    """
    found = 100 * table.pivot_table(
        index=[*CELL, "seed"], columns="method", values=value, sort=False
    )
    if "truth" in found:
        found["truth"] = found["truth"].groupby(["data", "seed"]).transform("max")
    return found


def fused(table: pd.DataFrame) -> pd.DataFrame:
    """Compare fused labels, by means over seeds."""
    key = [*CELL, "seed"]
    without = table[table["method"] == "fusions"].set_index(key)[list(FUSIONS)]
    learned = table[table["method"] == "auto"].set_index(key)["learned"]
    beside = without.assign(learned=learned).dropna()
    both = (100 * beside.groupby(CELL, sort=False).mean()).round(1)
    return both.assign(above=(both["learned"] - both[list(FUSIONS)].max(axis=1)).round(1))


def times(table: pd.DataFrame) -> pd.DataFrame:
    """CPU time of each method over that of majority on the same data, by the median over runs."""
    found = wide(table, "CPU s")
    return found.div(found["majority"], axis=0).groupby(CELL, sort=False).median().round(2)


def failures(table: pd.DataFrame) -> pd.DataFrame:
    """Return every run but the ceiling's, with whether it failed and what it says of itself."""
    runs = table[~table["method"].isin(["fusions", "truth"]) & table["trust"].notna()].copy()
    accuracy = wide(table[table["method"] != "fusions"], "accuracy") / 100
    beside = accuracy.reindex(pd.MultiIndex.from_frame(runs[[*CELL, "seed"]]))
    below_vote = beside["majority"].to_numpy() - runs["accuracy"].to_numpy()
    below_truth = beside["truth"].to_numpy() - runs["accuracy"].to_numpy()
    return runs.assign(
        failed=(below_vote > BELOW_VOTE) | (below_truth > BELOW_CEILING),
        alarm=runs["trust"] == "problem",
    )


def trust_text(table: pd.DataFrame) -> str:
    """Say how often failed and good runs are called a problem."""
    runs = failures(table)
    is_new = runs["seed"] >= FIRST_REPORTED
    parts = []
    for name, part in (("chosen on", runs[~is_new]), ("reported", runs[is_new])):
        if part.empty:
            continue
        by = part.groupby(["supply", "method", "failed"])["alarm"].agg(["sum", "count"])
        both = part.groupby("failed")["alarm"].agg(["mean", "count"])
        parts.append(f"Seeds {seeds_of(part)} ({name}). {_shares(both)}\n\n{markdown(by)}")
    return "\n".join(parts)


def _shares(both: pd.DataFrame) -> str:
    words = {True: "failed", False: "good"}
    said = [
        f"{both.loc[failed, 'mean']:.0%} of {int(both.loc[failed, 'count'])} {word} runs"
        for failed, word in words.items()
        if failed in both.index
    ]
    return "Called a problem: " + ", ".join(said) + "."
