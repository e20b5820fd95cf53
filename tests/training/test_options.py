from dataclasses import dataclass
from typing import Literal

import pytest

from multirater.errors import InputError
from multirater.training.options import NoOptions, checked_options, given_options


@dataclass(frozen=True)
class Some:
    times: int = 1
    weight: float = 0.5
    kind: Literal["round", "square"] = "round"
    loud: bool = False


def test_words_become_values_of_the_declared_types():
    given = given_options(["times=3", "weight=1e-2", "kind=square", "loud=yes"])
    assert checked_options(Some, given, "some") == Some(3, 0.01, "square", True)


def test_values_are_taken_as_they_are_and_the_rest_stays():
    assert checked_options(Some, {"times": 2, "loud": False}, "some") == Some(times=2)


def test_names_may_be_written_with_dashes():
    assert given_options(["calibration-weight=0.1"]) == {"calibration_weight": "0.1"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"times": "many"}, "a whole number"),
        ({"times": 1.5}, "a whole number"),
        ({"weight": "heavy"}, "a number"),
        ({"kind": "oval"}, "round and square"),
        ({"loud": "perhaps"}, "true or false"),
        ({"colour": "red"}, "times, weight, kind and loud"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_could(given, expected):
    with pytest.raises(InputError, match=expected) as caught:
        checked_options(Some, given, "some")
    assert next(iter(given)) in str(caught.value)


def test_a_method_without_options_says_so():
    with pytest.raises(InputError, match="it has no options"):
        checked_options(NoOptions, {"times": 1}, "mean")


@pytest.mark.parametrize("pair", ["times", "=3", ""])
def test_a_pair_needs_name_and_value(pair):
    with pytest.raises(InputError, match="name=value"):
        given_options([pair])
