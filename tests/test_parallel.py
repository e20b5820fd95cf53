import math
import operator
import os
import signal

import pytest

from multirater.errors import InputError
from multirater.parallel import map_parallel


def test_order_is_kept():
    results = map_parallel(math.factorial, list(range(40)), label="factorials", workers=2)
    assert list(results) == [math.factorial(n) for n in range(40)]


def test_processes_are_used_when_asked_for():
    asked = [os.getpid] * 9
    assert os.getpid() not in set(map_parallel(operator.call, asked, label="", workers=2))
    assert {os.getpid()} == set(map_parallel(operator.call, asked, label="", workers=1))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_reaches_the_caller(workers):
    with pytest.raises(ValueError, match=r"math domain|nonnegative"):
        list(map_parallel(math.sqrt, [1, 4, -1, 9, 16], label="", workers=workers))


def test_a_process_that_dies_is_explained():
    with pytest.raises(InputError, match="memory"):
        list(map_parallel(signal.raise_signal, [signal.SIGKILL] * 5, label="", workers=2))
