from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset
from multirater.training import TrainConfig, train
from multirater.training import samples as module
from multirater.types import Source

SMALL = {"channels": (4, 8), "n_features": 4, "batch_size": 4, "accelerator": "cpu"}


@pytest.fixture
def counted():
    """Digits with one-label raters, and how often each label was drawn."""
    data = simulate_dataset(digits_dataset(n_train=8, n_test=0), supply="one", seed=0)
    reads = Counter()

    def counting(case, rater, source):
        return Source(lambda: reads.update([(case, rater)]) or source.read())

    cases = tuple(
        replace(case, labels={who: counting(case.name, who, s) for who, s in case.labels.items()})
        for case in data
    )
    return replace(data, cases=cases), reads


@pytest.mark.parametrize("method", ["cm", "staple"])
def test_labels_are_not_read_again_each_epoch(counted, tmp_path, method):
    data, reads = counted
    train(data, tmp_path / "run", TrainConfig(method=method, epochs=5, **SMALL))
    # Once to look for faults, once to train, once to describe the raters.
    assert set(reads.values()) == {3}


def test_what_does_not_fit_in_memory_is_read_again(counted, monkeypatch):
    data, reads = counted
    monkeypatch.setattr(module, "CACHE_BYTES", 1)
    cache = module.SampleCache(data.cases, data.raters)
    for _ in range(2):
        assert [len(cache[number].labels) for number in range(len(data))] == [1] * 8
    assert set(reads.values()) == {2}


def test_every_channel_of_a_case_is_normalised_by_itself():
    rng = np.random.default_rng(0)
    scale, shift = np.array([1.0, 300.0, 0.0]), np.array([5.0, -1000.0, 7.0])
    image = rng.normal(size=(3, 9, 11)) * scale[:, None, None] + shift[:, None, None]
    found = module.normalise(image)
    assert np.allclose(found.mean((1, 2)), 0, atol=1e-4)
    assert np.allclose(found.std((1, 2)), [1, 1, 0], atol=1e-4)


def test_what_does_not_fit_in_memory_is_kept_in_files(counted, tmp_path):
    data, reads = counted
    cache = module.SampleCache(data.cases, data.raters, most_bytes=1, folder=tmp_path / "decoded")
    plain = module.SampleCache(data.cases, data.raters)
    for _ in range(2):
        for number in range(len(data)):
            one, other = cache[number], plain[number]
            assert np.array_equal(one.image, other.image)
            assert np.array_equal(one.labels, other.labels)
    assert set(reads.values()) == {2}
    assert list((tmp_path / "decoded").iterdir())
