"""The tables of MrPrism as markdown, ours beside the printed ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from grid import Record, as_table, markdown, mean_std_text, read_records, what_was_run

PAPER_1 = {
    "wdn": "83.13",
    "crowd-layer": "81.56",
    "agg-net": "82.72",
    "cm global": "80.56",
    "max-mig": "84.62",
    "mrnet": "83.67",
    "prism, recurrence 0": "83.53",
    "prism, recurrence 1": "84.25",
    "prism, recurrence 2": "85.50",
    "prism, recurrence 3": "85.52",
}
"""Brain-Growth column of Table 1, against an arbitrated truth that is not public."""

PAPER_2 = {
    "attention-guided": "79.05",
    "p-osal": "81.56",
    "beal": "82.79",
    "luw": "83.67",
    "label-sampling": "82.77",
    "mrnet": "84.35",
    "prism": "86.33",
}
PAPER_3 = {
    "majority-vote": "83.06",
    "staple": "85.41",
    "max-mig": "88.78",
    "prism": "-",
    "prism, y_fuse": "89.70",
    "prism, y_self": "-",
}
PAPER_4 = {
    "prism": "86.69",
    "prism, as printed": "89.58",
    "prism, both losses": "88.52",
    "prism, as printed, concatenation": "86.14",
    "prism, as printed, conv-lstm": "86.73",
}
"""Table 4 is of brain tumours; both integrations other than attention go with the shuffle loss."""


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write the tables beside the results and return their file.

    Args:
        records: of the jobs that are done.
        n_jobs: how many there are in all.
        arguments: of the command line.
    """
    runs = as_table(records)
    path = Path(arguments.results).with_suffix(".md")
    parts = [_head(records, n_jobs, arguments)]
    if len(runs):
        known = runs.reindex(columns=[*runs, *({"scored", "fused"} - {*runs})])
        is_ablation, is_fused = known["scored"].notna(), known["fused"].notna()
        whole, ablations = runs[~is_ablation], runs[is_ablation]
        plain = runs[~is_ablation & ~is_fused]
        brain, digits = (plain[plain["data"] == name] for name in ("brain", "digits"))
        parts += [_table_1(brain), _table_2(brain), _table_3(whole), _table_4(ablations)]
        parts += [_earlier(Path(arguments.results)), _raters(brain)]
        parts.append(_simulated(digits))
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    return path


def _head(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> str:
    ran = what_was_run("mrprism", records, n_jobs, quick=arguments.quick)
    return (
        f"# MrPrism\n\n{ran} Soft Dice in per cent against the share of raters who drew a pixel "
        "(mean over thresholds 0.1 to 0.9), mean ± standard deviation over runs; `34 / 5` is the "
        "paper's split with several seeds, `folds` is cross-validation.\n"
    )


def _soft(values: pd.Series) -> str:
    return mean_std_text((values * 100).tolist(), 2) if len(values) else "-"


def _both(runs: pd.DataFrame, column: str = "soft Dice") -> dict[str, str]:
    """Return the text of a column over the seeds of the paper's split, and over the folds."""
    is_fold = runs["split"].str.startswith("fold")
    return {"34 / 5": _soft(runs[~is_fold][column]), "folds": _soft(runs[is_fold][column])}


def _table_1(brain: pd.DataFrame) -> str:
    rows = []
    plain = brain[~brain["method"].str.startswith("prism")]
    for method in dict.fromkeys(plain["method"]):
        own = plain[plain["method"] == method]
        rows.append({"method": method, **_both(own), "paper": PAPER_1.get(method, "-")})
    steps = _by_step(brain[brain["method"] == "prism"])
    for number in sorted(set(steps["recurrence"])) if len(steps) else []:
        name = f"prism, recurrence {number}"
        own = steps[steps["recurrence"] == number]
        rows.append({"method": name, **_both(own), "paper": PAPER_1.get(name, "-")})
    return _titled("Table 1: learning from raters who disagree", rows)


def _by_step(runs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run and recurrence."""
    rows: list[dict[str, Any]] = [
        {"split": run["split"], "recurrence": number, "soft Dice": value}
        for _, run in runs.iterrows()
        for number, value in enumerate(run["steps"])
    ]
    return pd.DataFrame(rows)


def _table_2(brain: pd.DataFrame) -> str:
    rows = []
    for name, paper in PAPER_2.items():
        own = brain[brain["method"] == name]
        if name == "prism":
            steps = _by_step(own)
            own = steps[steps["recurrence"] == 0] if len(steps) else own
        rows.append({"method": name, **_both(own), "paper": paper})
    note = (
        "The first three learn the majority vote; `p-osal` and `beal` adapt to the test images, of "
        "which no label is read. Every other network is given the same confidence in every rater. "
        "For `prism` that is the segmentation before any feedback, `predict --confidence "
        "RATER=0.5` for all raters.\n"
    )
    return _titled("Table 2: calibrated segmentation, all raters alike", rows, note)


def _table_3(runs: pd.DataFrame) -> str:
    rows = []
    for name, paper in PAPER_3.items():
        column = f"fusion {name}"
        if column not in runs:
            continue
        known = runs.dropna(subset=[column])
        of_brain = known[known["data"] == "brain"]
        of_digits = known[known["data"] == "digits"]
        rows.append(
            {
                "fusion": name,
                **_both(of_brain, column),
                "digits, soft Dice with truth": _soft(of_digits[column]),
                "paper": paper,
            }
        )
    note = (
        "On brain growth: labels of all raters but one are fused, Dice with the one left out. The "
        "paper has soft Dice with an arbitrated truth. `prism` has ConP as prior, y_fuse (eq. 4) "
        "none, and y_self (eq. 5) none and no labels but those that DivP expects.\n"
    )
    return _titled("Table 3: fusing labels", rows, note)


def _table_4(runs: pd.DataFrame) -> str:
    rows = []
    for name in dict.fromkeys(runs["method"]):
        own = runs[runs["method"] == name]
        rows.append(
            {
                "variant": name,
                "epoch of best likelihood": _soft(own["soft Dice"]),
                "last epoch": _soft(own["last"]),
                "seeds": len(own),
                "paper (brain tumour)": PAPER_4.get(name, "-"),
            }
        )
    note = (
        "Every run is scored twice. The held-out likelihood of the raters' labels is trained by "
        "the multi-head loss alone: where that is left out, the last epoch is what the loss made, "
        "and what `train` keeps. As printed: shuffle loss with weight 0.3, structural similarity "
        "without a loss per pixel.\n"
    )
    return _titled("Table 4: ablations, 34 / 5", rows, note)


def _earlier(results: Path) -> str:
    """Return ablations that were scored at the epoch of best likelihood alone, before."""
    runs = as_table(read_records(results))
    if "scored" not in runs:
        return ""
    runs = runs[runs["scored"].isna() & runs["method"].str.startswith("prism, ")]
    rows = [
        {"variant": name, "34 / 5": _soft(own["soft Dice"]), "seeds": len(own)}
        for name, own in runs.groupby("method", sort=False)
    ]
    note = (
        "Earlier runs, scored at the epoch of best likelihood alone: no judgement of the shuffle "
        "loss, nor of self-fused labels and structure alone.\n"
    )
    return _titled("Table 4, earlier", rows, note)


def _raters(brain: pd.DataFrame) -> str:
    """Return Dice with each rater after each recurrence (Fig. 4)."""
    runs = brain[brain["method"] == "prism"]
    if not len(runs):
        return ""
    mean = np.mean([np.asarray(each) for each in runs["raters"]], axis=0) * 100
    rows = [
        {"rater": f"R{number + 1}", **{str(step): f"{v:.2f}" for step, v in enumerate(values)}}
        for number, values in enumerate(mean)
    ]
    return _titled("Fig. 4: Dice with each rater, after each recurrence", rows)


def _simulated(digits: pd.DataFrame) -> str:
    if not len(digits):
        return ""
    rows = [
        {
            "method": name,
            "soft Dice with truth": _soft(digits[digits["method"] == name]["soft Dice"]),
            "after each recurrence": _texts(digits[digits["method"] == name]["steps"]),
            "confidence follows skill": _follows(digits[digits["method"] == name]),
        }
        for name in dict.fromkeys(digits["method"])
    ]
    note = (
        "Digits with five simulated raters. Confidence follows skill: rank correlation over raters "
        "of how probable it is, by the network, that they draw the foreground that is there, with "
        "their Dice with the truth.\n"
    )
    return _titled("Simulated raters", rows, note)


def _texts(steps: pd.Series) -> str:
    each = np.mean([np.asarray(run) for run in steps], axis=0) * 100
    return ", ".join(f"{value:.2f}" for value in each)


def _follows(runs: pd.DataFrame) -> str:
    known = [(run["skill"], run["confidence"]) for _, run in runs.iterrows() if run["confidence"]]
    found = [pd.Series(one).corr(pd.Series(other), method="spearman") for one, other in known]
    return mean_std_text(found, 2) if found else "-"


def _titled(title: str, rows: Sequence[dict[str, Any]], note: str = "") -> str:
    if not rows:
        return ""
    first = next(iter(rows[0]))
    table = markdown(pd.DataFrame(rows).set_index(first))
    return "\n".join(filter(None, [f"## {title}\n", note, table]))
