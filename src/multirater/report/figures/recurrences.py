"""From uncertain to confident: what a method says after each of its recurrences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from multirater.evaluation.recurrences import SOFT
from multirater.evaluation.soft_scores import shares
from multirater.report.colours import rater_colours
from multirater.report.figures.case_view import CaseView
from multirater.report.figures.names import short_name
from multirater.report.figures.panels import have_images, panel_height, show_image, show_map
from multirater.report.figures.style import (
    COLUMN_WIDTH,
    HEAT,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    add_foot,
    foot_height,
    in_style,
    joined_notes,
    new_figure,
)

_PANEL = 1.2
"""Inches: width of a panel."""

_MOST_CASES = 6
_MOST_RATERS = 12


@in_style
def draw_recurrences(views: Sequence[CaseView]) -> Figure:
    """Draw one line per case: image, foreground after each recurrence, and the raters or the truth.

    All maps are probabilities of anything but background, on one scale from 0 to 1; that of the
    raters is the share of them who drew something (MrPrism, Figs. 5 and 6).

    Args:
        views: cases with `recurrences`; others are left out.
    """
    shown = [view for view in views if view.recurrences][:_MOST_CASES]
    n_steps = max(len(view.recurrences) for view in shown)
    with_image = have_images(shown)
    titles = [f"recurrence {number}" for number in range(n_steps)]
    columns = [*(["image"] if with_image else []), *titles, _wanted_title(shown)]
    width = min(_PANEL, (PAGE_WIDTH - 0.6) / len(columns))
    note = joined_notes({view.name: view.note for view in shown})
    height = len(shown) * (panel_height(shown, width) + 0.05) + 0.35 + foot_height(note)
    figure = new_figure(width * len(columns) + 0.6, min(height, PAGE_HEIGHT))
    grid = figure.subplots(len(shown), len(columns), squeeze=False)
    for line, view in zip(grid, shown, strict=True):
        line[0].set_ylabel(short_name(view.name, 18))
        if with_image:
            show_image(line[0], view)
        maps = [1 - step[0] for step in view.recurrences]
        maps += [maps[-1]] * (n_steps - len(maps))
        for axes, values in zip(line[int(with_image) :], [*maps, _wanted(view)], strict=True):
            last = show_map(axes, view, values, most=1.0, colours=HEAT)
    for axes, title in zip(grid[0], columns, strict=True):
        axes.set_title(title)
    figure.colorbar(last, ax=grid[:, -1].tolist(), fraction=0.08, label="P(foreground)")
    add_foot(figure, note)
    return figure


@in_style
def draw_recurrence_curves(table: pd.DataFrame) -> Figure:
    """Draw how Dice with each rater, and soft Dice, change with the recurrences (MrPrism, Fig. 4).

    Args:
        table: of `evaluation.recurrences.recurrence_scores`: one row per recurrence.

    Returns:
        A figure as wide as a column; beyond twelve raters the rest is left out, with a note.
    """
    raters = [str(name) for name in table if name not in SOFT]
    soft = [str(name) for name in table if name in SOFT]
    note = f"{_MOST_RATERS} of {len(raters)} raters" if len(raters) > _MOST_RATERS else ""
    figure = new_figure(COLUMN_WIDTH, 2.2 + 0.14 * len(table.columns) / 2 + foot_height(note))
    axes = figure.subplots()
    for rater, colour in zip(raters[:_MOST_RATERS], rater_colours(len(raters)), strict=False):
        _line(axes, table[rater], short_name(rater, 18), color=colour)
    for name, style in zip(soft, ("--", ":"), strict=False):
        _line(axes, table[name], name, color="black", linestyle=style)
    axes.set(xlabel="recurrence", ylabel="Dice")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y", linewidth=0.4, color="#dddddd")
    figure.legend(loc="outside lower center", ncols=2)
    add_foot(figure, note)
    return figure


def _line(axes: Axes, values: Any, label: str, **style: Any) -> None:
    axes.plot(values.index, values, marker="o", markersize=2.5, label=label, **style)


def _wanted_title(views: Sequence[CaseView]) -> str:
    return "raters" if any(view.labels for view in views) else "truth"


def _wanted(view: CaseView) -> NDArray[np.float64]:
    """Return the share of raters who drew anything; without raters, where the truth has anything.

    NaN where neither is known.
    """
    drawn = list(view.labels.values()) or ([] if view.truth is None else [view.truth])
    if not drawn:
        return np.full(view.shape, np.nan)
    return np.asarray(1 - shares(drawn, 1)[0])
