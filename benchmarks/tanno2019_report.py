"""The figures and the table of Tanno 2019 as Markdown and plots, ours beside the printed ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

from grid import Record, as_table, markdown, mean_std, mean_std_text, what_was_run

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

PAPER = {
    "dense": {
        "trace": ("81.23", "0.72"),
        "no trace": ("80.29", "1.37"),
        "MBEM": ("73.33", "2.53"),
        "generalized EM": ("70.49", "6.13"),
        "single CM": ("68.82", ""),
        "Weighted Doctor Net": ("60.11", ""),
        "soft-bootstrap": ("54.73", ""),
        "vanilla": ("52.33", ""),
    },
    "one": {
        "trace": ("77.65", "1.22"),
        "no trace": ("76.31", "1.46"),
        "MBEM": ("55.97", "4.58"),
        "generalized EM": ("53.38", "4.47"),
        "single CM": ("59.91", ""),
        "Weighted Doctor Net": ("57.98", ""),
        "soft-bootstrap": ("42.91", ""),
        "vanilla": ("36.04", ""),
    },
}
"""Accuracy in per cent and error of the matrices in hundredths on CIFAR-10, Table 1."""

SUPPLIES = {"dense": "every rater labels", "one": "one label per image"}
FIGURES = {
    "pairwise-flipper": "Figs. 3, 6 and 11: five pairwise-flippers",
    "hammer-spammer": "Figs. 9, 10 and 11: five hammer-spammers",
}
WITH_MATRICES = ("trace", "no trace", "MBEM", "generalized EM")
WITHOUT_MATRICES = (
    *("single CM", "Weighted Doctor Net", "soft-bootstrap", "vanilla"),
    *("Dawid-Skene, then train", "truth"),
)
STYLES = {
    "trace": ("#0b6fa4", "o", "-"),
    "no trace": ("#5fb3d9", "o", "--"),
    "MBEM": ("#d1495b", "s", "-"),
    "generalized EM": ("#e8998d", "s", "--"),
    "single CM": ("#6a994e", "^", "-"),
    "Weighted Doctor Net": ("#bc6c25", "D", "-"),
    "soft-bootstrap": ("#8d6a9f", "v", "-"),
    "vanilla": ("#555555", "x", "-"),
}


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write tables and plots beside the results and return the file of the tables.

    Args:
        records: of the jobs that are done.
        n_jobs: how many there are in all.
        arguments: of the command line.
    """
    path: Path = arguments.results.with_suffix(".md")
    parts = [heading(records, n_jobs, arguments)]
    runs = as_table(records)
    if len(runs):
        runs["trace_weight"] = runs.get("trace_weight", pd.Series(dtype=float))
        usual = runs[runs["trace_weight"].isna()]
        parts += [main_table(usual[usual["data"] == "mnist"])]
        swept = usual[usual["data"] == "small mnist"]
        for raters in FIGURES:
            parts.append(skills(swept[swept["raters"] == raters], raters, path))
        parts += [broken(swept, path), trace_weights(runs, path), others(swept)]
        parts += [table_1(usual[usual["data"] == "cifar10"])]
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    return path


def heading(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> str:
    """Say what was run, how, at which commit, and what it took."""
    ran = what_was_run("tanno2019", records, n_jobs, quick=arguments.quick)
    return (
        "# Tanno 2019 on MNIST and CIFAR-10 with simulated raters\n\n"
        f"{ran}\n\n"
        "All methods share network, schedule and data; 10 % of the training images are held out "
        "to choose the epoch, by the likelihood of the labels that the method explains, without "
        "truth. Mean ± standard deviation over seeds, which change raters, labels, weights and "
        "held-out images. CM error is the paper's: squared Frobenius distance over classes, mean "
        "over raters; `-` for methods that learn no matrix per rater. "
        "The paper trains on all images for 200 epochs: its values are for the order of the rows.\n"
    )


def main_table(runs: pd.DataFrame) -> str:
    """Whole digits at p = 0.45."""
    if runs.empty:
        return ""
    title = (
        f"## Pairwise-flippers at p = 0.45, one label per image, {_size(runs)}\n\nThe network, the "
        "rates and the weight of the trace are the defaults.\n"
    )
    margin = f"Smallest margin of diagonal dominance of the true raters: {_least(runs)}.\n"
    return "\n".join([title, _table(_rows(runs)), margin])


def skills(runs: pd.DataFrame, raters: str, path: Path) -> str:
    """Accuracy and error of the matrices over the raters' mean skill."""
    if runs.empty:
        return ""
    runs = runs[runs["method"].isin(STYLES)].sort_values("p", kind="stable")
    plot = path.with_name(f"{path.stem}-{raters}s.png")
    plot_skills(runs, plot)
    parts = [f"## {FIGURES[raters]}\n", f"{_size(runs)}; digits of 14 x 14 pixels.\n"]
    parts.append(f"![accuracy and CM error over mean skill]({plot.name})\n")
    labelled = runs.assign(skill=[_skill_text(runs, p) for p in runs["p"]])
    for supply, title in SUPPLIES.items():
        chosen = labelled[labelled["supply"] == supply]
        if len(chosen):
            accuracy = mean_std(chosen, "method", "skill", "accuracy", digits=1, scale=100)
            parts += [f"Accuracy %, {title}, by p:\n", markdown(accuracy)]
            known = chosen[chosen["method"].isin(WITH_MATRICES)]
            error = mean_std(known, "method", "skill", "CM error", digits=2, scale=100)
            parts += [f"CM error x 100, {title}:\n", markdown(error)]
    parts.append(trusted(runs))
    return "\n".join(parts)


def plot_skills(runs: pd.DataFrame, path: Path) -> None:
    """Draw accuracy and CM error over p, shaded where the mean matrix is not dominant."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharex=True, layout="constrained")
    for column, (supply, title) in zip(axes.T, SUPPLIES.items(), strict=True):
        chosen = runs[runs["supply"] == supply]
        _lines(column[0], chosen, "accuracy", 100)
        raters = chosen.groupby("p")["rater accuracy"].mean() * 100
        column[0].plot(raters.index, raters, color="black", linestyle=":", label="raters")
        _lines(column[1], chosen[chosen["method"].isin(WITH_MATRICES)], "CM error", 1)
        column[1].set_yscale("log")
        column[0].set_title(title)
        column[1].set_xlabel("mean skill p")
        for axis in column:
            _shade(axis, chosen)
    axes[0, 0].set_ylabel("accuracy (%)")
    axes[1, 0].set_ylabel("CM error")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _lines(axis: Axes, runs: pd.DataFrame, value: str, scale: float) -> None:
    for method, (colour, marker, line) in STYLES.items():
        by_skill = runs[runs["method"] == method].groupby("p")[value]
        mean, spread = by_skill.mean() * scale, by_skill.std().fillna(0) * scale
        axis.errorbar(
            mean.index, mean, spread, color=colour, marker=marker, ls=line, capsize=2, label=method
        )


def _shade(axis: Axes, runs: pd.DataFrame) -> None:
    """Grey where not all groups of raters are dominant, half way to the neighbouring skills."""
    by_skill = runs.groupby("p")["margin"].min()
    skills = by_skill.index.to_numpy()
    if len(skills) < 2:
        return
    middle = (skills[:-1] + skills[1:]) / 2
    edges = [skills[0] - 0.02, *middle, skills[-1] + 0.02]
    for low, high, margin in zip(edges[:-1], edges[1:], by_skill, strict=True):
        if margin <= 0:
            axis.axvspan(low, high, color="0.9", zorder=0)


def trusted(runs: pd.DataFrame) -> str:
    """Where the trust statement of the method with trace doubts dominance, beside what is true."""
    chosen = runs[runs["method"] == "trace"]
    holds = chosen["margin"] > 0
    rows = {}
    for name, part in (("dominant", chosen[holds]), ("not dominant", chosen[~holds])):
        doubted = part["doubts dominance"].astype(bool)
        rows[name] = {
            "runs": str(len(part)),
            "doubted": str(doubted.sum()),
            "accuracy % there": _accuracy(part[doubted]),
            "accuracy % elsewhere": _accuracy(part[~doubted]),
        }
    text = (
        "Runs with trace: is the true mean matrix diagonally dominant, and in how many does the "
        "trust statement, which does not know it, call its dominance a problem:\n"
    )
    return "\n".join([text, _table(rows, "true mean CM")])


def broken(swept: pd.DataFrame, path: Path) -> str:
    """Fig. 4: the mean matrix, where dominance holds and where it does not."""
    chosen = swept[(swept["raters"] == "pairwise-flipper") & (swept["supply"] == "one")]
    chosen = chosen[chosen["method"].isin(WITH_MATRICES)]
    holds, breaks = chosen[chosen["margin"] > 0], chosen[chosen["margin"] <= 0]
    if holds.empty or breaks.empty:
        return ""
    groups = [_group(holds, holds["p"].min()), _group(breaks, breaks["p"].max())]
    plot = path.with_name(f"{path.stem}-dominance.png")
    plot_matrices(groups, plot)
    return (
        "## Fig. 4: the border of diagonal dominance, one label per image\n\n"
        "Mean matrices, estimated; above raters whose mean matrix is dominant, below others.\n\n"
        f"![mean confusion matrices]({plot.name})\n"
    )


def _group(runs: pd.DataFrame, p: float) -> pd.DataFrame:
    """Return the runs on one group of raters: of this skill, the first seed."""
    same = runs[runs["p"] == p]
    return same[same["seed"] == same["seed"].min()]


def plot_matrices(groups: Sequence[pd.DataFrame], path: Path) -> None:
    """Draw the estimated mean matrices of groups of raters, one row each."""
    n_columns = 1 + len(WITH_MATRICES)
    figure, axes = plt.subplots(
        len(groups), n_columns, figsize=(13, 5.8), layout="constrained", squeeze=False
    )
    for row, runs in zip(axes, groups, strict=True):
        first = runs.iloc[0]
        _draw_matrix(row[0], first["true mean CM"], f"raters, p = {first['p']:g}\nas they are")
        for axis, method in zip(row[1:], WITH_MATRICES, strict=True):
            found = runs[runs["method"] == method]
            axis.set(xticks=[], yticks=[])
            if len(found):
                right = f"{method}\n{100 * found.iloc[0]['accuracy']:.0f} % right"
                _draw_matrix(axis, found.iloc[0]["mean CM"], right)
        row[0].set_ylabel("true")
        row[0].set_xlabel("observed")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_matrix(axis: Axes, matrix: Sequence[Sequence[float]], title: str) -> None:
    axis.imshow(np.array(matrix), vmin=0, vmax=0.7, cmap="Blues")
    axis.set_title(title, fontsize=9)
    axis.set(xticks=[], yticks=[])


def trace_weights(runs: pd.DataFrame, path: Path) -> str:
    """Fig. 5: the weight of the trace."""
    weights = runs["trace_weight"].fillna(0.01)
    swept = runs[runs["trace_weight"].notna()]
    if swept.empty:
        return ""
    kind = swept.iloc[0]
    same = (runs["method"] == "trace") & (runs["raters"] == kind["raters"])
    same &= (runs["p"] == kind["p"]) & (runs["data"] == kind["data"])
    chosen = runs.assign(weight=weights)[same].sort_values("weight", kind="stable")
    chosen = chosen.assign(labels=chosen["supply"].map(SUPPLIES))
    plot = path.with_name(f"{path.stem}-trace-weight.png")
    plot_curves(chosen, plot)
    accuracy = mean_std(chosen, "weight", "labels", "accuracy", digits=1, scale=100)
    error = mean_std(chosen, "weight", "labels", "CM error", digits=2, scale=100)
    title = f"## Fig. 5: weight λ of the trace, pairwise-flippers at p = {kind['p']:g}\n"
    parts = [title, f"![held-out likelihood by epoch]({plot.name})\n", "Accuracy %:\n"]
    return "\n".join([*parts, markdown(accuracy), "CM error x 100:\n", markdown(error)])


def plot_curves(runs: pd.DataFrame, path: Path) -> None:
    """Draw the held-out likelihood of every epoch, one line per run."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    colours = dict(zip(sorted(runs["weight"].unique()), ("C0", "C1", "C2"), strict=False))
    for axis, (supply, title) in zip(axes, SUPPLIES.items(), strict=True):
        for _, run in runs[runs["supply"] == supply].iterrows():
            curve = run["held-out nll"]
            label = f"λ = {run['weight']:g}" if run["seed"] == 0 else None
            axis.plot(
                np.arange(1, len(curve) + 1), curve, color=colours[run["weight"]], label=label
            )
        axis.set(title=title, xlabel="epoch", ylabel="held-out nats per label")
        axis.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def others(swept: pd.DataFrame) -> str:
    """All methods at one skill, those the paper does not have included."""
    extra = swept[~swept["method"].isin(STYLES)]
    if extra.empty:
        return ""
    kind = extra.iloc[0]
    chosen = swept[(swept["raters"] == kind["raters"]) & (swept["p"] == kind["p"])]
    parts = [f"## All methods, pairwise-flippers at p = {kind['p']:g}, {_size(chosen)}\n"]
    for supply, title in SUPPLIES.items():
        part = chosen[chosen["supply"] == supply]
        if len(part):
            parts += [f"{title.capitalize()}:\n", _table(_rows(part))]
    notes = (
        "`truth` is trained on the truth: the ceiling. `trace, marginal` is the paper's "
        "likelihood, a truth per label; the default is one truth per image.\n"
    )
    return "\n".join([*parts, notes])


def table_1(runs: pd.DataFrame) -> str:
    """CIFAR-10 with four raters."""
    if runs.empty:
        return ""
    parts = [f"## Table 1: CIFAR-10 with four raters, {_size(runs)}\n"]
    for supply, title in SUPPLIES.items():
        part = runs[runs["supply"] == supply]
        if part.empty:
            continue
        rows = _rows(part)
        for method, row in rows.items():
            accuracy, error = PAPER[supply].get(method, ("", ""))
            row |= {"paper, accuracy": accuracy, "paper, error": error}
        parts += [f"{title.capitalize()}:\n", _table(rows)]
    return "\n".join(parts)


def _accuracy(runs: pd.DataFrame) -> str:
    """Return mean ± standard deviation in per cent; `-` of no run."""
    return mean_std_text((100 * runs["accuracy"]).tolist(), 1) if len(runs) else "-"


def _rows(runs: pd.DataFrame) -> dict[str, dict[str, str]]:
    return {
        method: {
            "accuracy %": _accuracy(of_method),
            "CM error x 100": "-"
            if method in WITHOUT_MATRICES
            else mean_std_text((100 * of_method["CM error"]).tolist(), 2),
            "seeds": str(len(of_method)),
            "seconds": f"{of_method['seconds'].mean():.0f}",
        }
        for method, of_method in runs.groupby("method", sort=False)
    }


def _size(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    return f"{first['n_train']} images, {first['epochs']} epochs"


def _least(runs: pd.DataFrame) -> str:
    return f"{runs['margin'].min():.2f}"


def _skill_text(runs: pd.DataFrame, p: float) -> str:
    margins = runs.loc[runs["p"] == p].groupby("seed")["margin"].first()
    broken = int((margins <= 0).sum())
    return f"{p:g}" + (f" (not dominant: {broken} of {len(margins)})" if broken else "")


def _table(rows: dict, name: str = "method") -> str:
    return markdown(pd.DataFrame.from_dict(rows, orient="index").rename_axis(name))
