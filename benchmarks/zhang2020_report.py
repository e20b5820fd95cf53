"""The tables of Zhang 2020 as markdown, ours beside the printed ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from grid import Record, as_table, markdown, mean_std, mean_std_text, what_was_run

PAPER: dict[str, dict[str, tuple[str, str]]] = {
    "dense": {
        "mean labels": ("38.36", ""),
        "mode labels": ("62.89", ""),
        "Probabilistic U-Net": ("65.12", ""),
        "separate CNNs": ("70.44", ""),
        "STAPLE": ("78.03", "0.1241"),
        "Spatial STAPLE": ("78.96", "0.1195"),
        "global CMs": ("79.21", "0.1132"),
        "pixel CMs without trace": ("79.63", "0.1125"),
        "pixel CMs": ("82.92", "0.0893"),
        "oracle": ("83.29", "0.0238"),
    },
    "one": {
        "mean labels": ("32.79", ""),
        "STAPLE": ("54.07", "0.2617"),
        "Spatial STAPLE": ("56.73", "0.2384"),
        "global CMs": ("59.01", "0.1953"),
        "pixel CMs without trace": ("74.48", "0.1538"),
        "pixel CMs": ("76.48", "0.1329"),
    },
}
"""Dice in per cent and RMSE of confusion matrices on MNIST, Tables 1 and 2."""

PAPER_DISTANCE = {"Probabilistic U-Net": "1.46", "pixel CMs": "1.24"}
"""Generalised energy distance on MNIST, Table 3."""

WITH_RATERS = (
    "Probabilistic U-Net",
    "separate CNNs",
    "global CMs",
    "pixel CMs without trace",
    "pixel CMs",
    "low-rank CMs",
    "auto",
)
"""Methods that say what raters would draw."""


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write the tables beside the results and return their file.

    Args:
        records: of the jobs that are done.
        n_jobs: how many there are in all.
        arguments: of the command line.
    """
    runs = as_table([each for each in records if "method" in each["job"]])
    growth = as_table([each for each in records if "head" in each["job"]])
    parts = [heading(records, n_jobs, arguments)]
    if len(runs):
        digits = runs[runs["data"] == "digit"]
        of_tables = digits[(digits["strength"] == 1.0) & (digits["seed"] < n_seeds(digits))]
        parts += [tables_1_and_2(of_tables), table_3(of_tables)]
        parts += [figure_4(digits), many_seeds(digits)]
        parts += [table_6(runs[runs["data"] == "bands"])]
    if len(growth):
        parts += [figure_16(growth)]
    path: Path = arguments.results.with_suffix(".md")
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def heading(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> str:
    """Say what was run, how, at which commit, and what it took."""
    jobs = [each["job"] for each in records if "method" in each["job"]]
    ran = what_was_run("zhang2020", records, n_jobs, quick=arguments.quick)
    size = jobs[0] if jobs else {"n_train": 0, "n_test": 0, "epochs": 0}
    return (
        "# Zhang 2020 on digits with five simulated raters\n\n"
        f"{ran}\n\n"
        f"{size['n_train']} digits to train on (15 % of them held out to choose the epoch, without "
        f"truth), {size['n_test']} to test on, {size['epochs']} epochs, U-Net 16-32-64 of 16 "
        "features, one-cycle learning rate with peak 3e-3, batches of 32. Raters: good, over, "
        "under, wrong, blank, at strength 1. Mean ± standard deviation over seeds, which change "
        "labels, weights and held-out digits. The paper's values are for its own network, its own "
        "60 000 digits and its own simulated raters: only the order of the rows compares.\n"
    )


def n_seeds(digits: pd.DataFrame) -> int:
    """Return with how many seeds all methods were run, counted from 0: those of the ceiling."""
    return int(digits.loc[digits["method"] == "truth", "seed"].nunique())


def tables_1_and_2(digits: pd.DataFrame) -> str:
    """Dice and error of the confusion matrices, with all labels and with one per image."""
    parts = ["## Tables 1 and 2: segmentation and confusion matrices\n"]
    for supply, title in (("dense", "Every rater labels"), ("one", "One label per image")):
        chosen = digits[digits["supply"] == supply]
        rows = {
            method: {
                "Dice %": mean_std_text((100 * runs["Dice"]).tolist(), 1),
                "paper": PAPER[supply].get(method, ("", ""))[0],
                "CM RMSE": _cm_error(method, runs),
                "paper, RMSE": PAPER[supply].get(method, ("", ""))[1],
                "seconds": f"{runs['seconds'].mean():.0f}",
            }
            for method, runs in chosen.groupby("method", sort=False)
        }
        parts += [f"{title} (seeds: {n_seeds(digits)}):\n", _table(rows)]
    parts.append(
        "`truth` is trained on the truth: the ceiling. With one label per image `mode`, STAPLE and "
        "Spatial STAPLE of each image are that label, as in `mean`; the paper's two are "
        f"{PAPER['one']['STAPLE'][0]} and {PAPER['one']['Spatial STAPLE'][0]}. CM RMSE is over the "
        "row of the true class at every test pixel; methods without matrices of their own get one "
        "per rater, counted from their truth and the raters' labels in training. The oracle is "
        "given that row, so that there is nothing to measure. Spatial STAPLE has a window of 7 "
        "pixels, a quarter of the image: with one larger than a digit it is STAPLE.\n"
    )
    return "\n".join(parts)


def _cm_error(method: Any, runs: pd.DataFrame) -> str:
    return "given" if method == "oracle" else mean_std_text(runs["CM RMSE"].tolist(), 3)


def table_3(digits: pd.DataFrame) -> str:
    """Energy distance between what raters draw and what they are predicted to draw."""
    chosen = digits[digits["method"].isin(WITH_RATERS)]
    parts = ["## Table 3: generalised energy distance of the predicted raters (less is better)\n"]
    by_dice = mean_std(chosen, "method", "supply", "energy distance (Dice)")
    by_dice["paper, dense"] = [PAPER_DISTANCE.get(method, "") for method in by_dice.index]
    parts += ["With 1 - Dice as distance:\n", markdown(by_dice)]
    by_iou = mean_std(chosen, "method", "supply", "energy distance (IoU)")
    parts += ["With 1 - IoU as distance:\n", markdown(by_iou)]
    return "\n".join(parts)


def figure_4(digits: pd.DataFrame) -> str:
    """Dice as the raters err more and more."""
    parts = ["## Fig. 4: raters who err more and more\n"]
    for supply, title in (("dense", "every rater labels"), ("one", "one label per image")):
        chosen = digits[digits["supply"] == supply]
        swept = chosen[chosen["strength"] != 1.0]
        if swept.empty:
            continue
        same = chosen["method"].isin(swept["method"]) & chosen["seed"].isin(swept["seed"])
        chosen = chosen[same].sort_values("strength")
        raters = chosen.groupby("strength")["rater Dice"].mean()
        chosen = chosen.assign(
            raters=[f"{s:g} (Dice {100 * raters[s]:.0f} %)" for s in chosen["strength"]]
        )
        table = mean_std(chosen, "raters", "method", "Dice", digits=1, scale=100)
        table.index.name = "strength (mean rater)"
        parts += [f"Dice %, {title}:\n", markdown(table)]
    return "\n".join(parts)


def many_seeds(digits: pd.DataFrame) -> str:
    """Whether the method with confusion matrices collapses or swaps classes with any seed."""
    chosen = digits[(digits["strength"] == 1.0) & (digits["method"] == "pixel CMs")]
    rows = {}
    for supply, runs in chosen.groupby("supply", sort=False):
        collapsed = runs["true positives"] < 0.1
        swapped = runs["false positives"] > runs["true positives"]
        rows[supply] = {
            "seeds": len(runs),
            "Dice %": mean_std_text((100 * runs["Dice"]).tolist(), 1),
            "lowest": f"{100 * runs['Dice'].min():.1f}",
            "highest": f"{100 * runs['Dice'].max():.1f}",
            "collapsed": int(collapsed.sum()),
            "swapped": int(swapped.sum()),
        }
    explained = (
        "Collapsed: less than a tenth of the true foreground is found. Swapped: more of the true "
        "background than of the true foreground is called foreground.\n"
    )
    return "\n".join(["## Seeds of pixel CMs\n", _table(rows, "labels"), explained])


def table_6(bands: pd.DataFrame) -> str:
    """Full against low-rank matrices, four classes."""
    rows = {
        method: {
            "Dice %": mean_std_text((100 * runs["Dice"]).tolist(), 1),
            "CM RMSE": mean_std_text(runs["CM RMSE"].tolist(), 3),
            "seconds": f"{runs['seconds'].mean():.0f}",
        }
        for method, runs in bands.groupby("method", sort=False)
    }
    explained = (
        "Digits whose upper, middle and lower third are classes of their own, each of another "
        "brightness; four raters (good, over, under, wrong), each redrawing one class. "
        "In the paper, on BraTS: full 53.47 and 0.1185, rank 1 50.56 and 0.1925.\n"
    )
    return "\n".join(["## Table 6: low rank against full, four classes\n", explained, _table(rows)])


def figure_16(growth: pd.DataFrame) -> str:
    """What matrices cost as classes become more."""
    rows = {}
    for n_classes, both in growth.groupby("n_classes"):
        by_head = both.set_index("head")
        rows[int(n_classes)] = {
            f"{name}, {head}": f"{by_head.loc[head, name]:.0f}" if head in by_head.index else "-"
            for name in ("values", "parameters", "flops", "bytes")
            for head in ("pixel", "low-rank")
        } | {
            "paper's FLOPs, full": (2 * n_classes - 1) * n_classes,
            "paper's FLOPs, rank 1": 4 * n_classes * 3 // 4 - 1,
        }
    explained = (
        "Per rater; values, FLOPs and bytes per pixel too. Values are what the head says of a "
        "pixel (the paper's parameters); FLOPs are the matrix products of a training step of the "
        "head, forward, backward and forward again, as torch counts them; bytes are what autograd "
        "keeps for the backward pass, where no matrix is kept. The paper's FLOPs are the product "
        "of matrix and probabilities alone.\n"
    )
    title = "## Fig. 16: cost of the matrices by number of classes\n"
    return "\n".join([title, explained, _table(rows, "classes")])


def _table(rows: dict, name: str = "method") -> str:
    return markdown(pd.DataFrame.from_dict(rows, orient="index").rename_axis(name))
