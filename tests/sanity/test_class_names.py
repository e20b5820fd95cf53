import pandas as pd
import pytest

from multirater.io import read_dataset, survey
from multirater.sanity.odd_study import study_findings


def codes(labels):
    table = pd.DataFrame(
        {"case": range(len(labels)), "rater": ["anna", "bert"] * (len(labels) // 2)}
    ).assign(label=labels)
    return [each.code for each in study_findings(survey(read_dataset(table)))]


@pytest.mark.parametrize("name", ["nan", "None", "NULL", "n/a", "-inf", "-1"])
def test_what_programs_write_for_nothing_is_named(name):
    assert "missing-as-class" in codes(["cat", name, "dog", "cat"])


def test_a_number_in_two_ways_is_named():
    assert "number-twice" in codes(["1", "1.0", "0", "0"])


@pytest.mark.parametrize("names", [("\u00e9", "e\u0301"), ("Cat", "cat")])
def test_names_that_look_alike_are_named(names):
    assert "name-twice" in codes([*names, "dog", "dog"])


def test_usual_names_are_not_odd():
    assert not {"missing-as-class", "number-twice", "name-twice"} & {
        *codes(["nose", "1", "2", "infarct"])
    }
