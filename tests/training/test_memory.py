"""Memory that runs out is said, not died of."""

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.training.memory import is_out_of_memory, within_what_is_free


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")]
)
def test_memory_that_runs_out_is_said_in_one_line(error, tmp_path):
    with pytest.raises(InputError, match="memory ran out") as said, _limited(tmp_path):
        raise error
    assert "give a smaller --memory" in str(said.value)


def test_more_than_is_free_cannot_be_had(tmp_path, monkeypatch):
    monkeypatch.setattr("multirater.training.memory.free_memory", lambda: 2**26)
    with pytest.raises(InputError, match="memory ran out"), _limited(tmp_path):
        np.ones(2**28)
    assert np.ones(2**24).all()  # the limit went with it


def test_other_errors_stay_what_they_are(tmp_path):
    with pytest.raises(RuntimeError, match="shapes differ"), _limited(tmp_path):
        raise RuntimeError("shapes differ")
    assert not is_out_of_memory(RuntimeError("shapes differ"))


def _limited(folder):
    return within_what_is_free("give a smaller --memory", folder)
