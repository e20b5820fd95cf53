from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from multirater.report.colours import rater_colours
from multirater.report.figures import draw_drawings
from multirater.report.figures.style import PAGE_HEIGHT, PAGE_WIDTH
from multirater.types import Classes, LabelClass

RATERS = ["anna", "bert", "cleo"]


def _titles(figure):
    return [axes.get_title() for axes in figure.axes if axes.get_title()]


def test_a_case_is_image_raters_methods_truth(view, classes):
    figure = draw_drawings([view], RATERS, classes)
    assert _titles(figure) == ["image", "all raters", *RATERS, "staple", "network", "truth"]


def test_panels_show_the_drawings(view, classes):
    figure = draw_drawings([view], RATERS, classes)
    cover = figure.axes[3].images[1].get_array()
    np.testing.assert_array_equal(cover[..., 3] > 0, view.labels["bert"] > 0)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), view.image)


def test_raters_keep_their_colour_when_others_are_absent(view, classes):
    alone = replace(view, labels={"cleo": view.labels["cleo"]}, estimates={}, truth=None)
    figure = draw_drawings([alone], RATERS, classes)
    frame = figure.axes[2].spines["left"].get_edgecolor()
    assert to_hex(frame) == rater_colours(3)[2]


def test_unlabelled_pixels_are_covered(view, classes):
    label = view.labels["anna"].copy()
    label[:, :3] = -1
    figure = draw_drawings([replace(view, labels={"anna": label})], RATERS, classes)
    assert figure.axes[2].images[1].get_array()[:, :3, 3].min() > 0.5


def test_a_rater_who_did_not_label_a_case_is_said_to_have_no_label(view, classes):
    other = replace(view, labels={"anna": view.labels["anna"]})
    figure = draw_drawings([view, other], RATERS, classes)
    n_columns = len(figure.axes) // 2
    below = figure.axes[n_columns + 3]
    assert [text.get_text() for text in below.texts] == ["no label"]


def test_several_classes_have_a_legend(view):
    named = Classes((LabelClass("background"), LabelClass("oedema"), LabelClass("core", "#123456")))
    figure = draw_drawings([view], RATERS, named)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["oedema", "core"]
    assert to_hex(legend.get_patches()[1].get_facecolor()) == "#123456"


@pytest.mark.parametrize("n_raters", [1, 9, 40])
def test_any_number_of_raters_fits_a_page(view, classes, n_raters):
    raters = [f"rater {number}" for number in range(n_raters)]
    many = replace(view, labels=dict.fromkeys(raters, view.labels["anna"]))
    figure = draw_drawings([many] * 5, raters, classes)
    width, height = figure.get_size_inches()
    assert width <= PAGE_WIDTH + 0.01
    assert height <= PAGE_HEIGHT
    shown = [title for title in _titles(figure) if title.startswith("rater ")]
    assert len(set(shown)) == min(n_raters, 11)
    assert ("11 of 40 raters shown" in figure.get_supxlabel()) == (n_raters == 40)


def test_the_part_of_the_case_is_noted(view, classes):
    figure = draw_drawings([replace(view, note="slice 3 of 9")], RATERS, classes)
    assert figure.get_supxlabel() == "slice 3 of 9"


def test_without_image_there_is_no_empty_panel(view, classes):
    figure = draw_drawings([replace(view, image=None)], RATERS, classes)
    assert _titles(figure)[0] == "all raters"
