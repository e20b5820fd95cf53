"""Ranks as far as intervals tell them."""

import math

from multirater.report.ranks import by_value, rank_words
from multirater.report.raters import Figure


def test_raters_whose_intervals_overlap_are_level():
    figures = [Figure(0.5, 0.4, 0.6), Figure(0.9, 0.85, 0.95), Figure(0.88, 0.8, 0.93)]
    assert by_value(figures) == [1, 2, 0]
    assert rank_words(figures) == ["3", "1 to 2", "1 to 2"]


def test_without_intervals_values_decide():
    figures = [Figure(0.5), Figure(0.9), Figure(0.9), Figure(math.nan)]
    assert by_value(figures) == [1, 2, 0, 3]
    assert rank_words(figures) == ["3", "1 to 2", "1 to 2", ""]
