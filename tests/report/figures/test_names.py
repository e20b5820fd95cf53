from __future__ import annotations

import pytest

from multirater.report.figures.names import letters, short_name, short_names


def test_a_short_name_stays():
    assert short_name("anna") == "anna"


@pytest.mark.parametrize("most", [4, 7, 16])
def test_a_long_name_fits_and_keeps_its_number(most):
    shown = short_name("the rater with the number 12", most)
    assert len(shown) == most
    assert shown.endswith("2")


def test_control_characters_do_not_reach_the_file():
    assert short_name("a\x00b\x1bc\ud800") == "a\ufffdb\ufffdc\ufffd"
    assert short_name("two\nlines\tand more") == "two lines … more"


def test_names_that_would_look_alike_get_numbers_and_fit():
    names = ["a reader of the left hip", "a reader of the next hip", "anna"]
    shown = short_names(names, 12)
    assert len(set(shown)) == 3
    assert all(len(name) <= 12 for name in shown)


def test_wider_panels_hold_more_letters():
    assert letters(2.0) > letters(1.0) >= 4
