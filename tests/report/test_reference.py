from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from multirater import dataset_from_arrays
from multirater.report.case_data import make_encoder
from multirater.report.contents import gather_subject
from multirater.report.layers import layers_of
from multirater.report.reference import vote
from multirater.report.subject import Subject
from multirater.types import Geometry, LabelMap, Source


def _map_of(label):
    return LabelMap(np.asarray(label, dtype=np.int16), Geometry.default(np.ndim(label)))


@pytest.fixture(scope="module")
def contents():
    """Two of three raters draw too much; of the first case an expert decided so."""
    labels = np.zeros((2, 3, 8, 8), dtype=np.int16)
    labels[:, :, 2:4, 2:4] = 1
    labels[:, 1:, 2:6, 2:6] = 1
    data = dataset_from_arrays(labels, raters=["anna", "bert", "cleo"], cases=["a", "b"])
    gold = Source(partial(_map_of, labels[0, 0]))
    data = replace(data, cases=(replace(data[0], gold=gold), data[1]))
    return gather_subject(Subject("study", ("data set",), data))


def test_raters_are_measured_against_what_was_decided(contents):
    scores = np.array([each.score for each in contents.tallies])
    assert scores[0, 0] == 1 > scores[0, 1], "anna is right where the expert said so"
    assert scores[1, 1] == 1 > scores[1, 0], "elsewhere the majority is"
    assert "An expert decided 1 case" in contents.reference.words


def test_the_decision_has_an_outline_and_stands_in_the_reference(contents):
    layers = layers_of(contents.subject, [], vote=True)
    assert [layer.kind for layer in layers[3:]] == ["gold", "reference"]
    encoder = make_encoder(
        contents.subject, contents.classes, contents.reference, contents.opened, 10**6
    )
    first, second = (encoder.encode(case) for case in contents.cases)
    assert all(row[3] == row[4] == row[0] for row in first["rows"])
    assert all(row[3] == -1 for row in second["rows"])


def test_class_labels_are_held_to_the_decision():
    data = dataset_from_arrays(np.array([[0, 1, 1], [1, 1, 0]]), raters=list("abc"))
    data = replace(data, cases=(replace(data[0], gold=Source(partial(_map_of, 0))), data[1]))
    found = gather_subject(Subject("study", ("data set",), data))
    assert [each.score.tolist() for each in found.tallies] == [[1, 0, 0], [1, 1, 0]]


def test_nobody_votes_where_nobody_labelled():
    assert vote(np.full((2, 3, 4), -1), 2).tolist() == [[-1] * 4] * 3
