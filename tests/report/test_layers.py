from itertools import combinations

import numpy as np
import pytest
from skimage.color import deltaE_ciede2000, rgb2lab

from multirater.report.layers import COLOURS, DASHES, layers_of, rater_layer
from multirater.report.subject import Result, Subject
from multirater.types import Case, Dataset

# Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.052]],
    "deuteranopia": [[0.3673, 0.8606, -0.228], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "tritanopia": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_can_be_told_apart_with_any_sight(sight):
    rgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in COLOURS])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    light = np.clip(linear @ np.asarray(SIGHT[sight]).T, 0, 1)
    seen = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    assert min(float(deltaE_ciede2000(a, b)) for a, b in combinations(rgb2lab(seen), 2)) > 15


def test_forty_raters_have_forty_lines():
    lines = {(layer.colour, layer.dash) for layer in (rater_layer(i, "") for i in range(40))}
    assert len(lines) == 40
    assert len(COLOURS) * len(DASHES) >= 40


def test_a_predicted_rater_has_the_rater_colour():
    data = Dataset((Case("p1"),), ("anna", "bert"))
    network = Result("network", "predictions", data)
    subject = Subject("s", ("data set",), data, (network,))
    layers = layers_of(subject, [("network", "bert")], vote=True)
    assert [layer.kind for layer in layers] == [
        *("rater", "rater", "reference", "predictions", "predicted rater"),
    ]
    assert layers[-1].colour == layers[1].colour
    assert layers[-1].dash != layers[1].dash
