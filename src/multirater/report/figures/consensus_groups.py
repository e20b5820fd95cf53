"""Dice in groups of cases by how far the raters agree, method beside method."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from multirater.evaluation import Evaluation
from multirater.evaluation.consensus import GROUPS
from multirater.report.colours import rater_colours
from multirater.report.figures.names import short_name
from multirater.report.figures.style import COLUMN_WIDTH, PAGE_WIDTH, add_foot, in_style, new_figure

_MOST_METHODS = 12
_MOST_IN_COLUMN = 12
"""Marks that fit into one column."""

_MARKERS = "osD^vPX<>*hd"


@in_style
def draw_consensus_groups(evaluations: Mapping[str, Evaluation]) -> Figure:
    """Draw mean Dice with intervals by consensus group, as in Zhang 2020, Fig. 15.

    Args:
        evaluations: by the name of the method, all on the same cases.

    Returns:
        Groups from low to high consensus, without those that hold no case.
    """
    shown = dict(list(evaluations.items())[:_MOST_METHODS])
    groups = [name for name in GROUPS if any(e.groups.loc[name, "n_cases"] for e in shown.values())]
    width = COLUMN_WIDTH if len(shown) * len(groups) <= _MOST_IN_COLUMN else PAGE_WIDTH
    figure = new_figure(width, 2.5)
    axes = figure.add_subplot()
    step = 0.7 / len(shown)
    for place, (method, found) in enumerate(shown.items()):
        table = found.groups.loc[groups]
        value, low, high = (table[table.columns[k]].to_numpy(dtype=float) for k in (3, 4, 5))
        ends = np.nan_to_num(np.stack([value - low, high - value]))
        axes.errorbar(
            np.arange(len(groups)) + (place - (len(shown) - 1) / 2) * step,
            value,
            yerr=np.maximum(ends, 0),
            fmt=_MARKERS[place],
            markersize=4,
            elinewidth=1,
            capsize=2,
            color=rater_colours(_MOST_METHODS)[place],
            label=short_name(method, 24),
        )
    return _finish(figure, shown, groups, len(evaluations))


def _finish(
    figure: Figure, shown: Mapping[str, Evaluation], groups: list[str], n_methods: int
) -> Figure:
    (axes,) = figure.axes
    first = next(iter(shown.values()))
    measure = first.groups.columns[3]
    names = [f"{g}\n{_span(g)}\nn = {_n_cases(shown, g)}" for g in groups]
    axes.set_xticks(range(len(groups)), labels=names)
    axes.set(xlim=(-0.5, len(groups) - 0.5), ylabel=measure)
    lowest = max(np.floor(10 * axes.get_ylim()[0]) / 10, 0)
    axes.set_ylim(lowest, 1 + 0.03 * (1 - lowest))
    axes.set_yticks([tick for tick in axes.get_yticks() if lowest <= tick <= 1.001])
    axes.set_xlabel("consensus of the raters (mean IoU of pairs)")
    axes.grid(axis="y", linewidth=0.4, color="#dddddd")
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2 if figure.get_figwidth() < PAGE_WIDTH else 4)
    parts = [f"bars: {first.level:.0%} intervals from drawing cases again"]
    if len(shown) < n_methods:
        parts.append(f"{len(shown)} of {n_methods} methods shown")
    add_foot(figure, "; ".join(parts))
    return figure


def _span(group: str) -> str:
    low, high = GROUPS[group]
    return f"{low:.2f} to {high:.2f}"


def _n_cases(shown: Mapping[str, Evaluation], group: str) -> str:
    counts = sorted({int(found.groups["n_cases"].loc[group]) for found in shown.values()})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
