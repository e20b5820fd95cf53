import numpy as np
import pytest

from multirater.simulate.scribble import scribble_order


def curve(shape, order):
    return np.argwhere(shape & (order <= 0))


def test_the_curve_runs_along_the_middle_of_a_bent_stroke():
    corner = np.zeros((60, 60), dtype=bool)
    corner[5:16, 5:55] = corner[5:55, 5:16] = True
    order = scribble_order(corner, np.array([50, 14]), 0.3, np.ones(2))
    places = curve(corner, order)
    upright = places[(places[:, 0] > 22) & (places[:, 0] < 45)]
    assert len(upright) > 15
    assert np.abs(upright[:, 1] - 10).max() <= 1


def test_it_starts_where_asked_and_ends_on_the_edge():
    y, x = np.ogrid[-20:21, -20:21]
    disc = y**2 + x**2 <= 18**2
    order = scribble_order(disc, np.array([20, 20]), 0.1, np.ones(2))
    places = curve(disc, order)
    values = order[tuple(places.T)]
    assert places[values.argmax()].tolist() == [20, 20]
    end = places[values.argmin()]
    assert np.hypot(*(end - 20)) == pytest.approx(18, abs=1.5)
    steps = np.abs(np.diff(places[values.argsort()], axis=0)).max(axis=1)
    assert (steps == 1).all()


def test_beside_the_curve_the_order_is_the_distance_to_it():
    stroke = np.zeros((9, 30), dtype=bool)
    stroke[2:7, 2:28] = True
    order = scribble_order(stroke, np.array([4, 4]), 0.5, np.array([2.0, 1.0]))
    line = curve(stroke, order)
    place = np.array([2, 10])
    assert order[2, 10] == pytest.approx(np.sqrt((((line - place) * [2, 1]) ** 2).sum(1)).min())


def test_the_curve_keeps_away_from_the_border_of_the_image():
    background = np.ones((61, 61), dtype=bool)
    background[28:33, 28:33] = False
    for edge in (0.1, 0.5, 0.9):
        places = curve(background, scribble_order(background, np.array([3, 3]), edge, np.ones(2)))
        on_border = (places <= 1) | (places >= 59)
        assert not on_border.any()


def test_a_whole_image_and_a_single_pixel_work():
    whole = np.ones((7, 7), dtype=bool)
    assert np.isfinite(scribble_order(whole, np.array([3, 3]), 0.3, np.ones(2))).all()
    point = np.zeros((3, 3, 3), dtype=bool)
    point[1, 1, 1] = True
    order = scribble_order(point, np.array([1, 1, 1]), 0.9, np.ones(3))
    assert order[1, 1, 1] == 0
