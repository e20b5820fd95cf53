"""A data set with some of its raters."""

from dataclasses import replace

import numpy as np
import pytest

from multirater import choose_raters, dataset_from_arrays
from multirater.errors import InputError
from multirater.types import Drawing, LabelMap, Source

INFO = {"anna": {"group": "expert"}, "bert": {"group": "crowd"}, "Carl, jr": {"group": "crowd"}}


@pytest.fixture
def data():
    labels = np.zeros((3, 3, 4, 4), dtype=int)
    labels[2, 1:] = -1  # only anna labelled the third case
    made = dataset_from_arrays(labels, raters=["anna", "bert", "Carl, jr"])
    return replace(made, rater_info=INFO)


@pytest.mark.parametrize(
    ("raters", "exclude", "left"),
    [
        (None, ["bert"], ("anna", "Carl, jr")),
        (["bert,anna"], None, ("anna", "bert")),
        (["bert", "anna"], ["bert"], ("anna",)),
        (["Carl, jr"], None, ("Carl, jr",)),
        (["group=crowd"], None, ("bert", "Carl, jr")),
        ("anna", (), ("anna",)),
        (None, None, ("anna", "bert", "Carl, jr")),
    ],
)
def test_some_raters_are_kept_in_the_order_of_the_data(data, raters, exclude, left):
    chosen = choose_raters(data, raters, exclude=exclude)
    assert chosen.raters == left
    assert set(chosen.rater_info) == set(left)
    assert all(set(case.labels) <= set(left) for case in chosen)
    assert len(chosen) == len(data)


def test_a_case_that_loses_all_its_labels_stays(data):
    assert not choose_raters(data, ["bert"]).cases[2].labels


def test_drawings_go_with_their_rater(data):
    map_ = data[0].read_label("anna")
    drawn = Drawing("dora", "positive", Source(lambda: LabelMap(map_.array, map_.geometry)))
    cases = (replace(data.cases[0], drawings=(drawn,)), *data.cases[1:])
    with_drawing = replace(data, cases=cases)
    assert not choose_raters(with_drawing, exclude=["dora"]).cases[0].drawings
    assert choose_raters(with_drawing, ["dora"]).cases[0].drawings == (drawn,)


@pytest.mark.parametrize(
    ("raters", "exclude", "said"),
    [
        (["Bart"], None, "--raters Bart: no rater of this name; did you mean bert"),
        (None, ["group=crowds"], "did you mean group=crowd"),
        (None, ["anna,bert", "Carl, jr"], "no rater is left"),
    ],
)
def test_unknown_names_are_told_with_a_suggestion(data, raters, exclude, said):
    with pytest.raises(InputError) as caught:
        choose_raters(data, raters, exclude=exclude)
    assert said in str(caught.value)
    assert "anna, bert and Carl, jr" in str(caught.value)
