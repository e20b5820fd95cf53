from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from multirater.report.figures import draw_recurrence_curves, draw_recurrences


def stepped(view, n_steps=3):
    steps = [np.stack([1 - p, p]) for p in np.linspace(0.2, 0.9, n_steps)]
    maps = [np.broadcast_to(step[:, None, None], (2, *view.shape)) for step in steps]
    return replace(view, recurrences=maps)


def test_each_recurrence_has_a_panel_on_one_scale(view):
    figure = draw_recurrences([stepped(view)])
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["image", "recurrence 0", "recurrence 1", "recurrence 2", "raters"]
    maps = [axes.images[0] for axes in figure.axes[1:5]]
    assert {shown.get_clim() for shown in maps} == {(0, 1)}
    assert np.allclose([shown.get_array()[0, 0] for shown in maps[:3]], [0.2, 0.55, 0.9])


def test_the_last_panel_is_the_share_of_raters(view):
    shown = draw_recurrences([stepped(view)]).axes[4].images[0].get_array()
    assert np.isclose(shown[4, 5], 1.0)
    assert np.isclose(shown[13, 14], 1 / 3)  # within the largest square only


def test_cases_of_fewer_recurrences_keep_their_last(view):
    figure = draw_recurrences([stepped(view), stepped(replace(view, name="p2"), 2)])
    second = [axes.images[0].get_array()[0, 0] for axes in figure.axes[6:9]]
    assert np.allclose(second, [0.2, 0.9, 0.9])


def test_every_rater_has_a_line_and_soft_dice_its_own():
    table = pd.DataFrame(
        {"soft Dice with mean of raters": [0.8, 0.85], "anna": [0.7, 0.9], "bert": [0.6, 0.5]}
    )
    axes = draw_recurrence_curves(table).axes[0]
    lines = {line.get_label(): line.get_ydata().tolist() for line in axes.lines}
    assert lines == {str(name): table[name].tolist() for name in table}
    assert axes.lines[-1].get_color() == "black"
