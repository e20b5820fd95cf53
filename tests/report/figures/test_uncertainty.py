from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import entropy as scipy_entropy

from multirater.report.figures import draw_uncertainty
from multirater.report.figures.uncertainty import entropy


def _panels(figure):
    return {axes.get_title(): axes for axes in figure.axes if axes.get_title()}


def test_entropy_is_that_of_scipy(view):
    np.testing.assert_allclose(entropy(view.probability), scipy_entropy(view.probability, axis=0))


def test_panels_hold_the_maps_on_fixed_scales(view, classes):
    panels = _panels(draw_uncertainty([view], classes))
    assert list(panels) == ["image", "estimate", "probability", "entropy", "disagreement"]
    shown = panels["probability"].images[0]
    np.testing.assert_array_equal(shown.get_array(), view.probability[1])
    assert shown.get_clim() == (0, 1)
    assert panels["entropy"].images[0].get_clim() == (0, np.log(2))
    disputed = panels["disagreement"].images[0]
    assert disputed.get_array()[9, 9] == 0.0  # within the smallest square
    assert np.isclose(disputed.get_array()[11, 11], 1 / 3)  # anna leaves it out
    assert disputed.get_clim() == (0, 0.5)


def test_all_cases_share_a_scale(view, classes):
    other = replace(view, name="p2", probability=view.probability[::-1] * 0.5)
    figure = draw_uncertainty([view, other], classes)
    limits = {axes.images[0].get_clim() for axes in figure.axes[2:10:5]}
    assert limits == {(0, 1)}


def test_what_is_not_there_has_no_column(view, classes):
    bare = replace(view, probability=None, labels={}, image=None)
    assert list(_panels(draw_uncertainty([bare], classes))) == ["estimate"]


def test_the_estimate_is_that_of_the_probability(view, classes):
    panels = _panels(draw_uncertainty([view], classes))
    cover = panels["estimate"].images[1].get_array()[..., 3] > 0
    np.testing.assert_array_equal(cover, view.estimates["network"] > 0)
