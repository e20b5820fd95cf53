"""Images, drawings and maps as single panels of a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from multirater.report.colours import class_colours
from multirater.report.figures.case_view import CaseView, Plane2D
from multirater.report.figures.style import ADDED, CONFUSED, MISSED, UNKNOWN, frame
from multirater.types import MISSING, Classes

_BACKDROP = 0.25
"""Grey level behind drawings of a case without image."""

_LARGE = 256
"""Pixels of a side above which outlines are finer."""

_OPACITY = 0.55
"""How far the colour of a class covers the image."""


def show_image(axes: Axes, view: CaseView) -> None:
    """Show the image of a case; a dark ground when there is none."""
    grey = np.full(view.shape, _BACKDROP) if view.image is None else view.image
    axes.imshow(grey, cmap="gray", vmin=0, vmax=1, aspect=view.aspect)
    frame(axes)


def show_drawing(
    axes: Axes, view: CaseView, label: Plane2D, colour: str, palette: Sequence[str] | None
) -> None:
    """Lay a drawing over the image.

    Args:
        axes: to draw into.
        view: the case.
        label: class indices (rows, columns), -1 where not labelled, which is covered in grey.
        colour: of the outline, of the only foreground class, and of the frame.
        palette: colours of the classes, when there are several of foreground.
    """
    show_image(axes, view)
    opacity = 1.0 if palette and view.image is None else _OPACITY
    axes.imshow(_cover(label, palette or ["", colour], opacity), aspect=view.aspect)
    if palette is None:
        show_outline(axes, label, colour)
    frame(axes, colour)


def show_outline(axes: Axes, label: Plane2D, colour: str) -> None:
    """Draw the outline of everything but background."""
    foreground = label > 0
    # In a large image thin structures would vanish under their own outline.
    width = 0.9 if max(label.shape) <= _LARGE else 0.45
    if foreground.any():
        # A ring of background lets outlines close at the border of the image.
        padded = np.pad(foreground, 1).astype(float)
        rows, columns = (np.arange(-1, size + 1) for size in label.shape)
        axes.contour(columns, rows, padded, levels=[0.5], colors=[colour], linewidths=[width])
        axes.set_xlim(-0.5, label.shape[1] - 0.5)
        axes.set_ylim(label.shape[0] - 0.5, -0.5)


def show_errors(axes: Axes, view: CaseView, label: Plane2D, truth: Plane2D) -> None:
    """Compare a drawing with the truth, as Zhang 2020 does in Fig. 5.

    White where both have the same foreground, black where both have background, a colour for what
    the drawing adds, misses and confuses.
    """
    shown = np.zeros((*label.shape, 3))
    shown[(label > 0) & (label == truth)] = 1
    shown[(label > 0) & (truth == 0)] = to_rgb(ADDED)
    shown[(label == 0) & (truth > 0)] = to_rgb(MISSED)
    shown[(label > 0) & (truth > 0) & (label != truth)] = to_rgb(CONFUSED)
    shown[(label == MISSING) | (truth == MISSING)] = to_rgb(UNKNOWN)
    axes.imshow(shown, aspect=view.aspect)
    frame(axes)


def show_map(
    axes: Axes, view: CaseView, values: NDArray[Any], *, most: float, colours: str
) -> AxesImage:
    """Show values per pixel on a scale from 0 to `most`; grey where they are not known."""
    axes.set_facecolor(UNKNOWN)
    shown = axes.imshow(values, cmap=colours, vmin=0, vmax=most, aspect=view.aspect)
    frame(axes)
    return shown


def leave_empty(axes: Axes, why: str) -> None:
    """Say in a panel why there is nothing to see."""
    axes.text(0.5, 0.5, why, ha="center", va="center", transform=axes.transAxes, fontsize=6)
    frame(axes)
    for spine in axes.spines.values():
        spine.set_visible(False)


def have_images(views: Sequence[CaseView]) -> bool:
    """Whether any of the cases has an image to show."""
    return any(view.image is not None for view in views)


def panel_height(views: Sequence[CaseView], width: float) -> float:
    """Inches that panels of this width need, for the tallest of the cases."""
    return max(width * view.shape[0] * view.aspect / view.shape[1] for view in views)


def foreground_palette(classes: Classes, highest: int = 0) -> list[str] | None:
    """Return the colours of the classes; None for one foreground class, which needs none.

    Args:
        classes: with colours of their own or without.
        highest: largest class index that occurs.
    """
    n_classes = max(len(classes), highest + 1)
    if n_classes <= 2:
        return None
    own = [item.colour for item in classes.items]
    return [mine or given for mine, given in zip(own, class_colours(n_classes), strict=False)]


def class_legend(classes: Classes, palette: Sequence[str] | None) -> dict[str, str]:
    """Return the colour of each foreground class by name; nothing when there is one only."""
    return {} if palette is None else dict(list(zip(classes.names, palette, strict=False))[1:])


def _cover(label: Plane2D, palette: Sequence[str], opacity: float) -> NDArray[np.float64]:
    """Colours (rows, columns, red green blue opacity) that let the image shine through."""
    shown = np.zeros((*label.shape, 4))
    for k in range(1, len(palette)):
        shown[label == k] = (*to_rgb(palette[k]), opacity)
    shown[label == MISSING] = (*to_rgb(UNKNOWN), 0.85)
    return shown
