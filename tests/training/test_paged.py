import numpy as np

from multirater.training.memory import resident
from multirater.training.paged import in_file, in_memory, let_go


def test_an_array_in_a_file_keeps_its_values_and_gives_its_memory_back():
    array = in_file((64, 1024, 256))
    array[:] = 3.0
    before = resident()
    let_go(array)
    assert resident() <= before - array.nbytes // 2 or before == 0
    assert float(array[63, 1023].min()) == 3.0


def test_an_array_in_memory_is_left_alone():
    array = in_memory((2, 2))
    array[:] = 1.0
    let_go(array)
    assert np.array_equal(array, np.ones((2, 2), dtype=np.float32))
