"""Folders as `predict` and `fuse` write them; `evaluate` meets the real ones."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from multirater.errors import InputError
from multirater.evaluation.predictions import open_predictions
from multirater.io import dataset_from_arrays, read_dataset, write_dataset, write_image, write_label
from multirater.io.tables.manifest import Row, write_rows
from multirater.types import Classes, Geometry, Image, LabelClass, LabelMap

GRID = Geometry.default(2)
LABEL = np.array([[0, 1, 2], [0, 0, 1]], dtype=np.int16)
CLASSES = Classes(tuple(LabelClass(name) for name in ("background", "edema", "core")))


def put(folder: Path, cell: str, label) -> None:
    write_label(LabelMap(np.asarray(label, dtype=np.int16), GRID), folder / cell)


@pytest.fixture
def folder(tmp_path) -> Path:
    """One case, `p/1`, in a file of another name, with two raters predicted."""
    put(tmp_path, "truth/p_1.png", LABEL)
    put(tmp_path, "raters/a_b/p_1.png", np.zeros_like(LABEL))
    put(tmp_path, "raters/carl/p_1.png", LABEL)
    cm = np.arange(9)[:, None, None] + np.zeros((9, 2, 3))
    write_image(Image(cm.astype(np.float32), GRID), tmp_path / "confusion/carl/p_1.tif")
    write_rows([Row("p/1", "", "network", "truth/p_1.png")], tmp_path / "manifest.csv")
    return tmp_path


def opened(folder, classes=CLASSES, raters=("a/b", "carl"), predicted=CLASSES):
    return open_predictions(read_dataset(folder, classes=predicted), None, classes, raters)


def test_labels_are_found_by_the_names_of_cases_and_raters(folder):
    case = opened(folder).cases["p/1"]
    assert (case.label.read().array == LABEL).all()
    assert set(case.raters) == {"a/b", "carl"}
    assert (case.raters["carl"].read().array == LABEL).all()
    assert set(case.confusion) == {"carl"}


def test_raters_the_reference_does_not_know_keep_the_name_of_their_folder(folder):
    assert set(opened(folder, raters=("x",)).cases["p/1"].raters) == {"a_b", "carl"}


def test_maps_are_read_as_true_and_observed(folder):
    cm = opened(folder).cases["p/1"].read_confusion("carl", (2, 3))
    assert cm.shape == (3, 3, 2, 3)
    assert cm[..., 0, 0].tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_classes_in_another_order_are_matched_by_name(folder):
    turned = Classes(tuple(LabelClass(name) for name in ("core", "background", "edema")))
    case = opened(folder, predicted=turned).cases["p/1"]
    # 0 was core, 1 background, 2 edema.
    assert case.label.read().array.tolist() == [[2, 0, 1], [2, 2, 0]]
    assert case.raters["carl"].read().array.tolist() == [[2, 0, 1], [2, 2, 0]]
    cm = case.read_confusion("carl", (2, 3))[..., 0, 0]
    # Row background, columns background, edema, core: from row 1, columns 1, 2, 0.
    assert cm.tolist() == [[4, 5, 3], [7, 8, 6], [1, 2, 0]]


def test_unlabelled_pixels_stay_unlabelled_in_another_order():
    turned = Classes(tuple(LabelClass(name) for name in ("core", "background", "edema")))
    data = dataset_from_arrays(np.array([[[[0, -1, 2]]]]), classes=turned)
    case = open_predictions(data, None, CLASSES, ()).cases["0"]
    assert case.label.read().array.tolist() == [[2, -1, 1]]


def test_maps_of_another_size_are_refused(folder):
    with pytest.raises(InputError, match=r"true \* 3 \+ observed"):
        opened(folder).cases["p/1"].read_confusion("carl", (3, 3))


def test_the_raters_of_a_plain_data_set_are_not_taken_for_predictions(tmp_path):
    write_dataset(dataset_from_arrays(np.ones((1, 1, 4, 4), dtype=int)), tmp_path / "data")
    found = open_predictions(read_dataset(tmp_path / "data"), None, Classes.numbered(2), ())
    assert found.cases["0"].raters == {}


def test_the_rater_table_gives_matrices_by_name(folder):
    names = CLASSES.names
    places = [(t, o) for t in range(3) for o in range(3)]
    columns = {f"cm[{names[t]},{names[o]}]": [3.0 * t + o] for t, o in places}
    columns["cm[core,background]"] = columns["cm[core,edema]"] = columns["cm[core,core]"] = [None]
    pd.DataFrame({"rater": ["NA"], "skill": [0.5], **columns}).to_csv(folder / "raters.csv")
    (rater, cm), *others = opened(folder).cm.items()
    assert rater == "NA"
    assert others == []
    assert cm.tolist() == [[0, 1, 2], [3, 4, 5], [pytest.approx(1 / 3)] * 3]


def test_a_rater_table_without_matrices_says_nothing(folder):
    pd.DataFrame({"rater": ["carl"], "skill": [0.5]}).to_csv(folder / "raters.csv")
    assert opened(folder).cm == {}


def test_several_raters_are_no_predictions():
    data = dataset_from_arrays(np.zeros((1, 2, 4, 4), dtype=int))
    with pytest.raises(InputError, match="predictions by 2 raters"):
        open_predictions(data, None, Classes.numbered(2), ())
