import pytest

from multirater.training import TrainConfig
from multirater.training.config import settled


@pytest.mark.parametrize(
    ("n_cases", "devices", "expected"),
    [(10, 1, 4), (320, 1, 20), (330, 2, 20), (340, 2, 22), (5000, 1, 64), (5000, 2, 64)],
)
def test_few_class_labels_are_served_in_small_batches_shared_by_all_devices(
    n_cases, devices, expected
):
    assert settled(TrainConfig(devices=devices), "classes", n_cases).batch_size == expected


def test_what_is_given_stays_and_drawings_have_a_batch_of_their_own():
    assert settled(TrainConfig(batch_size=7), "classes", 10).batch_size == 7
    assert settled(TrainConfig(), "masks", 10).batch_size == 16
