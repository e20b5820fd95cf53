"""Outlines from a few numbers, upright and turned."""

import numpy as np

from multirater.io.drawings.outlines import box, ellipse, turned


def test_a_quarter_turn_takes_the_upper_left_corner_to_the_upper_right():
    ring = turned(box(0, 0, 2, 2), 90)
    np.testing.assert_allclose(ring[0], (2, 0), atol=1e-12)
    np.testing.assert_allclose(turned(ring, -90), box(0, 0, 2, 2), atol=1e-12)


def test_an_ellipse_reaches_as_far_as_its_radii():
    ring = ellipse(5, 3, 4, 2)
    np.testing.assert_allclose([ring.min(0), ring.max(0)], [(1, 1), (9, 5)])
