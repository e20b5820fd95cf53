import numpy as np
import pandas as pd
import pytest

from multirater.evaluation.recurrences import recurrence_scores
from multirater.io import dataset_from_arrays, read_dataset, write_image, write_label
from multirater.types import Geometry, Image, LabelMap


@pytest.fixture
def study():
    labels = np.zeros((2, 2, 8, 8), dtype=np.int16)
    labels[:, 0, :4], labels[:, 1, :6] = 1, 1
    return dataset_from_arrays(labels, raters=["anna", "bert"], cases=["a", "b"])


def predictions(folder, steps):
    """Write predictions that are rows up to a number, after each recurrence."""
    plane = Geometry.default(2)
    for case in "ab":
        for number, rows in enumerate(steps):
            probability = np.zeros((2, 8, 8), dtype=np.float32)
            probability[1, :rows], probability[0, rows:] = 1, 1
            write_image(Image(probability, plane), folder / f"recurrences/{number}/{case}.tif")
        label = LabelMap(probability[1].astype(np.int16), plane)
        write_label(label, folder / f"truth/{case}.png")
    rows = [{"case": case, "rater": "network", "label": f"truth/{case}.png"} for case in "ab"]
    pd.DataFrame(rows).to_csv(folder / "manifest.csv", index=False)
    return read_dataset(folder)


def test_dice_with_every_rater_after_each_recurrence(tmp_path, study):
    table = recurrence_scores(predictions(tmp_path, [2, 4, 6]), study)
    assert list(table.index) == [0, 1, 2]
    assert np.allclose(table["anna"], [2 * 2 / 6, 1.0, 2 * 4 / 10])
    assert np.allclose(table["bert"], [2 * 2 / 8, 2 * 4 / 10, 1.0])
    # Two thresholds lie below the half of the raters who drew rows 4 and 5, three do not.
    between = [(2 * 2 / 8) * 0.4 + (2 * 2 / 6) * 0.6, 0.8 * 0.4 + 0.6, 0.4 + 0.8 * 0.6]
    assert np.allclose(table["soft Dice with mean of raters"], between)


def test_methods_without_recurrences_have_no_table(tmp_path, study):
    found = predictions(tmp_path, [2])
    for file in (tmp_path / "recurrences/0").iterdir():
        file.unlink()
    assert recurrence_scores(found, study).empty
