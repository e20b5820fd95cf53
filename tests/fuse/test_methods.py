"""Options of fusion methods, as words of the command line."""

import pytest

from multirater.errors import InputError
from multirater.fuse.methods import method_named, options_from_text, require_options


def test_words_become_values_of_the_kind_of_the_default():
    given = {"max_iter": "20", "tol": "1e-3", "disputed_only": "true", "prior": "0.3"}
    expected = {"max_iter": 20, "tol": 1e-3, "disputed_only": True, "prior": 0.3}
    assert options_from_text("staple", given) == expected
    assert options_from_text("staple", {"prior": "frequency"}) == {"prior": "frequency"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"max_iter": "2.5"}, "a whole number"),
        ({"tol": "small"}, "a number"),
        ({"tol": "nan"}, "a number"),
        ({"disputed_only": "maybe"}, "true or false"),
    ],
)
def test_words_that_are_no_value_are_refused(given, expected):
    with pytest.raises(InputError, match=expected):
        options_from_text("staple", given)


def test_the_method_is_known():
    with pytest.raises(InputError, match="did you mean staple"):
        options_from_text("stapel", {})


def test_the_vote_by_the_name_that_training_gives_it():
    with pytest.raises(InputError, match="'mode': the vote is majority-vote"):
        method_named("mode")


@pytest.mark.parametrize("name", ["raters", "rater_axis", "classes", "start", "n_classes", "gold"])
def test_what_comes_with_the_labels_is_no_option(name):
    with pytest.raises(InputError, match="dawid-skene has no option"):
        require_options("dawid-skene", {name: 1})
