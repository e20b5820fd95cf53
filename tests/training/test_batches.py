import pytest

from multirater.training.batches import BatchOrder


@pytest.mark.parametrize(
    ("n_samples", "batch_size", "world", "sizes"),
    [
        (8, 4, 1, [4, 4]),
        (10, 4, 1, [4, 4, 2]),
        (9, 4, 1, [4, 5]),
        (10, 4, 2, [2, 2, 1]),
        (9, 4, 2, [2, 3]),
        (3, 1, 1, [1, 1, 1]),
        (1, 4, 1, [1]),
        (2, 5, 5, [1]),
        (1, 4, 4, [1]),
    ],
)
def test_no_batch_is_a_single_item_that_is_left_over(n_samples, batch_size, world, sizes):
    order = BatchOrder(n_samples, batch_size, seed=0, world=world)
    batches = list(order)
    assert [len(batch) for batch in batches] == sizes
    assert len(order) == len(sizes)
    if world == 1:
        assert sorted(index for batch in batches for _, index in batch) == list(range(n_samples))
