import math

import numpy as np
import pytest

from multirater.words import UNKNOWN, confusion_words, counted, listed, offset_words, percent

NAMES = ["background", "oedema", "core"]


def test_shares_are_neither_none_nor_all_by_rounding():
    assert percent(0.0) == "0%"
    assert percent(0.0001) == "0.1%"
    assert percent(0.99999) == "99.9%"
    assert percent(1.0) == "100%"


def test_lists_end():
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(list("abcde"), most=5) == "a, b, c, d and e"
    assert counted(0, "case") == "0 cases"


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (2.0, 1.5, 2.5, "over-draws by 2.0 mm"),
        (-2.0, -2.5, -1.5, "under-draws by 2.0 mm"),
        (2.0, math.nan, math.nan, "over-draws by 2.0 mm"),
        (2.0, -1.0, 4.0, "neither over nor under"),
        (0.05, 0.04, 0.06, "neither over nor under"),
        (math.nan, math.nan, math.nan, UNKNOWN),
    ],
)
def test_over_and_under_drawing(value, low, high, said):
    assert offset_words(value, low, high, "mm", 0, 9) == said


def test_the_most_frequent_confusion_is_named():
    counts = np.diag([50, 50, 50])
    assert confusion_words(counts, NAMES, is_mask=True) == "none"
    assert confusion_words(counts * 0, NAMES, is_mask=True) == UNKNOWN
    counts[2, 1] = 50
    assert confusion_words(counts, NAMES, is_mask=True) == "draws core as oedema: 50% of it"
    counts[0, 1] = 100
    said = confusion_words(counts, NAMES, is_mask=True)
    assert said == "draws oedema where there is none: 50% of what they draw"
