"""How training went: losses, trace and learning rate by epoch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from multirater.report.colours import rater_colours
from multirater.report.figures.style import COLUMN_WIDTH, in_style, new_figure

_PANELS = {
    "negative log-likelihood\n(nats per label)": {"train_nll": "training", "val_nll": "held out"},
    "trace of the\nmatrices": {"train_trace": "training"},
    "learning\nrate": {"learning_rate": "learning rate"},
}
"""By what is on the axis, the columns of `curves.csv` and what they are called."""


@in_style
def draw_curves(curves: pd.DataFrame) -> Figure:
    """Draw the columns of a run's `curves.csv`; the epoch of the best likelihood is marked.

    Args:
        curves: one row per epoch, columns `epoch` (from 0), `train_nll`, `train_trace`, `val_nll`,
            `learning_rate`; what was not measured is empty.

    Returns:
        A figure as wide as a column, one panel per quantity. Epochs count from 1.
    """
    known = {
        title: columns
        for title, columns in _PANELS.items()
        if any(name in curves and curves[name].notna().any() for name in columns)
    }
    heights = [2.0 if "train_nll" in columns else 1.0 for columns in known.values()]
    figure = new_figure(COLUMN_WIDTH, 0.75 * sum(heights) + 0.6)
    grid = figure.subplots(len(known), 1, squeeze=False, sharex=True, height_ratios=heights)
    best = best_epoch(curves)
    for axes, (title, columns) in zip(grid[:, 0], known.items(), strict=True):
        _panel(axes, curves, columns, title)
        if best is not None:
            axes.axvline(best, color="#888888", linewidth=0.8, linestyle=":", label="likeliest")
        if "train_nll" in columns:
            # On white: the mark of that epoch may run behind it.
            axes.legend(loc="upper right", frameon=True, framealpha=1, edgecolor="white")
    grid[-1, 0].set_xlabel("epoch")
    grid[-1, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.align_ylabels()
    return figure


def best_epoch(curves: pd.DataFrame) -> int | None:
    """Return the epoch (from 1) with the best likelihood: held out, or of training without it."""
    for name in ("val_nll", "train_nll"):
        if name in curves and curves[name].notna().any():
            place = int(np.nanargmin(curves[name].to_numpy(dtype=float)))
            return int(curves["epoch"].iloc[place]) + 1
    return None


def _panel(axes: Axes, curves: pd.DataFrame, columns: dict[str, str], title: str) -> None:
    for place, (name, label) in enumerate(columns.items()):
        values = curves.get(name)
        if values is not None and values.notna().any():
            marker = "o" if len(curves) < 30 else None
            style: Any = {"color": rater_colours(2)[place], "marker": marker, "markersize": 2.5}
            axes.plot(curves["epoch"] + 1, values, label=label, **style)
    axes.set_ylabel(title)
    axes.grid(axis="y", linewidth=0.4, color="#dddddd")
