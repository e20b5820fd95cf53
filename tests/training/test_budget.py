import pytest

from multirater.errors import InputError
from multirater.training.budget import free_memory, memory_bytes, seconds, usual_budget


@pytest.mark.parametrize(("text", "expected"), [("6GB", 6 * 2**30), ("6 GiB", 6 * 2**30)])
def test_memory_as_people_write_it(text, expected):
    assert memory_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "much", "0GB", "-3GB", "6 pounds"])
def test_no_amount_of_memory(text):
    with pytest.raises(InputError, match="memory"):
        memory_bytes(text)


@pytest.mark.parametrize("text", ["", "soon", "0", "-3m", "20 x"])
def test_no_time(text):
    with pytest.raises(InputError, match="time"):
        seconds(text)


def test_the_usual_budget_leaves_something_free():
    assert 0 < usual_budget() <= max(free_memory(), 2**30)
