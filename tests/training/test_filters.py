import numpy as np

from multirater.training.filters import SCALES, responses


def test_a_flat_image_has_its_intensity_and_no_slope():
    found = responses(np.full((1, 16, 16), 3.0, dtype=np.float32))
    n_smooth = 1 + len(SCALES)
    assert np.allclose(found[:n_smooth], 3, atol=1e-5)
    assert np.allclose(found[n_smooth:], 0, atol=1e-5)


def test_every_channel_is_filtered_by_itself():
    random = np.random.default_rng(0)
    image = random.random((2, 8, 8)).astype(np.float32)
    both, first = responses(image), responses(image[:1])
    assert both.shape == (2 * len(first), 8, 8)
    assert np.array_equal(both[: len(first)], first)


def test_volumes_and_flat_axes_are_filtered_too():
    assert np.isfinite(responses(np.random.default_rng(0).random((1, 1, 8, 8)))).all()
    assert responses(np.zeros((1, 4, 8, 8), dtype=np.float32)).shape == (10, 4, 8, 8)
