"""Whether a model knows where raters differ: predicted against real consensus level."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from multirater.evaluation import Evaluation
from multirater.evaluation.case_scores import CONSENSUS, PREDICTED_CONSENSUS
from multirater.report.colours import rater_colours
from multirater.report.figures.style import COLUMN_WIDTH, in_style, new_figure
from multirater.words import counted


@in_style
def draw_consensus(found: Evaluation) -> Figure:
    """Draw predicted against real consensus level of each case, as in Zhang 2020, Fig. 14.

    The consensus level is the mean IoU of every two raters of a case. The solid line is the
    least-squares line, the dashed one is where both levels are equal.

    Args:
        found: evaluation of predictions that say what each rater would draw.

    Returns:
        A square figure as wide as a column. Cases with an unknown level are left out.
    """
    real, predicted = consensus_levels(found)
    figure = new_figure(COLUMN_WIDTH, COLUMN_WIDTH)
    axes = figure.add_subplot()
    colour = rater_colours(1)[0]
    axes.plot([0, 1], [0, 1], "--", color="#888888", linewidth=0.8, label="equal", zorder=1)
    axes.scatter(real, predicted, s=14, color=colour, alpha=0.6, linewidths=0, zorder=2)
    if len(real) > 2 and np.ptp(real) > 0:
        slope, offset = np.polyfit(real, predicted, 1)
        ends = np.array([real.min(), real.max()])
        axes.plot(ends, slope * ends + offset, color="black", label="least squares", zorder=3)
    ends_of_scale = _scale(np.concatenate([real, predicted]))
    axes.set(xlim=ends_of_scale, ylim=ends_of_scale, aspect="equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(0.1))
    axes.set_xlabel("consensus of the raters (mean IoU of pairs)")
    axes.set_ylabel("consensus of the predicted raters")
    # Where the points are not: most lie on one side of the diagonal.
    above = bool(len(real)) and float(np.mean(predicted - real)) > 0
    axes.legend(loc="lower right" if above else "upper left", title=_correlations(found, len(real)))
    return figure


def consensus_levels(found: Evaluation) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return real and predicted levels of the cases where both are known."""
    if not {CONSENSUS, PREDICTED_CONSENSUS} <= set(found.cases.columns):
        return np.empty(0), np.empty(0)
    levels = found.cases[[CONSENSUS, PREDICTED_CONSENSUS]].to_numpy(dtype=float)
    known = levels[~np.isnan(levels).any(axis=1)]
    return known[:, 0], known[:, 1]


def _scale(levels: NDArray[np.float64]) -> tuple[float, float]:
    """Tenths around all levels, at least four of them, the same for both axes."""
    low = int(np.floor(10 * levels.min(initial=1.0)))
    high = int(np.ceil(10 * levels.max(initial=0.0)))
    low = max(min(low, high - 4), 0)
    return low / 10 - 0.01, max(high, low + 4) / 10 + 0.01


def _correlations(found: Evaluation, n_cases: int) -> str:
    lines = [counted(n_cases, "case")]
    for name, sign in (("Pearson", "r"), ("Spearman", "\N{GREEK SMALL LETTER RHO}")):
        key = (f"{CONSENSUS} {name}", "all")
        if key in found.scores.index:
            row: Any = found.scores.loc[key]
            if not np.isnan(row["value"]):
                lines.append(f"{sign} = {row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}]")
    return "\n".join(lines)
