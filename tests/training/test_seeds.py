import json

import numpy as np
import pandas as pd
import pytest

from multirater.training import TrainConfig
from multirater.training.predictor import Predictor
from multirater.training.seeds import _followed, train_seeds
from multirater.trust import Finding, Trust

SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 1, "batch_size": 4, "accelerator": "cpu"}


def test_seeds_are_trained_and_compared(data, tmp_path):
    config = TrainConfig(method="auto", **SMALL, seed=5)
    run = train_seeds(data, tmp_path / "run", config, n_seeds=2)
    assert run.folder == tmp_path / "run"
    table = pd.read_csv(tmp_path / "run/seeds.csv")
    assert table["seed"].tolist() == [5, 6]
    assert set(table["followed"]) <= set(data.raters)
    first, second = (Predictor(tmp_path / each).network for each in ("run", "run/seeds/6"))
    weights = [next(iter(each.state_dict().values())).numpy() for each in (first, second)]
    assert not np.array_equal(*weights)
    content = json.loads((tmp_path / "run/trust.json").read_text())
    codes = [each["code"] for each in content["findings"]]
    assert {"network", "seeds", "seeds-followed"} <= set(codes)


def _statement(**weights):
    return Trust("", (Finding("good", "", "followed", weights),))


@pytest.mark.parametrize(
    ("weights", "level"),
    [((0.6, 0.5), "good"), ((0.9, 0.1), "caution")],
)
def test_whom_it_follows_may_depend_on_the_seed(weights, level):
    (finding,) = _followed([_statement(anna=w, bert=1 - w) for w in weights])
    assert finding.level == level
    assert finding.numbers["moved"] == pytest.approx(abs(weights[0] - weights[1]))


def test_methods_that_follow_nobody_say_nothing_of_it():
    assert not _followed([Trust("", ()), Trust("", ())])
