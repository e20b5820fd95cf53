"""Images on other grids: what is too fine to be meant."""

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.training import resampling
from multirater.training.resampling import resize_maps


def test_a_grid_with_far_more_pixels_than_the_image_is_refused_before_memory_is_taken():
    image = np.zeros((1, 32, 32), dtype=np.float32)
    with pytest.raises(InputError, match=r"32 x 32 would become one of 21845 x 21845: 1.9 GB"):
        resize_maps(image, (21845, 21845))


def test_slices_ten_times_as_thick_as_wide_are_brought_to_cubes(monkeypatch):
    monkeypatch.setattr(resampling, "_USUAL", 0)  # as if the volume were large
    monkeypatch.setattr(resampling, "free_memory", lambda: 2**32)
    volume = np.zeros((1, 64, 128, 128), dtype=np.float32)
    assert resize_maps(volume, (640, 128, 128)).shape == (1, 640, 128, 128)


def test_what_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr(resampling, "free_memory", lambda: 2**26)
    with pytest.raises(InputError, match="fit into memory"):
        resize_maps(np.zeros((1, 64, 128, 128), dtype=np.float32), (640, 128, 256))
