from __future__ import annotations

import numpy as np
import pandas as pd

from multirater import agreement, dataset_from_arrays, read_dataset
from multirater.report.figures import draw_agreement


def _drawings():
    labels = np.zeros((2, 3, 8, 8), dtype=np.int16)
    for rater, side in enumerate((2, 4, 6)):
        labels[:, rater, :side, :side] = 1
    return dataset_from_arrays(labels, raters=["a", "b", "c"])


def test_the_matrix_holds_the_dice_of_every_pair():
    found = agreement(_drawings(), n_resamples=1)
    axes, bar = draw_agreement(found, ["a", "b", "c"]).axes
    values = np.asarray(axes.images[0].get_array().filled(np.nan))
    dice = lambda one, other: 2 * one**2 / (one**2 + other**2)  # noqa: E731
    expected = [
        [np.nan, dice(2, 4), dice(2, 6)],
        [dice(2, 4), np.nan, dice(4, 6)],
        [dice(2, 6), dice(4, 6), np.nan],
    ]
    np.testing.assert_allclose(values, expected)
    assert "Dice" in bar.get_ylabel()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]


def test_class_labels_are_compared_by_kappa():
    table = pd.DataFrame(
        {"case": [1, 1, 2, 2, 3, 3], "rater": ["a", "b"] * 3, "label": list("xxyyxy")}
    )
    found = agreement(read_dataset(table), n_resamples=1)
    axes, bar = draw_agreement(found, ["a", "b"]).axes
    assert np.isclose(axes.images[0].get_array()[0, 1], found.pairs["Cohen kappa"][0])
    assert "kappa" in bar.get_ylabel()


def test_forty_raters_fit_without_numbers():
    labels = np.random.default_rng(0).integers(0, 2, (1, 60, 4, 4))
    found = agreement(dataset_from_arrays(labels), n_resamples=1)
    raters = [f"rater {number + 1}" for number in range(60)]
    figure = draw_agreement(found, raters)
    assert len(figure.axes[0].get_yticklabels()) == 48
    assert not figure.axes[0].texts
    assert "48 of 60" in figure.get_supxlabel()
    assert not draw_agreement(found, raters[:40]).get_supxlabel()
