import numpy as np
import pytest
from sklearn.metrics import log_loss

from multirater.errors import InputError
from multirater.metrics import calibration_error, log_loss_error


@pytest.fixture
def calibrated(rng):
    """Items whose classes are drawn from the probabilities that are given for them."""
    probability = rng.dirichlet([1.0, 1.0, 1.0], size=4000)
    return (rng.random((4000, 1)) > probability.cumsum(1)).sum(1), probability


def test_log_loss_is_that_of_scikit_learn(calibrated):
    truth, probability = calibrated
    assert log_loss_error(truth, probability).mean() == pytest.approx(log_loss(truth, probability))


def test_calibrated_probabilities_have_little_error_and_boastful_ones_much(calibrated):
    truth, probability = calibrated
    boastful = np.eye(3)[probability.argmax(1)]
    assert calibration_error(truth, probability) < 0.03
    wrong = (truth != probability.argmax(1)).mean()
    assert calibration_error(truth, boastful) == pytest.approx(wrong)


def test_unknown_truth_does_not_count(calibrated):
    truth, probability = calibrated
    some = np.where(np.arange(4000) < 500, truth, -1)
    expected = calibration_error(truth[:500], probability[:500])
    assert calibration_error(some, probability) == pytest.approx(expected)
    assert np.isnan(log_loss_error(some, probability)[500:]).all()
    assert np.isnan(calibration_error([-1], [[0.5, 0.5]]))


def test_weights_stand_for_copies(calibrated):
    truth, probability = (each[:300] for each in calibrated)
    times = np.arange(300) % 4
    copies = calibration_error(np.repeat(truth, times), np.repeat(probability, times, axis=0))
    assert calibration_error(truth, probability, weights=times) == pytest.approx(copies)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"shape \(2,\)"):
        calibration_error([0, 1], [[0.5, 0.5]])
