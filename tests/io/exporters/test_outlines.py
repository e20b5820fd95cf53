"""Outlines along pixel edges, put on the grid again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from multirater.io.drawings.shapes import Shape, covered
from multirater.io.exporters.outlines import outlines
from multirater.io.exporters.pieces import pieces


@given(
    hnp.arrays(
        np.int16, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.integers(0, 2)
    )
)
def test_every_pixel_comes_back(label):
    again = np.zeros_like(label)
    for index, mask in pieces(label):
        rings = tuple(np.array(ring, dtype=float) for ring in outlines(mask))
        again[covered(Shape("", "polygon", rings), label.shape)] = index
    np.testing.assert_array_equal(again, label)
