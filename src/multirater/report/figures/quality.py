"""How good each rater is, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from multirater.report.colours import rater_colours
from multirater.report.figures.names import short_names
from multirater.report.figures.style import (
    COLUMN_WIDTH,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    add_foot,
    in_style,
    new_figure,
    tick_names,
)

_LINE = 0.17
"""Inches that one rater takes."""


@in_style
def draw_quality(raters: pd.DataFrame, *, note: str = "") -> Figure:
    """Draw quality, and with two classes sensitivity and specificity, of each rater.

    Args:
        raters: as in `raters.csv`: one row per rater, columns `quality`, `quality_low`,
            `quality_high`, ... (`skill` where there is no quality); an interval that is not known
            has no line.
        note: where the numbers come from.

    Returns:
        Raters from the best to the poorest, top to bottom, each in their colour. When there are
        more than a page takes, the poorest are shown, with a note.
    """
    head = "quality" if "quality" in raters else "skill"
    measures = [name for name in (head, "sensitivity", "specificity") if name in raters]
    colours = pd.Series(rater_colours(len(raters)), index=raters.index)
    ordered = raters.assign(colour=colours).sort_values(head, kind="stable")
    shown = ordered.head(int((PAGE_HEIGHT - 0.8) / _LINE))
    width = COLUMN_WIDTH if len(measures) == 1 else PAGE_WIDTH
    figure = new_figure(width, max(len(shown) * _LINE, 0.5) + 0.65)
    for axes, measure in zip(
        figure.subplots(1, len(measures), squeeze=False, sharey=True)[0], measures, strict=True
    ):
        _dots(axes, shown, measure)
    first = figure.axes[0]
    tick_names(first.set_yticks, short_names([str(name) for name in shown.index], 22))
    first.set_ylim(-0.6, len(shown) - 0.4)
    left_out = f"{len(shown)} of {len(raters)} raters shown: those with the lowest {head}"
    add_foot(figure, "; ".join([note] * bool(note) + [left_out] * (len(shown) < len(raters))))
    return figure


def _dots(axes: Axes, table: pd.DataFrame, measure: str) -> None:
    columns: Any = table[[measure, f"{measure}_low", f"{measure}_high"]].to_numpy(dtype=float)
    for place, ((value, low, high), colour) in enumerate(
        zip(columns, table["colour"], strict=True)
    ):
        if not np.isnan(value + low + high):
            axes.plot([low, high], [place, place], color=colour, linewidth=1.6, alpha=0.6)
        axes.plot([value], [place], "o", color=colour, markersize=4, clip_on=False)
        beside = axes.get_yaxis_transform()
        axes.text(1.04, place, _number(value, low, high), transform=beside, va="center", size=5.5)
    axes.set(xlim=(-0.02, 1.02))
    axes.set_xlabel(measure)
    axes.grid(axis="x", linewidth=0.4, color="#dddddd")
    axes.tick_params(axis="y", length=0)


def _number(value: float, low: float, high: float) -> str:
    if np.isnan(value):
        return "not known"
    return f"{value:.3f}" if np.isnan(low + high) else f"{value:.3f} [{low:.3f}, {high:.3f}]"
