import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from multirater import patterns
from multirater.compiled import Tally
from multirater.compiled.codes import count_codes, look_up, mixed_radix


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(0, 50), st.sampled_from([np.uint8, np.uint16, np.uint32])
)
def test_counts_equal_bincount(seed, size, dtype):
    codes = np.random.default_rng(seed).integers(0, 200, size).astype(dtype)
    assert count_codes(codes, 200).tolist() == np.bincount(codes, minlength=200).tolist()


def test_looking_up_equals_indexing():
    codes = np.random.default_rng(0).integers(0, 9, 101).astype(np.uint8)
    table, target = np.arange(9, dtype=np.int16) * 7, np.empty(101, dtype=np.int16)
    look_up(codes, table, target)
    assert np.array_equal(target, table[codes])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_patterns_are_the_same_bit_by_bit(n_classes, monkeypatch):
    labels = np.random.default_rng(1).integers(0, n_classes, (5, 70_001)).astype(np.uint8)
    labels[:, 10_000:60_000] = 0
    monkeypatch.setattr(patterns, "_BLOCK", 1 << 14)
    found = []
    for worth in (1 << 62, 0):
        monkeypatch.setattr(patterns, "_TALLY", Tally(worth))
        part = patterns.encode_patterns(labels)
        value = np.random.default_rng(2).random(len(part.rows)).astype(np.float32)
        target = np.empty(labels.shape[1], dtype=np.float32)
        part.spread([value], [target])
        found.append((part.rows, part.counts, part.index, target))
    for plain, quick in zip(*found, strict=True):
        assert np.array_equal(plain, quick)
    assert np.array_equal(found[0][0][found[0][2]].T, labels)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_codes_are_numbers_in_mixed_radix(dtype, kind):
    low = -1 if np.dtype(dtype).kind == "i" else 0
    rows = np.random.default_rng(0).integers(low, 3, (3, 20_001)).astype(dtype)
    codes = np.empty(rows.shape[1], dtype=kind)
    weight = np.array([16, 4, 1])
    mixed_radix(rows, weight, low * int(weight.sum()), codes)
    assert np.array_equal(codes, (rows.astype(int) - low).T @ weight)
