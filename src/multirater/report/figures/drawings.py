"""Each case with every rater's drawing, the fused or predicted truth, and the truth if known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from multirater.report.colours import rater_colours
from multirater.report.figures.case_view import CaseView, Plane2D
from multirater.report.figures.names import letters, short_name, short_names
from multirater.report.figures.panels import (
    class_legend,
    foreground_palette,
    have_images,
    leave_empty,
    panel_height,
    show_drawing,
    show_image,
    show_outline,
)
from multirater.report.figures.style import (
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

_MOST_PER_LINE, _MOST_LINES, _MOST_LINES_OF_CASE = 8, 8, 2
_TITLE, _MARGIN, _WIDEST = 0.17, 0.25, 1.35
"""Inches: a line of titles, names of cases on the left, and the widest panel."""


@dataclass(frozen=True)
class _Panel:
    title: str
    draw: Callable[[Axes, CaseView], None]


@in_style
def draw_drawings(views: Sequence[CaseView], raters: Sequence[str], classes: Classes) -> Figure:
    """Draw cases as lines of panels, in the manner of Zhang 2020, Figs. 2, 7 and 13.

    From left to right: the image; the outlines of all raters on it; each rater's drawing in a
    frame of the rater's colour; the estimated truth of each method; the truth, when it is known.

    Args:
        views: one or more cases.
        raters: all raters of the data set, whose order gives them their colours.
        classes: with several of foreground, their colours fill the drawings.

    Returns:
        A figure as wide as a page. Cases and raters that do not fit are left out, with a note.
    """
    palette = foreground_palette(classes, max(view.highest for view in views))
    panels, n_hidden = _panels(views, raters, palette)
    lines_of_case = math.ceil(len(panels) / _MOST_PER_LINE)
    n_columns = math.ceil(len(panels) / lines_of_case)
    shown = views[: _MOST_LINES // lines_of_case]
    note, legend = _note(shown, n_hidden, len(raters), len(views)), class_legend(classes, palette)
    width = min((PAGE_WIDTH - _MARGIN) / n_columns, _WIDEST)
    n_lines = len(shown) * lines_of_case
    n_titles = n_lines if lines_of_case > 1 else 1
    height = n_lines * (panel_height(shown, width) + 0.03) + n_titles * _TITLE
    height += foot_height(note, legend)
    figure = new_figure(n_columns * width + _MARGIN, min(height, PAGE_HEIGHT))
    grid = figure.subplots(n_lines, n_columns, squeeze=False)
    for number, view in enumerate(shown):
        axes = grid[number * lines_of_case : (number + 1) * lines_of_case].ravel()
        _draw_case(view, panels, list(axes), letters(width) if number < n_titles else 0)
    add_foot(figure, note, legend)
    return figure


def _draw_case(view: CaseView, panels: Sequence[_Panel], axes: list[Axes], n_letters: int) -> None:
    """Draw the panels of a case, with titles of at most so many letters."""
    titles = short_names([panel.title for panel in panels], n_letters or 1)
    for panel, title, each in zip(panels, titles, axes, strict=False):
        panel.draw(each, view)
        if n_letters:
            each.set_title(title)
    axes[0].set_ylabel(short_name(view.name, 18))
    for spare in axes[len(panels) :]:
        spare.set_axis_off()


def _panels(
    views: Sequence[CaseView], raters: Sequence[str], palette: Sequence[str] | None
) -> tuple[list[_Panel], int]:
    """List the panels of a case, and count the raters for whom there is no room."""
    present = [rater for rater in raters if any(rater in view.labels for view in views)]
    methods = list(dict.fromkeys(name for view in views for name in view.estimates))
    with_truth = any(view.truth is not None for view in views)
    room = _MOST_PER_LINE * _MOST_LINES_OF_CASE - 2 - len(methods) - with_truth
    kept = present[:room]
    colours = dict(zip(raters, rater_colours(len(raters)), strict=True))
    panels = [_Panel("image", show_image)] if have_images(views) else []
    if present:
        panels.append(_Panel("all raters", lambda axes, view: _outlines(axes, view, colours)))
    panels += [_Panel(rater, _of_rater(rater, colours[rater], palette)) for rater in kept]
    panels += [_Panel(method, _of_method(method, palette)) for method in methods]
    if with_truth:
        panels.append(_Panel("truth", lambda axes, view: _drawing(axes, view, view.truth, palette)))
    return panels, len(present) - len(kept)


def _of_rater(
    rater: str, colour: str, palette: Sequence[str] | None
) -> Callable[[Axes, CaseView], None]:
    return lambda axes, view: _drawing(axes, view, view.labels.get(rater), palette, colour)


def _of_method(method: str, palette: Sequence[str] | None) -> Callable[[Axes, CaseView], None]:
    return lambda axes, view: _drawing(axes, view, view.estimates.get(method), palette)


def _outlines(axes: Axes, view: CaseView, colours: dict[str, str]) -> None:
    show_image(axes, view)
    for rater, label in view.labels.items():
        show_outline(axes, label, colours[rater])


def _drawing(
    axes: Axes,
    view: CaseView,
    label: Plane2D | None,
    palette: Sequence[str] | None,
    colour: str = REFERENCE,
) -> None:
    if label is not None:
        show_drawing(axes, view, label, colour, palette)
        return
    leave_empty(axes, "no label")


def _note(views: Sequence[CaseView], n_hidden: int, n_raters: int, n_cases: int) -> str:
    parts = [f"{n_raters - n_hidden} of {n_raters} raters shown"] if n_hidden else []
    parts += [f"{len(views)} of {n_cases} cases shown"] if len(views) < n_cases else []
    return "; ".join(filter(None, [*parts, joined_notes({v.name: v.note for v in views})]))
