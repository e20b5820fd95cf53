"""How far every two raters agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from multirater.report.figures.heat_map import show_matrix
from multirater.report.figures.names import short_names, text_width
from multirater.report.figures.style import (
    COLUMN_WIDTH,
    PAGE_WIDTH,
    add_foot,
    in_style,
    new_figure,
    tick_names,
)
from multirater.report.pair_matrix import cluster_order
from multirater.verbs.agreement import Agreement

_MOST_RATERS = 48


@in_style
def draw_agreement(found: Agreement, raters: Sequence[str]) -> Figure:
    """Draw the agreement of every two raters: mean Dice of masks, Cohen's kappa of class labels.

    Args:
        found: as `multirater.agreement` gives it.
        raters: names; those who agree stand side by side.

    Returns:
        A figure as wide as a column, or as a page for many raters. Two raters who share no case,
        and the diagonal, stay grey. Raters that do not fit are left out, with a note.
    """
    measure = "Dice" if "Dice" in found.pairs.columns else "Cohen kappa"
    first = list(raters[:_MOST_RATERS])
    shown = [first[i] for i in cluster_order(agreement_matrix(found, first, measure))]
    values = agreement_matrix(found, shown, measure)
    width = COLUMN_WIDTH if len(shown) <= 10 else PAGE_WIDTH
    figure = new_figure(width, width * 0.9)
    axes = figure.add_subplot()
    lowest = float(np.nanmin(values)) if (~np.isnan(values)).any() else 0.0
    cells = (width - 1.2) / len(shown)
    image = show_matrix(axes, values, cell=cells, low=min(lowest, 0.0))
    names = short_names(shown, 14)
    tick_names(axes.set_xticks, names, rotation=90 if text_width(names) > cells else 0)
    tick_names(axes.set_yticks, names)
    if len(shown) > 24:
        axes.tick_params(labelsize=5)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    label = "mean Dice of the cases both labelled" if measure == "Dice" else "Cohen's kappa"
    figure.colorbar(image, ax=axes, label=label, shrink=0.8, aspect=25)
    if len(shown) < len(raters):
        add_foot(figure, f"the first {len(shown)} of {len(raters)} raters shown")
    return figure


def agreement_matrix(
    found: Agreement, raters: Sequence[str], measure: str
) -> NDArray[np.floating[Any]]:
    """Lay pairs out as a symmetric matrix (n_raters, n_raters), NaN where nothing is known."""
    place = {rater: number for number, rater in enumerate(raters)}
    values = np.full((len(raters), len(raters)), np.nan)
    pairs = found.pairs[["rater a", "rater b", measure]]
    for one, other, value in pairs.itertuples(index=False):
        if one in place and other in place:
            values[place[one], place[other]] = values[place[other], place[one]] = value
    return values
