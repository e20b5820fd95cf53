from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from skimage.color import deltaE_ciede2000, rgb2lab

from multirater.report.colours import class_colours, rater_colours

# Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def _rgb(colours: list[str]) -> np.ndarray:
    return np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colours])


def _linear(rgb: np.ndarray) -> np.ndarray:
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _seen(rgb: np.ndarray, sight: object) -> np.ndarray:
    light = np.clip(_linear(rgb) @ np.asarray(sight).T, 0, 1)
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("sight", SIGHT)
def test_twelve_colours_can_be_told_apart(sight):
    lab = rgb2lab(_seen(_rgb(rater_colours(12)), SIGHT[sight]))
    nearest = min(float(deltaE_ciede2000(a, b)) for a, b in combinations(lab, 2))
    assert nearest > 10


def test_colours_stand_out_from_white_and_from_black():
    light = _linear(_rgb(rater_colours(40))) @ [0.2126, 0.7152, 0.0722]
    assert (1.05 / (light + 0.05)).min() > 1.5
    assert ((light + 0.05) / 0.05).min() > 1.5


def test_forty_colours_are_distinct_and_keep_their_order():
    colours = rater_colours(40)
    assert len(set(colours)) == 40
    assert colours[:7] == rater_colours(7)
    assert all(len(c) == 7 and int(c[1:], 16) >= 0 for c in colours)


def test_no_rater_has_no_colour():
    assert rater_colours(0) == []


def test_background_is_not_a_rater_colour():
    assert class_colours(4)[0] not in rater_colours(40)
    assert class_colours(4)[1:] == rater_colours(3)
