from __future__ import annotations

from dataclasses import replace

import numpy as np

from multirater.report.figures import draw_confusion_maps
from multirater.report.figures.style import ADDED, MISSED
from multirater.types import Classes

RATERS = ["anna", "bert", "cleo"]


def _lines(figure, n_raters=3):
    n_columns = (len(figure.axes) - 1) // n_raters  # the last axes are the colour bar
    return [figure.axes[k * n_columns : (k + 1) * n_columns] for k in range(n_raters)]


def test_a_line_per_rater_with_maps_on_one_scale(view, classes):
    figure = draw_confusion_maps(view, RATERS, classes)
    lines = _lines(figure)
    assert [line[0].get_ylabel() for line in lines] == RATERS
    for rater, line in zip(RATERS, lines, strict=True):
        maps = np.stack([axes.images[0].get_array() for axes in line[3:]])
        np.testing.assert_array_equal(maps, view.confusion[rater].reshape(4, 20, 24))
        assert {axes.images[0].get_clim() for axes in line[3:]} == {(0, 1)}


def test_columns_say_true_and_observed(view, classes):
    titles = [axes.get_title() for axes in _lines(draw_confusion_maps(view, RATERS, classes))[0]]
    assert titles[:3] == ["drawn", "predicted\ndrawing", "predicted\nerrors"]
    assert titles[4] == "background\n→ class 1"


def test_errors_compare_with_the_truth_of_the_same_network(view, classes):
    label = np.zeros((20, 24), dtype=np.int16)
    label[0, 0] = 1
    figure = draw_confusion_maps(replace(view, drawn={"anna": label}), RATERS, classes)
    shown = _lines(figure)[0][2].images[0].get_array()
    colour = lambda text: [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]  # noqa: E731
    np.testing.assert_allclose(shown[0, 0], colour(ADDED))
    missed = np.isclose(shown, colour(MISSED)).all(-1)
    np.testing.assert_array_equal(missed, view.estimates["network"] > 0)


def test_many_raters_are_cut_with_a_note(view, classes):
    raters = [f"rater {number}" for number in range(40)]
    maps = view.confusion["anna"]
    many = replace(view, labels={}, drawn={}, confusion=dict.fromkeys(raters, maps))
    figure = draw_confusion_maps(many, raters, classes)
    assert len(figure.axes) == 8 * 4 + 1
    assert "8 of 40 raters shown" in figure.get_supxlabel()


def test_of_many_classes_the_heaviest_confusions_are_shown(view):
    cm = np.full((5, 5, 20, 24), 0.01)
    for pair in ((0, 3), (2, 1), (4, 0), (1, 2)):
        cm[pair] = 0.4
    figure = draw_confusion_maps(
        replace(view, labels={}, drawn={}, confusion={"anna": cm}), RATERS, Classes.numbered(5)
    )
    titles = [axes.get_title() for axes in figure.axes[:-1]]
    assert titles == [
        "background\n→ class 3",
        "class 1\n→ class 2",
        "class 2\n→ class 1",
        "class 4\n→ background",
    ]
