"""The look that all figures share: sizes for a journal's columns, fonts, colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from multirater.report.figures.names import short_name

COLUMN_WIDTH, PAGE_WIDTH, PAGE_HEIGHT = 3.35, 6.9, 9.0
"""Inches: one column, both columns, and the longest figure a page takes."""

DPI = 300

REFERENCE = "#f0e442"
"""Colour of what is estimated or known to be true: no rater has it, and it shows on grey images."""

UNKNOWN = "#bdbdbd"
"""Colour of what nobody labelled or nobody can know."""

ADDED, MISSED, CONFUSED = "#d55e00", "#56b4e9", "#cc79a7"
"""Pixels that are foreground to the rater only, to the truth only, to both in other classes."""

SHARES, HEAT = "Blues", "cividis"
"""Colour maps: of shares with numbers on top, and of values per pixel."""

_QUIET = "#555555"

_STYLE: Any = {
    # Comes with matplotlib: figures look the same on every machine.
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 7,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.titlepad": 3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.2,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "figure.constrained_layout.hspace": 0.02,
    "figure.constrained_layout.wspace": 0.02,
    "savefig.facecolor": "white",
    # Names come from data: a dollar sign in them is no formula.
    "text.parse_math": False,
    # Outlines of letters: no font is needed to show the file. The salt makes files reproducible.
    "svg.fonttype": "path",
    "svg.hashsalt": "multirater",
}

P = ParamSpec("P")
Result = TypeVar("Result")


def in_style(function: Callable[P, Result]) -> Callable[P, Result]:
    """Make a function draw or save in the common style, whatever the user's settings are."""

    @wraps(function)
    def styled(*args: P.args, **kwargs: P.kwargs) -> Result:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_STYLE)
            return function(*args, **kwargs)

    return styled


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches that keeps texts apart by itself."""
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def add_foot(figure: Figure, note: str, legend: Mapping[str, str] | None = None) -> None:
    """Write beneath a figure what was left out or which slice is shown, and explain its colours.

    Args:
        figure: to write under.
        note: one sentence or several; nothing when empty.
        legend: colours by what they mean.
    """
    if not legend:
        figure.supxlabel(note, fontsize=6, color=_QUIET, wrap=True)
        return
    patches = [
        Patch(facecolor=colour, edgecolor=_QUIET, linewidth=0.4, label=short_name(text, 28))
        for text, colour in legend.items()
    ]
    foot = figure.legend(
        handles=patches, loc="outside lower center", ncols=min(len(patches), 5), title=note
    )
    foot.get_title().set(fontsize=6, color=_QUIET)


def foot_height(note: str, legend: Mapping[str, str] | None = None) -> float:
    """Return the inches that `add_foot` needs."""
    return 0.17 * bool(note) + 0.22 * math.ceil(len(legend or ()) / 5)


def joined_notes(notes: Mapping[str, str]) -> str:
    """Say what of which case is shown; once, when it is the same for all.

    Example:
        >>> joined_notes({"p1": "slice 3 of 9", "p2": ""}), joined_notes({"p1": "cut", "p2": "cut"})
        ('p1: slice 3 of 9', 'cut')
    """
    same = set(notes.values())
    if len(same) == 1:
        return same.pop()
    return "; ".join(f"{short_name(case, 24)}: {note}" for case, note in notes.items() if note)


def tick_names(axis_setter: Callable[..., Any], names: list[str], **options: Any) -> None:
    """Put one name at each whole number of an axis; `axis_setter` is `Axes.set_xticks` or y."""
    axis_setter(range(len(names)), labels=names, **options)


def frame(axes: Axes, colour: str | None = None) -> None:
    """Leave of an image's axes only a frame, in the colour of whose drawing it shows."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.4 if colour is None else 1.8)
        spine.set_color("#888888" if colour is None else colour)
