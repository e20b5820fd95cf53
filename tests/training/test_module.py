"""The printed forms of Zhang 2020: a warm-up that maximises the trace, and a constant rate."""

import numpy as np
import pandas as pd
import pytest

from multirater.errors import InputError
from multirater.io import dataset_from_arrays
from multirater.training import Predictor, TrainConfig, train

SETTINGS = {"channels": (4, 8), "n_features": 4, "batch_size": 4, "accelerator": "cpu"}


@pytest.fixture(scope="module")
def study():
    """Squares, which the second rater leaves out."""
    random = np.random.default_rng(0)
    truth = np.zeros((12, 16, 16), dtype=np.int16)
    truth[:, 4:12, 4:12] = 1
    images = truth[:, None] + 0.1 * random.standard_normal((12, 1, 16, 16))
    labels = np.stack([truth, np.zeros_like(truth)], axis=1)
    return dataset_from_arrays(labels, images=images.astype(np.float32))


def trained(study, folder, **changes):
    config = TrainConfig(method="cm", **{**SETTINGS, "validation": 0.0, **changes})
    return train(study, folder, config)


def trace(folder, study):
    """Mean trace of the matrices at all pixels."""
    predicted = Predictor(folder)(study[0].read_image().array, raters=range(2))
    return float(np.trace(predicted.confusion, axis1=1, axis2=2).mean())


def test_the_trace_is_maximised_first_and_minimised_then(study, tmp_path):
    shared = {"warmup": "trace", "trace_weight": 5.0, "learning_rate": 1e-2}
    shared |= {"rate": "constant", "confusion_learning_rate": 1e-2}
    trained(study, tmp_path / "up", epochs=6, warmup_epochs=6, **shared)
    curve = pd.read_csv(tmp_path / "up/curves.csv")["train_trace"]
    assert curve.iloc[-1] > curve.iloc[0] + 0.01
    assert trace(tmp_path / "up", study) > 1.9
    trained(study, tmp_path / "down", epochs=8, warmup_epochs=2, **shared)
    curve = pd.read_csv(tmp_path / "down/curves.csv")["train_trace"]
    assert curve.iloc[1] > curve.iloc[0]
    assert curve.iloc[-1] < curve.iloc[1] - 0.01


def test_a_constant_rate_stays(study, tmp_path):
    trained(study, tmp_path / "constant", epochs=3, rate="constant", learning_rate=2e-3)
    rates = pd.read_csv(tmp_path / "constant/curves.csv")["learning_rate"]
    assert (rates == 2e-3).all()


def test_only_matrices_have_a_trace_to_warm_up_by(study, tmp_path):
    with pytest.raises(InputError, match="warmup = trace for the method mode"):
        train(study, tmp_path / "run", TrainConfig(method="mode", warmup="trace", epochs=1))
    assert not (tmp_path / "run").exists()


def test_a_window_as_large_as_the_image_makes_spatial_staple_staple(study, tmp_path):
    from multirater.training.methods import prepared

    def labels(method, **options):
        config = TrainConfig(method=method, options=options)
        data = prepared(study, config)
        return data[0].read_label(data.raters[0]).array

    assert (labels("spatial-staple", window=3) >= 0).all()
    with pytest.raises(InputError, match="option window = 0"):
        labels("spatial-staple", window=0)
