import numpy as np
import pytest

from multirater.io.importers.lidc.scan import (
    Contour,
    NoduleDrawing,
    heights_of,
    slice_of,
    slice_spacing,
)


def drawing(*heights):
    point = np.zeros((1, 2), dtype=np.int64)
    return NoduleDrawing(tuple(Contour(z, True, point) for z in heights))


def test_rounded_heights_do_not_drift_over_a_long_scan():
    true = np.round(np.arange(400) * 0.625 - 300, 2)
    heights = heights_of([drawing(*true[5:9]), drawing(*true[200:230]), drawing(*true[390:399])])
    outlined = np.r_[true[5:9], true[200:230], true[390:399]]
    assert np.isin(outlined, heights).all()
    assert len(heights) == 394
    assert np.diff(heights).min() > 0.6


def test_slices_that_one_reader_skipped_are_there():
    assert heights_of([drawing(0, 2, 4), drawing(2, 4, 8)]).tolist() == [0, 2, 4, 6, 8]


def test_a_single_slice_has_unit_spacing():
    heights = heights_of([drawing(7.0), drawing(7.0)])
    assert heights.tolist() == [7.0]
    assert slice_spacing(heights) == 1.0


def test_readers_on_one_slice_each_tell_the_spacing_together():
    assert slice_spacing(heights_of([drawing(7.0), drawing(9.5)])) == 2.5


def test_spacing_has_no_noise():
    assert slice_spacing(np.array([-125.6, -123.8, -122.0])) == 1.8


@pytest.mark.parametrize(("z", "expected"), [(-9.0, 0), (1.2, 1), (99.0, 2)])
def test_nearest_slice(z, expected):
    assert slice_of(z, np.array([0.0, 1.0, 2.0])) == expected
