import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from multirater import dataset_from_arrays, read_dataset, write_dataset
from multirater.errors import InputError
from multirater.io import kept_labels
from multirater.io.kept_labels import keep_label, keep_labels
from multirater.io.survey import survey
from multirater.types import Geometry, LabelMap


@given(
    hnp.arrays(np.int16, hnp.array_shapes(min_dims=1, max_dims=3), elements=st.integers(-1, 3000))
)
def test_a_label_comes_back_as_it_was(array):
    grid = Geometry(
        (0.5,) * array.ndim, (1.0,) * array.ndim, Geometry.default(array.ndim).direction
    )
    found = keep_label(LabelMap(array, grid, "a rule")).read()
    np.testing.assert_array_equal(found.array, array)
    assert (found.array.dtype, found.geometry, found.rule) == (np.int16, grid, "a rule")


@pytest.fixture
def study(tmp_path):
    labels = np.random.default_rng(0).integers(0, 2, (3, 2, 9, 7))
    labels[1, 1] = -1
    write_dataset(dataset_from_arrays(labels, truths=labels[:, 0]), tmp_path / "study")
    return tmp_path / "study"


def removed(study):
    files = list(study.rglob("*.png"))
    assert files
    for file in files:
        file.unlink()


def test_what_was_surveyed_needs_no_file_any_more(study):
    before = read_dataset(study)
    expected = [case.read_labels(before.raters).array for case in before]
    found = survey(before, keep=True)
    assert not any(case.kept for case in found.cases)
    removed(study)
    for case, labels in zip(found.dataset, expected, strict=True):
        np.testing.assert_array_equal(case.read_labels(before.raters).array, labels)
        np.testing.assert_array_equal(case.read_truth().array, labels[0])


def test_without_room_files_are_read_again(study, monkeypatch):
    monkeypatch.setattr(kept_labels, "_MOST_BYTES", 0)
    found = keep_labels(read_dataset(study))
    removed(study)
    with pytest.raises(InputError, match="png"):
        found[0].read_label(found.raters[0])


def test_what_cannot_be_read_is_told_by_whoever_asks(study):
    data = read_dataset(study)
    (study / "raters" / data.raters[0] / f"{data[0].name}.png").write_bytes(b"no picture")
    found = keep_labels(data)
    with pytest.raises(InputError, match="png"):
        found[0].read_label(data.raters[0])
    assert found[1].read_label(data.raters[0]).array.shape == (9, 7)
