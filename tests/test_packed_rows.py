import numpy as np
import pytest

from multirater.packed_rows import pack_rows


@pytest.mark.parametrize("highest", [1, 126, 127, 128, 30_000])
@pytest.mark.parametrize("n_rows", [0, 3, 5000])
def test_rows_come_back(highest, n_rows):
    rows = np.random.default_rng(0).integers(-1, highest + 1, size=(n_rows, 20))
    assert np.array_equal(pack_rows(rows).unpack(), rows)


def test_many_rows_take_little_memory():
    rows = np.random.default_rng(0).integers(0, 2, size=(4096, 200))
    held = pack_rows(rows)
    assert isinstance(held.data, bytes)
    assert len(held.data) < rows.size / 4  # of the eight bytes that each label took
