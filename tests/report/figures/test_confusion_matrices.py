from __future__ import annotations

import numpy as np
import pytest

from multirater.report.figures import draw_confusion_matrices
from multirater.report.figures.style import PAGE_HEIGHT, PAGE_WIDTH


def _random(n_raters, n_classes):
    cm = np.random.default_rng(0).uniform(0.01, 1, (n_raters, n_classes, n_classes))
    return cm / cm.sum(-1, keepdims=True)


def _matrices(figure):
    return [axes for axes in figure.axes if axes.get_title()]


def test_every_rater_has_a_matrix_with_its_numbers():
    cm = _random(3, 2)
    panels = _matrices(draw_confusion_matrices(cm, ["a", "b", "c"], ["no", "yes"]))
    assert [axes.get_title() for axes in panels] == ["a", "b", "c"]
    for axes, expected in zip(panels, cm, strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), expected)
        assert axes.images[0].get_clim() == (0, 1)
        written = [float(text.get_text()) for text in axes.texts]
        np.testing.assert_allclose(written, expected.ravel(), atol=0.005)


def test_true_runs_downwards_and_observed_to_the_right():
    axes, *_ = _matrices(draw_confusion_matrices(_random(1, 2), ["a"], ["no", "yes"]))
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("true", "observed")
    assert [text.get_text() for text in axes.get_yticklabels()] == ["no", "yes"]


def test_an_unknown_row_has_no_numbers():
    cm = np.array([[[np.nan, np.nan], [0.25, 0.75]]])
    axes, *_ = _matrices(draw_confusion_matrices(cm, ["a"], ["no", "yes"]))
    assert [text.get_text() for text in axes.texts] == ["0.25", "0.75"]


@pytest.mark.parametrize(("n_raters", "n_classes"), [(1, 2), (40, 2), (5, 10), (40, 10), (2, 30)])
def test_any_number_fits_a_page(n_raters, n_classes):
    cm = _random(n_raters, n_classes)
    raters = [f"rater {number}" for number in range(n_raters)]
    figure = draw_confusion_matrices(cm, raters, [f"class {k}" for k in range(n_classes)])
    width, height = figure.get_size_inches()
    assert width <= PAGE_WIDTH + 0.01
    assert height <= PAGE_HEIGHT
    n_shown = len(_matrices(figure))
    assert (n_shown < n_raters) == ("raters shown" in figure.get_supxlabel())


def test_of_too_many_raters_the_least_skilled_are_shown():
    cm = np.stack([[[p, 1 - p], [1 - p, p]] for p in np.linspace(1, 0.5, 60)])
    raters = [f"rater {number}" for number in range(60)]
    shown = [axes.get_title() for axes in _matrices(draw_confusion_matrices(cm, raters, "ab"))]
    assert shown == raters[-len(shown) :]
