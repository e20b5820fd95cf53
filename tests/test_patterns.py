import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from multirater import patterns
from multirater.patterns import encode_patterns, merge_patterns

label_arrays = hnp.arrays(
    st.sampled_from([np.int8, np.int16, np.int64]),
    hnp.array_shapes(min_dims=2, max_dims=4, min_side=1, max_side=6),
    elements=st.integers(-1, 3),
)


@given(label_arrays)
def test_rows_and_index_restore_the_labels(labels):
    found = encode_patterns(labels)
    assert np.array_equal(np.moveaxis(found.rows[found.index], -1, 0), labels)
    assert found.counts.sum() == labels[0].size
    assert len(np.unique(found.rows, axis=0)) == len(found.rows)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(30, 80))
def test_many_raters_do_not_overflow_the_code(seed, n_raters):
    labels = np.random.default_rng(seed).integers(-1, 5, size=(n_raters, 50))
    found = encode_patterns(labels)
    assert np.array_equal(found.rows[found.index].T, labels)


def test_large_class_indices_survive():
    labels = np.array([[2035, 0, -1], [0, 2035, 1024]], dtype=np.int16)
    found = encode_patterns(labels)
    assert np.array_equal(found.rows[found.index].T, labels)


def test_patterns_of_five_binary_raters_are_at_most_32():
    labels = np.random.default_rng(0).integers(0, 2, size=(5, 400_000)).astype(np.int8)
    found = encode_patterns(labels)
    assert len(found.rows) == 32
    assert found.index.dtype == np.uint8
    assert np.array_equal(found.rows[found.index].T, labels)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=4))
def test_merging_equals_encoding_everything_at_once(seeds):
    cases = [np.random.default_rng(s).integers(-1, 2, size=(3, 7)) for s in seeds]
    merged, positions = merge_patterns([encode_patterns(case) for case in cases])
    together = encode_patterns(np.concatenate(cases, axis=1))
    assert dict(zip(map(tuple, merged.rows), merged.counts, strict=True)) == dict(
        zip(map(tuple, together.rows), together.counts, strict=True)
    )
    for case, position in zip(cases, positions, strict=True):
        part = encode_patterns(case)
        assert np.array_equal(merged.rows[position][part.index].T, case)


def test_input_is_not_changed():
    labels = np.array([[0, 1, -1]], dtype=np.int8)
    before = labels.copy()
    encode_patterns(labels)
    assert np.array_equal(labels, before)


@given(st.integers(0, 1000), st.integers(0, 70_000), st.sampled_from([2, 3, 4]))
@settings(max_examples=20, deadline=None)
def test_counting_by_words_equals_counting_one_by_one(seed, size, n_classes):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, (5, size)).astype(np.uint8)
    labels[:, rng.integers(0, size + 1) :] = 1  # a background, as images have
    found = encode_patterns(labels)
    rows, counts = np.unique(labels, axis=1, return_counts=True)
    assert np.array_equal(found.rows, rows.T)
    assert np.array_equal(found.counts, counts)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64])
def test_values_of_rows_are_spread_to_items(dtype, monkeypatch):
    monkeypatch.setattr(patterns, "_BLOCK", 64)
    labels = np.random.default_rng(0).integers(-1, 2, (3, 13, 11))
    found = encode_patterns(labels)
    values = np.arange(len(found.rows), dtype=dtype)
    target = np.empty((13, 11), dtype=dtype)
    found.spread([values], [target])
    assert np.array_equal(target, values[found.index])
