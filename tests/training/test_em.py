import pytest

from multirater.training.em import ROUNDS, ends_round


@pytest.mark.parametrize("epochs", [1, 3, 5, 12, 15, 20])
def test_the_last_epoch_always_ends_a_round(epochs):
    ends = [epoch for epoch in range(epochs) if ends_round(epoch, epochs)]
    assert ends[-1] == epochs - 1
    assert len(ends) == min(ROUNDS, epochs)
