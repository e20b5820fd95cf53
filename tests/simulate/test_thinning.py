"""Thinning against scikit-image."""

import numpy as np
import pytest
from scipy import ndimage

from multirater.simulate.thinning import thin


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("width", [0.0, 1.0, 3.0])
def test_lines_are_those_of_scikit_image(ndim, width):
    morphology = pytest.importorskip("skimage.morphology")
    rng = np.random.default_rng(int(width))
    for _ in range(8):
        space = tuple(rng.integers(1, 48 if ndim == 2 else 16, ndim))
        shape = ndimage.gaussian_filter(rng.standard_normal(space), width) > 0
        np.testing.assert_array_equal(thin(shape), morphology.skeletonize(shape) > 0)


def test_every_small_image_is_thinned_as_by_scikit_image():
    morphology = pytest.importorskip("skimage.morphology")
    for code in range(512):
        shape = ((code >> np.arange(9)) & 1).astype(bool).reshape(3, 3)
        np.testing.assert_array_equal(thin(shape), morphology.skeletonize(shape))


@pytest.mark.parametrize("space", [(0, 3), (1, 1), (4, 1, 3)])
def test_the_shape_is_not_changed(space):
    shape = np.ones(space, dtype=bool)
    line = thin(shape)
    assert shape.all()
    assert line.shape == space
    assert (line <= shape).all()
