"""The tables of the Coarse paper as markdown, ours beside the printed ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from grid import Record, as_table, markdown, mean_std, mean_std_text, what_was_run

MIOU = "mIoU"
ROWS = {
    ("grabcut", 1.0): ("GrabCut, then U-Net", "75.2"),
    ("random-walker", 1.0): ("random walker, then U-Net (paper: LazySnapping)", "78.5"),
    ("grabcut-boxes", 1.0): ("GrabCut in boxes, then U-Net (not BoxSup, which alternates)", "78.5"),
    ("positive-only", 1.0): ("positive drawings only, the rest is background", "77.2"),
    ("partial", 1.0): ("partial cross-entropy, positive and negative", "-"),
    ("coarse", 0.01): ("coarse, positive and negative scribbles", "75.3"),
    ("coarse", 1.0): ("coarse, positive and negative", "82.5"),
}
"""Rows of Tables 1 and 2 on MNIST: our name and the printed mIoU in per cent."""


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write the tables beside the results and return their file.

    Args:
        records: of the jobs that are done.
        n_jobs: how many there are in all.
        arguments: of the command line.
    """
    parts = [heading(records, n_jobs, arguments)]
    runs = as_table(records)
    if len(runs):
        digits = runs[runs["data"] == "digits"]
        drawn = digits[(digits["masks"] == 0) & (digits["method"] != "truth")]
        parts += [tables_1_and_2(drawn), table_3(digits), sweep(drawn)]
        parts += [vessels(runs[runs["data"] == "CHASE_DB1"])]
    path: Path = arguments.results.with_suffix(".md")
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    return path


def heading(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> str:
    """Say what was run, how, at which commit, and what it took."""
    ran = what_was_run("coarse", records, n_jobs, quick=arguments.quick)
    return (
        f"# Coarse drawings\n\n{ran} mIoU in per cent on "
        "unseen images, background included, mean ± standard deviation over seeds.\n\n"
        "Digits are MNIST with the mask of each as truth; each seed has digits and drawings of its "
        "own, none of which were looked at while the method was made. The same U-Net (16, 32, 64 "
        "channels) and schedule for all. The paper's figures are printed beside for "
        "orientation: its network, noise and baselines are not published.\n"
    )


def tables_1_and_2(runs: pd.DataFrame) -> str:
    """Ways to use coarse drawings."""
    rows = []
    for (method, ratio), (name, printed) in ROWS.items():
        found = runs[(runs["method"] == method) & (runs["ratio"] == ratio)][MIOU]
        if len(found):
            ours = mean_std_text((found * 100).tolist(), 1)
            rows.append({"digits": name, "mIoU": ours, "paper": printed})
    title = "## Tables 1 and 2: ways to use coarse drawings of 400 digits\n\n"
    return title + markdown(pd.DataFrame(rows).set_index("digits")) if rows else ""


def table_3(runs: pd.DataFrame) -> str:
    """Masks, drawings, and both."""
    usual = runs[runs["ratio"] == 1.0]
    kinds = {
        "coarse": usual[(usual["method"] == "coarse") & (usual["masks"] == 0)],
        "masks": usual[usual["method"] == "truth"],
        "masks and coarse": usual[usual["masks"] > 0],
    }
    printed = {"coarse": "82.5", "masks": "86.2", "masks and coarse": "88.7"}
    rows = []
    for name, found in kinds.items():
        if len(found):
            first = found.iloc[0]
            n_masks = first["drawn"] if name == "masks" else first["masks"]
            n_drawn = 0 if name == "masks" else first["drawn"]
            ours = mean_std_text((found[MIOU] * 100).tolist(), 2)
            sizes = {"masks": int(n_masks), "drawn": int(n_drawn)}
            rows.append({"digits": name, **sizes, "mIoU": ours, "paper": printed[name]})
    title = "## Table 3: masks, drawings and both\n\n"
    return title + markdown(pd.DataFrame(rows).set_index("digits")) if rows else ""


def sweep(runs: pd.DataFrame) -> str:
    """Draw less and less (Fig. 3 to 5)."""
    usual = runs[runs["method"] != "grabcut-boxes"]
    usual = usual.sort_values("ratio", ascending=False, kind="stable")
    if usual.empty:
        return ""
    table = mean_std(usual, "method", "ratio", MIOU, digits=1, scale=100)
    title = "## Sweep of the area (Fig. 3 to 5): share of what could be drawn\n\n"
    return title + markdown(table)


def vessels(runs: pd.DataFrame) -> str:
    """Vessels of CHASE_DB1, against both observers."""
    if runs.empty:
        return ""
    observers = [name for name in runs if str(name).startswith(f"{MIOU}, ") and runs[name].any()]
    tables = [
        mean_std(runs, ["method", "ratio"], "data", name, digits=1, scale=100) for name in observers
    ]
    table = pd.concat(tables, axis=1)
    table.columns = pd.Index(observers)
    return (
        "## CHASE_DB1: drawings simulated from the first observer's masks\n\n"
        "20 images to train on, 8 to test, at half size; `truth` is trained on the first "
        f"observer's masks.\n\n{markdown(table)}"
    )
