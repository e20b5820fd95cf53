"""Windows that an image is cut into, and a choice of them."""

from dataclasses import replace

import numpy as np
import pytest

from multirater.training.config import TrainConfig
from multirater.training.windows import chosen_windows, most_windows, windows_of


@pytest.mark.parametrize(
    ("space", "size"), [((10,), (4,)), ((3, 7), (5, 3)), ((8, 9, 5), (4, 4, 4)), ((1, 6), (1, 6))]
)
def test_windows_have_one_size_and_count_every_pixel_once(space, size):
    counted = np.zeros(space, dtype=int)
    for window in windows_of(space, size):
        part = counted[window.seen]
        assert part.shape == tuple(map(min, size, space))
        part[window.counted] += 1
    assert (counted == 1).all()


@pytest.mark.parametrize("n_near", [0, 1, 5, 40])
@pytest.mark.parametrize("most", [1, 8, 100])
def test_windows_taken_stand_for_all(n_near, most):
    near = np.arange(40) < n_near
    taken = chosen_windows(near, most, np.random.default_rng(0))
    assert len({number for number, _ in taken}) == len(taken) == min(most, 40)
    if most >= 8:
        for kind in (near, ~near):
            assert sum(weight for number, weight in taken if kind[number]) == pytest.approx(
                kind.sum()
            )


def test_windows_with_something_in_them_are_taken_first():
    taken = chosen_windows(np.arange(40) < 4, 8, np.random.default_rng(0))
    assert {0, 1, 2, 3} <= {number for number, _ in taken}


def test_longer_training_is_looked_at_more_closely_and_within_memory():
    config = TrainConfig(epochs=20, steps_per_epoch=50, batch_size=2)
    assert most_windows(config, 4, (64, 64)) > most_windows(config, 40, (64, 64))
    longer = replace(config, steps_per_epoch=5000)
    assert most_windows(longer, 4, (64, 64, 64)) * 64**3 <= 2**23
