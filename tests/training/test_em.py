import pytest

from multirater.nn.em import GeneralizedEM, ModelBootstrappedEM
from multirater.training import TrainConfig
from multirater.training.em import ends_round, first_count


@pytest.mark.parametrize("rounds", [2, 5])
@pytest.mark.parametrize("epochs", [1, 3, 5, 12, 15, 20])
def test_the_last_epoch_always_ends_a_round(epochs, rounds):
    ends = [epoch for epoch in range(epochs) if ends_round(epoch, epochs, rounds)]
    assert ends[-1] == epochs - 1
    assert len(ends) == min(rounds, epochs)


@pytest.mark.parametrize(("network", "expected"), [(GeneralizedEM, 2), (ModelBootstrappedEM, 7)])
def test_a_network_that_counts_by_its_answers_is_trained_longer_before(network, expected):
    assert first_count(network, TrainConfig(epochs=15)) == expected
