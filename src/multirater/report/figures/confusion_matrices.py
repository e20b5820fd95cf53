"""Each rater's confusion matrix as a heat map with numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from multirater.report.colours import rater_colours
from multirater.report.figures.heat_map import show_matrix
from multirater.report.figures.names import letters, short_names, text_width
from multirater.report.figures.style import (
    PAGE_HEIGHT,
    PAGE_WIDTH,
    add_foot,
    frame,
    in_style,
    new_figure,
    tick_names,
)

_TITLE, _GAP, _BAR = 0.22, 0.08, 0.6
"""Inches: above and beside each matrix, and for the colour bar."""


@in_style
def draw_confusion_matrices(
    cm: ArrayLike, raters: Sequence[str], classes: Sequence[str], *, note: str = ""
) -> Figure:
    """Draw one matrix per rater, all on one scale.

    Args:
        cm: (n_raters, true, observed), rows sum to one; NaN rows are not known and stay grey.
        raters: names.
        classes: names.
        note: where the matrices come from.

    Returns:
        A figure at most as wide and tall as a page. When there are more raters than fit, those
        with the lowest skill (mean diagonal) are shown, with a note.

    Example:
        >>> figure = draw_confusion_matrices([[[0.9, 0.1], [0.3, 0.7]]], ["anna"], ["no", "yes"])
        >>> [text.get_text() for text in figure.axes[0].texts]
        ['0.90', '0.10', '0.30', '0.70']
    """
    matrices = np.asarray(cm, dtype=float)
    names = short_names(classes, 12)
    grid = _Grid.of(len(matrices), names)
    kept = _lowest_skill(matrices, grid.n_rows * grid.n_columns)
    figure = new_figure(grid.width, grid.height)
    axes = list(figure.subplots(grid.n_rows, grid.n_columns, squeeze=False).ravel())
    titles, colours = short_names(raters, letters(grid.side)), rater_colours(len(raters))
    for place, rater in enumerate(kept):
        shown = show_matrix(axes[place], matrices[rater], cell=grid.side / len(names))
        frame(axes[place], colours[rater])
        axes[place].set_title(titles[rater])
    for spare in axes[len(kept) :]:
        spare.set_axis_off()
    _name_classes(axes, grid, len(kept), names)
    beside = axes[grid.n_columns - 1].inset_axes((1.0 + 0.1 / grid.side, 0, 0.07 / grid.side, 1))
    figure.colorbar(shown, cax=beside, label="share", ticks=[0, 0.5, 1])
    left_out = f"{len(kept)} of {len(matrices)} raters shown: those with the lowest skill"
    add_foot(figure, "; ".join([note] * bool(note) + [left_out] * (len(kept) < len(matrices))))
    return figure


@dataclass(frozen=True)
class _Grid:
    """How matrices are laid out.

    Attributes:
        n_rows: of matrices.
        n_columns: of matrices.
        side: of a matrix, in inches.
        margin: that the names of classes take, in inches.
        is_turned: whether the names of columns run upwards.
    """

    n_rows: int
    n_columns: int
    side: float
    margin: float
    is_turned: bool

    @staticmethod
    def of(n_raters: int, classes: Sequence[str]) -> _Grid:
        name = text_width(classes)
        margin = name + 0.3
        side = min(max(0.24 * len(classes), 0.85), PAGE_WIDTH - margin - _BAR - _GAP)
        most_columns = max(int((PAGE_WIDTH - margin - _BAR) // (side + _GAP)), 1)
        most_rows = max(int((PAGE_HEIGHT - margin - 0.3) // (side + _TITLE)), 1)
        n_rows = min(math.ceil(n_raters / most_columns), most_rows)
        n_columns = min(math.ceil(n_raters / n_rows), most_columns)
        return _Grid(n_rows, n_columns, side, margin, name > side / len(classes))

    @property
    def width(self) -> float:
        return max(self.n_columns * (self.side + _GAP) + self.margin + _BAR, 2.4)

    @property
    def height(self) -> float:
        below = self.margin if self.is_turned else 0.35
        return self.n_rows * (self.side + _TITLE) + below + 0.25


def _lowest_skill(matrices: NDArray[Any], room: int) -> list[int]:
    """Choose the raters for whom there is room, and keep them in their order."""
    if len(matrices) <= room:
        return list(range(len(matrices)))
    skill = np.nan_to_num(np.diagonal(matrices, axis1=1, axis2=2), nan=1.0).mean(1)
    return sorted(np.argsort(skill, kind="stable")[:room].tolist())


def _name_classes(axes: list[Axes], grid: _Grid, n_shown: int, classes: list[str]) -> None:
    """Name the classes once per row and column of matrices."""
    for place in range(n_shown):
        if place % grid.n_columns == 0:
            tick_names(axes[place].set_yticks, classes)
            axes[place].set_ylabel("true")
        if place + grid.n_columns >= n_shown:
            tick_names(axes[place].set_xticks, classes, rotation=90 if grid.is_turned else 0)
            axes[place].set_xlabel("observed")
