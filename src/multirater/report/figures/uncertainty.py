"""What a method says is true, how unsure it is, and how far the raters disagree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from multirater.report.figures.case_view import CaseView
from multirater.report.figures.cutout import disagreement_map
from multirater.report.figures.names import short_name
from multirater.report.figures.panels import (
    class_legend,
    foreground_palette,
    have_images,
    leave_empty,
    panel_height,
    show_drawing,
    show_image,
    show_map,
)
from multirater.report.figures.style import (
    HEAT,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    REFERENCE,
    add_foot,
    foot_height,
    in_style,
    joined_notes,
    new_figure,
)
from multirater.types import Classes

_PANEL = 1.35
"""Inches: width of a panel."""

_MOST_CASES = 5

_IMAGE, _ESTIMATE = "image", "estimate"
_PROBABILITY, _ENTROPY, _DISAGREEMENT = "probability", "entropy", "disagreement"


@in_style
def draw_uncertainty(views: Sequence[CaseView], classes: Classes) -> Figure:
    """Draw one line per case: image, estimated truth, probability, entropy, disagreement.

    The probability is that of foreground with two classes, else that of the most probable class.
    The entropy is in nats, from 0 to the logarithm of the number of classes. Disagreement is the
    share of raters who are not with the majority. Each quantity has one scale for all cases.

    Args:
        views: one or more cases; what none of them has (probability, two raters) has no column.
        classes: names and colours.
    """
    columns = _columns(views)
    shown = views[:_MOST_CASES]
    width = min(_PANEL, PAGE_WIDTH / len(columns))
    tall = panel_height(shown, width)
    legend = class_legend(classes, foreground_palette(classes) if _ESTIMATE in columns else None)
    note = _note(shown)
    height = len(shown) * (tall + 0.05) + 0.65 + foot_height(note, legend)
    figure = new_figure(width * len(columns) + 0.3, min(height, PAGE_HEIGHT))
    # The last line holds the colour bars, so that the panels above stay in line.
    ratios = [1.0] * len(shown) + [0.07 / tall]
    grid = figure.subplots(len(shown) + 1, len(columns), squeeze=False, height_ratios=ratios)
    for place, column in enumerate(columns):
        _draw_column(figure, list(grid[:, place]), shown, column, classes)
    for line, view in zip(grid[:-1], shown, strict=True):
        line[0].set_ylabel(short_name(view.name, 18))
    add_foot(figure, note, legend)
    return figure


def _draw_column(
    figure: Figure, axes: list[Axes], views: Sequence[CaseView], column: str, classes: Classes
) -> None:
    """Draw one quantity of all cases, top to bottom, and its colour bar beneath."""
    axes[0].set_title(column)
    maps = [
        _panel(each, view, column, classes) for each, view in zip(axes[:-1], views, strict=True)
    ]
    known = next((each for each in maps if each is not None), None)
    if known is None:
        axes[-1].set_axis_off()
    else:
        label = _unit(column, classes)
        bar = figure.colorbar(known, cax=axes[-1], orientation="horizontal", label=label)
        most = known.get_clim()[1] or 1.0
        bar.set_ticks([0, most / 2, most], labels=[f"{v:.2g}" for v in (0, most / 2, most)])
        # The outer numbers would reach into the neighbours' bars.
        axes[-1].get_xticklabels()[0].set_horizontalalignment("left")
        axes[-1].get_xticklabels()[-1].set_horizontalalignment("right")


def _note(views: Sequence[CaseView]) -> str:
    methods = dict.fromkeys(view.detailed for view in views if view.detailed)
    parts = [f"estimate by {', '.join(methods)}"] if methods else []
    return "; ".join(filter(None, [*parts, joined_notes({v.name: v.note for v in views})]))


def entropy(probability: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Entropy in nats of class probabilities (n_classes, rows, columns), per pixel.

    Example:
        >>> entropy(np.array([[[0.5, 1.0]], [[0.5, 0.0]]])).round(3).tolist()
        [[0.693, 0.0]]
    """
    logarithm = np.log(np.maximum(probability, 1e-12))
    return np.asarray(np.maximum(-(probability * logarithm).sum(0, dtype=float), 0))


def _columns(views: Sequence[CaseView]) -> list[str]:
    columns = [_IMAGE] if have_images(views) else []
    if any(view.estimates for view in views):
        columns.append(_ESTIMATE)
    if any(view.probability is not None for view in views):
        columns += [_PROBABILITY, _ENTROPY]
    if any(len(view.labels) > 1 for view in views):
        columns.append(_DISAGREEMENT)
    return columns


def _panel(axes: Axes, view: CaseView, column: str, classes: Classes) -> AxesImage | None:
    if column == _IMAGE:
        show_image(axes, view)
        return None
    if column == _ESTIMATE:
        label = view.estimate
        if label is None:
            leave_empty(axes, "none")
        else:
            show_drawing(axes, view, label, REFERENCE, foreground_palette(classes, view.highest))
        return None
    values, most = _values(view, column, len(classes))
    if values is None:
        leave_empty(axes, "not known")
        return None
    return show_map(axes, view, values, most=most, colours=HEAT)


def _values(
    view: CaseView, column: str, n_classes: int
) -> tuple[NDArray[np.floating[Any]] | None, float]:
    """Return the values of a map and the end of its scale."""
    if column == _DISAGREEMENT:
        known = len(view.labels) > 1
        stacked = np.stack(list(view.labels.values())) if known else None
        return None if stacked is None else disagreement_map(stacked), 1 - 1 / n_classes
    probability = view.probability
    if column == _ENTROPY:
        return None if probability is None else entropy(probability), math.log(n_classes)
    if probability is None or len(probability) != 2:
        return None if probability is None else probability.max(0), 1.0
    return probability[1], 1.0


def _unit(column: str, classes: Classes) -> str:
    if column == _PROBABILITY:
        binary = len(classes) == 2
        return f"P({short_name(classes.names[1], 14)})" if binary else "P(most probable)"
    return "nats" if column == _ENTROPY else "share of raters"
