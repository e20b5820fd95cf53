"""Tables and curves of `next_labels.py`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from grid import Record, markdown, mean_std_text, what_was_run

NAMES = ("even", "ActiveLab", "multirater")
AIM, MOST = 0.70, 1.05
FURTHEST = 1.3
"""Share of random's labels to be reached in half of the regimes, and never to be exceeded."""

FIGURE = Path(__file__).parent.parent / "docs" / "images" / "next-labels.png"


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write the tables beside the results, the curves into docs, and return the tables' file.

    Args:
        records: of the jobs that are done.
        n_jobs: how many there are in all.
        arguments: of the command line.
    """
    path: Path = arguments.results.with_suffix(".md")
    ran = what_was_run("next_labels", records, n_jobs, quick=arguments.quick)
    parts = [
        f"# Who should label what next\n\n{ran}\n\nLabels needed to be as good as random choice is "
        "with all of its budget, over that budget: mean ± standard deviation over seeds, those "
        "before the first choice included. A study that did not get there within 1.3 times the "
        "budget counts as 1.3. `score` is accuracy, of drawings Dice, in per cent, when random "
        "choice has spent its budget; `believed` is the error expected by then, beside the real "
        "one.\n"
    ]
    if records:
        table = shares(records)
        parts += [markdown(shown(table)), verdict(table)]
        if not arguments.quick:
            draw(records, FIGURE)
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def shares(records: Sequence[Record]) -> pd.DataFrame:
    """Return one row per study and seed: share of labels and score by strategy."""
    rows = []
    for record in records:
        curves = record["result"]
        target, full = curves["random"][-1][1], curves["random"][-1][0]
        row: dict[str, Any] = dict(record["job"])
        for name, curve in curves.items():
            row[f"share {name}"] = min(needed(curve, target) / full, FURTHEST)
            row[f"score {name}"] = at(curve, full, 1)
        row["believed"] = at(curves["multirater"], full, 2)
        rows.append(row)
    return pd.DataFrame(rows)


def needed(curve: Sequence[Sequence[float]], target: float) -> float:
    """Return the labels at which a curve first reaches a score, between its points in proportion.

    Example:
        >>> needed([(10, 0.5, 0), (20, 0.7, 0)], 0.6)
        15.0
    """
    before = curve[0]
    for point in curve:
        if point[1] >= target:
            if point is before:
                return float(point[0])
            part = (target - before[1]) / (point[1] - before[1])
            return float(before[0] + part * (point[0] - before[0]))
        before = point
    return np.inf


def at(curve: Sequence[Sequence[float]], n_labels: float, column: int) -> float:
    """Return a column of a curve at so many labels."""
    return float(np.interp(n_labels, [p[0] for p in curve], [p[column] for p in curve]))


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Lay out: one row per study."""
    rows = []
    for (kind, regime), part in table.groupby(["kind", "regime"], sort=False):
        row = {"study": regime, "items": kind}
        for name in NAMES:
            values = part.get(f"share {name}")
            known = values is not None and values.notna().any()
            row[name] = mean_std_text(values.tolist(), 2) if known else "-"
        for name in ("random", *NAMES):
            values = part.get(f"score {name}")
            known = values is not None and values.notna().any()
            row[f"score {name}"] = f"{100 * values.mean():.1f}" if known else "-"
        error = 100 * (1 - part["score multirater"].mean())
        row["believed / real error"] = f"{100 * part['believed'].mean():.1f} / {error:.1f}"
        rows.append(row)
    return pd.DataFrame(rows).set_index("study")


def verdict(table: pd.DataFrame) -> str:
    """Hold the means of studies against what was aimed at."""
    mean = table.groupby(["kind", "regime"], sort=False).mean(numeric_only=True)
    own = mean["share multirater"]
    over = [f"{name} ({kind}, {own[kind, name]:.2f})" for kind, name in own.index[own > MOST]]
    both = mean.dropna(subset=["share ActiveLab"]) if "share ActiveLab" in mean else mean.iloc[:0]
    behind = both[both["share multirater"] > both["share ActiveLab"]] if len(both) else both
    lines = [
        f"At most {AIM:.0%} of random's labels in {(own <= AIM).sum()} of {len(own)} studies; "
        f"more than {MOST:.0%} in {len(over)}{': ' + ', '.join(over) if over else ''}.",
    ]
    if len(both):
        where = ", ".join(f"{name} ({kind})" for kind, name in behind.index)
        lines.append(
            f"Against ActiveLab: as few labels or fewer in {len(both) - len(behind)} of "
            f"{len(both)} studies; mean share {both['share multirater'].mean():.2f} against "
            f"{both['share ActiveLab'].mean():.2f}{'; behind in ' + where if where else ''}."
        )
    return "\n".join(lines) + "\n"


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw mean curves with the spread over seeds, one panel per study."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    studies: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        studies.setdefault((record["job"]["kind"], record["job"]["regime"]), []).append(record)
    n_rows = -(-len(studies) // 5)
    size = (15, 2.5 * n_rows)
    figure, axes = plt.subplots(n_rows, 5, figsize=size, squeeze=False, layout="constrained")
    colours = {"random": "0.45", "even": "C1", "ActiveLab": "C2", "multirater": "C0"}
    for place, ((kind, regime), part) in zip(axes.flat, studies.items(), strict=False):
        for name, colour in colours.items():
            curves = [record["result"][name] for record in part if name in record["result"]]
            if not curves:
                continue
            full = part[0]["result"]["random"][-1][0]
            grid = np.linspace(curves[0][0][0], full, 30)
            values = np.array([[at(curve, x, 1) for x in grid] for curve in curves])
            place.plot(grid / full, values.mean(0), color=colour, label=name, lw=1.4)
            place.fill_between(
                grid / full, values.min(0), values.max(0), color=colour, alpha=0.15, lw=0
            )
        place.set_title(f"{regime} ({kind})", fontsize=9)
        place.tick_params(labelsize=7)
    for place in list(axes.flat)[len(studies) :]:
        place.set_axis_off()
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower right", fontsize=10, ncols=2)
    figure.supxlabel("labels, over the budget of random choice", fontsize=10)
    figure.supylabel("accuracy; of drawings, Dice", fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
