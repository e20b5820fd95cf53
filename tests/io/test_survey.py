"""Everything read once: faults together, patterns, classes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.io import dataset_from_arrays, read_dataset, survey, write_dataset
from multirater.types import MISSING, Classes, Dataset


def png(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    Pillow.fromarray(np.asarray(array, np.uint8)).save(path)


def npy(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)


def faults_of(data, **options):
    with pytest.raises(InputError) as caught:
        survey(data, **options)
    return caught.value.faults


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, 3, (6, 3, 4, 5))
    labels[1, 2] = MISSING
    labels[:, 0, 0, 0] = 2
    images = rng.integers(0, 9, (6, 4, 5)).astype(np.uint8)
    write_dataset(dataset_from_arrays(labels, images=images), tmp_path / "data")
    return tmp_path / "data", labels


@given(arrays(np.int16, (3, 4, 5), elements=st.integers(-1, 2)))
@settings(max_examples=50)
def test_patterns_count_what_raters_said_together(labels):
    labels[:, 0, 0] = 1  # every rater labelled something
    (case,) = survey(dataset_from_arrays(labels[None])).cases
    counted = Counter(map(tuple, labels.reshape(3, -1).T.tolist()))
    found = dict(zip(map(tuple, case.rows.tolist()), case.counts.tolist(), strict=True))
    assert found == counted
    assert case.space == (4, 5)
    assert case.highest == labels.max()


def test_a_rater_who_did_not_label_a_case_is_missing_in_its_patterns(folder):
    found = survey(read_dataset(folder[0]))
    assert (found.cases[1].rows[:, 2] == MISSING).all()
    assert found.cases[1].rows.shape[1] == 3


def test_a_case_nobody_labelled_has_no_patterns(tmp_path):
    png(tmp_path / "images/p1.png", np.zeros((2, 3)))
    found = survey(read_dataset(tmp_path))
    assert found.cases[0].rows.shape == (0, 0)
    assert found.cases[0].space == (2, 3)
    assert found.cases[0].n_channels == 1
    assert found.classes.names == ("background", "class 1")


def test_two_processes_find_what_one_finds(folder):
    data = read_dataset(folder[0])
    one, two = survey(data, workers=1), survey(data, workers=2)
    assert one.classes == two.classes
    for a, b in zip(one.cases, two.cases, strict=True):
        assert a.name == b.name
        assert np.array_equal(a.rows, b.rows)
        assert np.array_equal(a.counts, b.counts)
        assert (a.rules, a.highest, a.space, a.geometry) == (
            b.rules,
            b.highest,
            b.space,
            b.geometry,
        )


def test_two_processes_find_the_same_faults(folder):
    path = folder[0]
    (path / "raters/rater 1/2.png").write_bytes(b"")
    png(path / "raters/rater 2/4.png", np.zeros((9, 9)))
    data = read_dataset(path)
    one, two = faults_of(data, workers=1), faults_of(data, workers=2)
    assert one == two
    assert [(fault.case, fault.rater) for fault in one] == [("2", "rater 1"), ("4", "rater 2")]


def test_classes_are_counted_over_labels_and_truth_when_nobody_declared_them(tmp_path):
    png(tmp_path / "raters/jo/p1.png", [[0, 1]])
    png(tmp_path / "truth/p1.png", [[0, 3]])
    found = survey(read_dataset(tmp_path))
    assert len(found.classes) == 4
    assert found.dataset.classes == found.classes


def test_declared_classes_are_kept(folder):
    data = read_dataset(folder[0], classes=Classes(Classes.numbered(7).items, 255))
    assert len(survey(data).classes) == 7


def test_rules_are_stated(tmp_path):
    png(tmp_path / "raters/jo/p1.png", [[0, 255]])
    png(tmp_path / "raters/kim/p1.png", [[0, 1]])
    (case,) = survey(read_dataset(tmp_path)).cases
    assert case.rules == ("0 is background, 255 is foreground", "class indices")


def test_an_empty_data_set_is_refused(folder):
    assert faults_of(Dataset((), ()))[0].found == "the data set is empty"
    nothing = read_dataset(folder[0]).split("nowhere")
    assert faults_of(nothing)[0].file == str(folder[0])


def test_full_scale_masks_beside_many_classes_contradict_each_other(tmp_path):
    png(tmp_path / "raters/jo/p1.png", [[0, 255]])
    png(tmp_path / "raters/jo/p2.png", [[0, 2]])
    (fault,) = faults_of(read_dataset(tmp_path))
    assert fault.case == "p1"
    assert "255 is foreground" in fault.found
    assert "case p2" in fault.expected
    assert "classes.csv" in fault.fix
    png(tmp_path / "raters/jo/p2.png", [[0, 1]])
    assert len(survey(read_dataset(tmp_path)).classes) == 2


@pytest.mark.parametrize("case", ["p1", "p2"])
def test_contradicting_labels_are_named_by_rater_and_file(tmp_path, case):
    png(tmp_path / "raters/jo/p1.png", [[0, 255]])
    png(tmp_path / f"raters/kim/{case}.png", [[0, 2]])
    (fault,) = faults_of(read_dataset(tmp_path))
    assert (fault.case, fault.rater) == ("p1", "jo")
    assert fault.file == str(tmp_path / "raters/jo/p1.png")
    other = tmp_path / f"raters/kim/{case}.png"
    expected = f"the same as in case {case}, rater kim, file {other}: more than two classes"
    assert fault.expected == expected


def test_channels_with_and_without_background_contradict_each_other(tmp_path):
    for case, masks in (("p1", [[1, 0], [0, 1]]), ("p2", [[1, 0], [0, 0]])):
        png(tmp_path / f"images/{case}.png", np.zeros((1, 2)))
        npy(tmp_path / f"raters/jo/{case}.npy", np.array(masks)[:, None].astype(np.uint8))
    (fault,) = faults_of(read_dataset(tmp_path))
    assert fault.case == "p1"
    assert fault.found == "label understood as: one channel per class"
    assert "background where none is set" in fault.expected
    assert f"rater jo, file {tmp_path / 'raters/jo/p2.npy'}" in fault.expected
    declared = survey(read_dataset(tmp_path, classes=Classes.numbered(3)))
    assert [case.highest for case in declared.cases] == [2, 1]


def test_class_labels(tmp_path):
    (tmp_path / "manifest.csv").write_text("case,rater,label\na,x,dog\na,y,cat\nb,y,dog\n")
    found = survey(read_dataset(tmp_path))
    assert [case.rows.tolist() for case in found.cases] == [[[1, 0]], [[-1, 1]]]
    assert [case.counts.tolist() for case in found.cases] == [[1], [1]]


def test_files_that_label_no_pixel_are_no_labels_even_beside_the_truth(tmp_path):
    for folder in ("raters/anna", "raters/bert", "truth"):
        for case in ("a", "b"):
            said = np.full((8, 8), 0 if folder == "truth" else -1, np.int16)
            npy(tmp_path / folder / f"{case}.npy", said)
    found = survey(read_dataset(tmp_path))
    found.require_labels(or_truth=True)
    with pytest.raises(InputError, match="no pixel of any case is labelled"):
        found.require_labels()
