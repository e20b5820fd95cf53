"""Looking at cases with a finished network: whole, or some windows that stand for the rest."""

import numpy as np
import pytest

from multirater.training import Predictor, TrainConfig, train
from multirater.training.looking import look_at

from .test_planned_runs import TINY, balls, few_steps


@pytest.fixture(scope="module")
def looked(tmp_path_factory):
    data = balls([(64, 64)] * 4, [(1.0, 1.0)] * 4)
    folder = tmp_path_factory.mktemp("looking") / "run"
    config = TrainConfig(method="mode", patch=(16, 16), **TINY)
    train(data, folder, config, plan=few_steps(data))
    return data, Predictor(folder)


def test_every_pixel_is_looked_at_where_windows_are_few(looked, monkeypatch):
    data, predictor = looked
    monkeypatch.setattr("multirater.training.windows._FEWEST_WINDOWS", 100)
    for seen, case in zip(
        look_at(predictor, data.cases, data.raters, lambda _: ()), data, strict=True
    ):
        label = case.read_label(data.raters[1]).array
        assert seen.case.name == case.name
        assert seen.labels[data.raters[1]].sum() == label.sum()
        assert (seen.weight == 1).all()
        assert seen.probability.shape == (2, 64 * 64)
        assert np.allclose(seen.probability.sum(0), 1, atol=1e-4)


def test_some_windows_stand_for_all_and_labels_are_kept_whole(looked):
    data, predictor = looked
    for seen, case in zip(
        look_at(predictor, data.cases, data.raters, lambda _: ()), data, strict=True
    ):
        assert seen.probability.shape[1] < 64 * 64 / 1.9
        assert seen.weight.sum() == pytest.approx(64 * 64)
        rows, counts = seen.whole
        assert (rows.shape[1], counts.sum()) == (2, 64 * 64)
        assert counts[rows[:, 1] == 1].sum() == case.read_label(data.raters[1]).array.sum()
        assert (seen.example.labels[data.raters[1]] > 0).any()
        assert seen.example.image.shape[1:] == seen.example.answer.shape
        assert set(case.labels) == set(seen.labels)
