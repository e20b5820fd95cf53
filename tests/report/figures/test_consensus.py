from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress

from multirater import dataset_from_arrays
from multirater.evaluation import Evaluation, evaluate
from multirater.report.figures import draw_consensus, draw_consensus_groups


def _evaluation(real, predicted):
    cases = pd.DataFrame({"consensus": real, "predicted consensus": predicted})
    rows = {("consensus Pearson", "all"): {"value": 0.91, "low": 0.8, "high": 0.97, "n_cases": 9}}
    scores = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["measure", "class"])
    return Evaluation(scores, pd.DataFrame(), cases, pd.DataFrame(), (), 0.95, 0)


def test_points_and_line_are_those_of_the_cases():
    rng = np.random.default_rng(0)
    real = rng.uniform(0.2, 0.9, 30)
    predicted = 0.7 * real + 0.1 + rng.normal(0, 0.02, 30)
    figure = draw_consensus(_evaluation([*real, np.nan], [*predicted, 0.4]))
    (axes,) = figure.axes
    points = axes.collections[0].get_offsets()
    np.testing.assert_allclose(points, np.column_stack([real, predicted]))
    line = next(each for each in axes.lines if each.get_label() == "least squares")
    expected = linregress(real, predicted)
    x, y = line.get_data()
    np.testing.assert_allclose(y, expected.slope * x + expected.intercept)
    assert axes.get_xlim() == axes.get_ylim()
    assert axes.get_xlim()[0] < real.min()


def test_the_correlation_is_written_with_its_interval():
    figure = draw_consensus(_evaluation([0.1, 0.5, 0.9], [0.2, 0.5, 0.7]))
    title = figure.axes[0].get_legend().get_title().get_text()
    assert title == "3 cases\nr = 0.91 [0.80, 0.97]"


@pytest.mark.parametrize("real", [[0.5], [0.5, 0.5, 0.5]])
def test_no_line_through_too_little(real):
    (axes,) = draw_consensus(_evaluation(real, real)).axes
    assert [line.get_label() for line in axes.lines] == ["equal"]


@pytest.fixture(scope="module")
def evaluations():
    """Two methods on cases of which raters agree fully, or by half."""
    truth = np.zeros((8, 6, 6), dtype=np.int16)
    truth[:, 1:5, 1:5] = 1
    half = truth.copy()
    half[:, 3:] = 0
    raters = np.stack([truth, np.where(np.arange(8)[:, None, None] < 4, truth, half)], axis=1)
    data = dataset_from_arrays(raters, truths=truth)
    guesses = {"good <b>": truth, "bad": half}
    return {
        name: evaluate(dataset_from_arrays(guess[:, None], raters=["network"]), data)
        for name, guess in guesses.items()
    }


def test_groups_show_dice_by_method(evaluations):
    figure = draw_consensus_groups(evaluations)
    (axes,) = figure.axes
    names = [text.get_text().split("\n")[0] for text in axes.get_xticklabels()]
    assert names == ["low", "above"]
    good, bad = (container[0].get_ydata() for container in axes.containers)
    np.testing.assert_allclose(good, [1, 1])
    np.testing.assert_allclose(bad, [2 / 3, 2 / 3])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["good <b>", "bad"]
    assert axes.get_ylim()[0] < 2 / 3
    assert axes.get_ylabel() == "Dice"
    assert "n = 4" in axes.get_xticklabels()[0].get_text()


def test_intervals_are_drawn(evaluations):
    changed = evaluations["bad"]
    changed.groups.loc["low", ["low", "high"]] = [0.5, 0.9]
    (axes,) = draw_consensus_groups({"bad": changed}).axes
    segment = axes.containers[0][2][0].get_segments()[0]
    np.testing.assert_allclose(segment[:, 1], [0.5, 0.9])
