import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from multirater.report.pictures import as_shades, encode_picture


def decoded(text):
    return np.asarray(Image.open(BytesIO(base64.b64decode(text))).convert("L"))


def test_bytes_stay_as_they_are(rng):
    image = rng.integers(0, 255, (1, 8, 9)).astype(np.uint8)
    (shades,) = as_shades(image)
    assert np.array_equal(shades, image[0])


def test_three_channels_of_bytes_are_a_colour_picture(rng):
    (shades,) = as_shades(rng.integers(0, 255, (3, 8, 9)).astype(np.uint8))
    assert shades.shape == (8, 9, 3)


def test_modalities_are_shown_one_by_one_and_at_most_four(rng):
    assert len(as_shades(rng.normal(size=(6, 8, 9)))) == 4


def test_numbers_are_spread_and_outliers_cut():
    image = np.linspace(-1000, 1000, 10_000).reshape(1, 100, 100)
    image[0, 0, 0], image[0, 0, 1] = 1e9, np.nan
    (shades,) = as_shades(image)
    assert shades[0, 0] == 255
    assert abs(int(shades[50, 0]) - 127) < 4


@pytest.mark.parametrize("value", [0.0, 7.5, np.nan])
def test_an_even_image_is_no_obstacle(value):
    (shades,) = as_shades(np.full((1, 4, 4), value))
    assert shades.shape == (4, 4)


def test_small_pictures_lose_nothing(rng):
    shades = rng.integers(0, 255, (28, 28)).astype(np.uint8)
    assert np.array_equal(decoded(encode_picture(shades, 100_000)), shades)


@pytest.mark.parametrize("room", [60_000, 20_000, 3_000])
def test_pictures_keep_to_their_room(rng, room):
    noise = rng.integers(0, 255, (400, 300)).astype(np.uint8)
    assert len(base64.b64decode(encode_picture(noise, room))) <= room
