"""A matrix as a heat map with its numbers."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from multirater.report.figures.style import SHARES, UNKNOWN

_NUMBER_WIDTH = 0.3
"""Inches that a number of four characters takes at 7 points."""


_SMALL = 4
"""Rows up to which all numbers are written, zeros too."""


def show_matrix(
    axes: Axes, values: NDArray[Any], *, cell: float, low: float = 0.0, high: float = 1.0
) -> AxesImage:
    """Draw a matrix; numbers appear where cells are wide enough to read them.

    Args:
        axes: to draw into.
        values: (rows, columns); NaN is grey.
        cell: width of a cell in inches.
        low: value of the lightest colour.
        high: value of the darkest colour.
    """
    axes.set_facecolor(UNKNOWN)
    shown = axes.imshow(values, cmap=SHARES, vmin=low, vmax=high)
    size = min(7.0, 7.0 * cell / _NUMBER_WIDTH)
    if size >= 4:
        for (row, column), value in _worth_saying(values):
            dark = (value - low) / (high - low) > 0.6
            axes.text(
                column,
                row,
                f"{value:.2f}",
                ha="center",
                va="center",
                fontsize=size,
                color="white" if dark else "black",
            )
    return shown


def _worth_saying(values: NDArray[Any]) -> list[tuple[tuple[int, int], float]]:
    """List the numbers to write; in a large matrix zeros only hide the others."""
    rows, columns = values.shape
    every = [((r, c), float(values[r, c])) for r in range(rows) for c in range(columns)]
    known = [(place, value) for place, value in every if not math.isnan(value)]
    if rows <= _SMALL:
        return known
    return [(place, value) for place, value in known if abs(value) >= 0.005]
