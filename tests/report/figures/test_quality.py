from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from multirater.report.colours import rater_colours
from multirater.report.figures import draw_quality
from multirater.report.figures.style import PAGE_HEIGHT


def _table(quality, names=None):
    names = names or [f"rater {k}" for k in range(len(quality))]
    columns = {"quality": quality, "quality_low": np.array(quality) - 0.1, "quality_high": quality}
    return pd.DataFrame(columns, index=pd.Index(names, name="rater"))


def _dots(axes):
    return [line for line in axes.lines if line.get_marker() == "o"]


def test_raters_are_in_order_of_quality_and_keep_their_colours():
    (axes,) = draw_quality(_table([0.7, 0.9, 0.5], ["a", "b", "c"])).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["c", "a", "b"]
    assert [float(dot.get_xdata()[0]) for dot in _dots(axes)] == [0.5, 0.7, 0.9]
    colours = rater_colours(3)
    assert [to_hex(dot.get_color()) for dot in _dots(axes)] == [colours[2], colours[0], colours[1]]


def test_intervals_are_lines_and_numbers():
    (axes,) = draw_quality(_table([0.7])).axes
    (interval,) = [line for line in axes.lines if line.get_marker() != "o"]
    np.testing.assert_allclose(interval.get_xdata(), [0.6, 0.7])
    assert [text.get_text() for text in axes.texts] == ["0.700 [0.600, 0.700]"]


def test_an_unknown_interval_has_no_line():
    (axes,) = draw_quality(_table([0.7]).assign(quality_low=np.nan)).axes
    assert len(axes.lines) == 1
    assert [text.get_text() for text in axes.texts] == ["0.700"]


def test_two_classes_have_sensitivity_and_specificity():
    table = _table([0.7])
    for name in ("sensitivity", "specificity"):
        table[[name, f"{name}_low", f"{name}_high"]] = 0.8
    figure = draw_quality(table)
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["quality", "sensitivity", "specificity"]
    assert {axes.get_xlim() for axes in figure.axes} == {(-0.02, 1.02)}


@pytest.mark.parametrize("n_raters", [1, 40, 200])
def test_any_number_of_raters_fits_a_page(n_raters):
    figure = draw_quality(_table(np.linspace(1, 0.2, n_raters)))
    assert figure.get_size_inches()[1] <= PAGE_HEIGHT
    n_shown = len(_dots(figure.axes[0]))
    assert (n_shown < n_raters) == (n_raters == 200)
    assert ("of 200 raters shown" in figure.get_supxlabel()) == (n_raters == 200)
    assert _dots(figure.axes[0])[0].get_xdata()[0] == (1.0 if n_raters == 1 else 0.2)


def test_an_unknown_value_is_said_to_be_unknown():
    table = _table([0.7, np.nan]).assign(quality_low=0.0, quality_high=1.0)
    (axes,) = draw_quality(table).axes
    assert sorted(text.get_text() for text in axes.texts)[-1] == "not known"
    assert sum(line.get_marker() != "o" for line in axes.lines) == 1
