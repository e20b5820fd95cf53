"""Where a rater errs: confusion matrices per pixel, beside what the rater drew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from multirater.report.colours import rater_colours
from multirater.report.figures.case_view import CaseView
from multirater.report.figures.names import short_name, short_names
from multirater.report.figures.panels import (
    foreground_palette,
    leave_empty,
    panel_height,
    show_drawing,
    show_errors,
    show_map,
)
from multirater.report.figures.style import (
    ADDED,
    CONFUSED,
    HEAT,
    MISSED,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    add_foot,
    in_style,
    new_figure,
)
from multirater.types import Classes

_MOST_RATERS, _MOST_MAPS = 8, 4
_DRAWN, _PREDICTED, _ERRORS = "drawn", "predicted\ndrawing", "predicted\nerrors"

Pair = tuple[int, int]
"""A true and an observed class."""


@in_style
def draw_confusion_maps(view: CaseView, raters: Sequence[str], classes: Classes) -> Figure:
    """Draw one line per rater, in the manner of Zhang 2020, Figs. 5 and 8.

    From left to right: what the rater drew, what the network says they draw, the latter against
    the predicted truth, and for pairs of classes the probability that the rater turns one into the
    other at each pixel. All maps have the same scale, 0 to 1.

    Args:
        view: a case with confusion maps.
        raters: all raters of the data set, whose order gives them their colours.
        classes: names; with more than two, the four pairs most often confused are shown.

    Returns:
        A figure as wide as a page. Raters who do not fit are left out, with a note.
    """
    present = [rater for rater in raters if rater in view.confusion]
    shown = present[:_MOST_RATERS]
    pairs = _pairs(view, shown)
    drawings = _drawing_titles(view)
    titles = [*drawings, *(_arrow(classes, pair) for pair in pairs)]
    height = len(shown) * panel_height([view], (PAGE_WIDTH - 0.9) / len(titles)) + 0.8
    figure = new_figure(PAGE_WIDTH, min(height, PAGE_HEIGHT))
    grid = figure.subplots(len(shown), len(titles), squeeze=False)
    palette = foreground_palette(classes, view.highest)
    colours = dict(zip(raters, rater_colours(len(raters)), strict=True))
    for line, rater, name in zip(grid, shown, short_names(shown, 14), strict=True):
        _draw_drawings(line[: len(drawings)], view, rater, palette, colours[rater])
        for axes, pair in zip(line[len(drawings) :], pairs, strict=True):
            maps = show_map(axes, view, view.confusion[rater][pair], most=1.0, colours=HEAT)
        line[0].set_ylabel(name)
    for axes, title in zip(grid[0], titles, strict=True):
        axes.set_title(title)
    figure.colorbar(maps, ax=grid, label="probability", aspect=35, pad=0.01)
    legend = _error_legend(len(classes)) if _ERRORS in drawings else None
    add_foot(figure, _note(view, (len(shown), len(present)), len(classes)), legend)
    return figure


def _drawing_titles(view: CaseView) -> list[str]:
    titles = [_DRAWN] if view.labels else []
    titles += [_PREDICTED] if view.drawn else []
    return titles + ([_ERRORS] if view.drawn and view.estimates else [])


def _draw_drawings(
    line: Sequence[Axes], view: CaseView, rater: str, palette: Sequence[str] | None, colour: str
) -> None:
    places = iter(line)
    drawings = [view.labels.get(rater)] if view.labels else []
    drawings += [view.drawn.get(rater)] if view.drawn else []
    for label in drawings:
        axes = next(places)
        if label is None:
            leave_empty(axes, "no label")
        else:
            show_drawing(axes, view, label, colour, palette)
    if rater in view.drawn and view.estimate is not None:
        show_errors(next(places), view, view.drawn[rater], view.estimate)


def _pairs(view: CaseView, raters: Sequence[str]) -> list[Pair]:
    """Choose the maps: all four of two classes, else the confusions with most weight."""
    mean = np.mean([view.confusion[rater].mean((-2, -1)) for rater in raters], axis=0)
    n_classes = len(mean)
    every = [(true, observed) for true in range(n_classes) for observed in range(n_classes)]
    if n_classes == 2:
        return every
    wrong = [pair for pair in every if pair[0] != pair[1]]
    heaviest = sorted(wrong, key=lambda pair: -mean[pair])[:_MOST_MAPS]
    return sorted(heaviest)


def _arrow(classes: Classes, pair: Pair) -> str:
    true, observed = (short_name(classes.names[k], 11) for k in pair)
    return f"{true}\n→ {observed}"


def _error_legend(n_classes: int) -> dict[str, str]:
    entries = {"the rater adds": ADDED, "the rater misses": MISSED}
    return entries | ({"another class": CONFUSED} if n_classes > 2 else {})


def _note(view: CaseView, raters: tuple[int, int], n_classes: int) -> str:
    parts = [f"case {short_name(view.name, 40)}", view.note]
    if n_classes > 2:
        parts.append("the most frequent confusions")
    if raters[0] < raters[1]:
        parts.append(f"{raters[0]} of {raters[1]} raters shown")
    return "; ".join(filter(None, parts))
