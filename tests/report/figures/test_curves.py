from __future__ import annotations

import numpy as np
import pandas as pd

from multirater.report.figures import draw_curves
from multirater.report.figures.curves import best_epoch


def _curves(**columns):
    return pd.DataFrame({"epoch": range(4), **columns})


def test_curves_are_those_of_the_table():
    table = _curves(
        train_nll=[0.9, 0.5, 0.3, 0.2],
        train_trace=[2.0, 1.9, 1.8, 1.7],
        val_nll=[0.8, 0.6, 0.4, 0.5],
        learning_rate=[1e-3, 3e-3, 2e-3, 1e-4],
    )
    figure = draw_curves(table)
    loss, trace, rate = figure.axes
    lines = {line.get_label(): line for line in loss.lines}
    np.testing.assert_array_equal(lines["held out"].get_ydata(), table["val_nll"])
    np.testing.assert_array_equal(lines["training"].get_xdata(), [1, 2, 3, 4])
    np.testing.assert_array_equal(trace.lines[0].get_ydata(), table["train_trace"])
    np.testing.assert_array_equal(rate.lines[0].get_ydata(), table["learning_rate"])
    assert lines["likeliest"].get_xdata()[0] == 3


def test_what_was_not_measured_has_no_panel():
    nothing = [np.nan] * 4
    table = _curves(train_nll=[0.9, 0.5, 0.6, 0.7], val_nll=nothing, train_trace=nothing)
    (loss,) = draw_curves(table).axes
    assert [line.get_label() for line in loss.lines] == ["training", "likeliest"]
    assert best_epoch(table) == 2
