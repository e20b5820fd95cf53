import numpy as np
import pytest

from multirater.errors import InputError
from multirater.training.finite import require_finite, require_small_offsets


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.float32, np.float64])
def test_ordinary_images_pass(kind):
    require_finite(np.arange(12, dtype=kind).reshape(1, 3, 4))


@pytest.mark.parametrize(
    ("value", "words"),
    [(np.nan, "NaN or infinite at 1 place"), (-np.inf, "NaN or infinite"), (-1e300, "too large")],
)
def test_what_no_label_can_follow_from_is_refused_by_name(value, words):
    image = np.ones((1, 3, 4))
    image[0, 1, 2] = value
    with pytest.raises(InputError, match=words) as caught:
        require_finite(image, "ear")
    assert caught.value.faults[0].case == "ear"


def test_features_far_from_zero_are_named():
    random = np.random.default_rng(0)
    near = random.normal(0, 40, (50, 3)) + np.array([0, 1e5, 3e6])
    require_small_offsets(near)
    require_small_offsets(np.full((50, 2), 1.7e9))
    far = near + np.array([0, 1.7e9, 0])
    with pytest.raises(InputError, match="feature 2 is about"):
        require_small_offsets(far)
