from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multirater.fuse.rater_table import rater_table, rater_table_of_tasks
from multirater.metrics.rater_columns import class_of_word, column_words, matrix_columns

NAMES = st.lists(st.text('ab,"_', min_size=1, max_size=6), min_size=1, max_size=5, unique=True)


@given(NAMES)
def test_every_pair_of_classes_has_a_column_of_its_own(names):
    assert len(set(matrix_columns(names))) == len(names) ** 2


@given(NAMES)
def test_names_in_marks_are_read_back(names):
    for name, word in zip(names, column_words(names), strict=True):
        if word != name:
            assert class_of_word(word) == name == next(csv.reader(io.StringIO(word)))[0]


@pytest.mark.parametrize(
    "classes", [("cat", "dog", "cat,dog", "dog,cat"), ("x", "x_low", "x_high", "y")]
)
def test_no_figure_of_a_rater_is_lost(classes):
    counts = np.random.default_rng(0).integers(1, 50, (6, 2, 4, 4)).astype(float)
    plain = ("k", "l", "m", "n")
    for make, given_counts in ((rater_table, counts), (rater_table_of_tasks, counts.sum(0))):
        found = make(given_counts, ["anna", "bert"], classes)
        same = make(given_counts, ["anna", "bert"], plain)
        assert found.columns.is_unique
        np.testing.assert_allclose(found.to_numpy(), same.to_numpy())
