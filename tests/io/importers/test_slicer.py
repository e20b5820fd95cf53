"""Segmentations as 3D Slicer saves them: overlapping layers, and the smallest box."""

import numpy as np
import pytest
import SimpleITK as sitk

from multirater.errors import InputError
from multirater.io import read_dataset
from multirater.io.importers.study import import_study

SEGMENTS = {
    "Segment0_ID": "Segment_1",
    "Segment0_Name": "vessel",
    "Segment0_Color": "1 0.5 0",
    "Segment0_Layer": "0",
    "Segment0_LabelValue": "1",
    "Segment1_ID": "Segment_2",
    "Segment1_Name": "lesion",
    "Segment1_Color": "0 0 1",
    "Segment1_Layer": "1",
    "Segment1_LabelValue": "1",
}


def save(
    path, array, *, layers=False, origin=(0.0, 0.0, 0.0), spacing=(0.5, 0.5, 2.0), fields=SEGMENTS
):
    path.parent.mkdir(parents=True, exist_ok=True)
    file = sitk.GetImageFromArray(array, isVector=layers)
    file.SetSpacing(spacing)
    file.SetOrigin(origin)
    for key, value in fields.items():
        file.SetMetaData(key, value)
    sitk.WriteImage(file, str(path))
    return path


@pytest.fixture
def scans(tmp_path):
    save(tmp_path / "scans" / "p1.nrrd", np.zeros((4, 10, 12), dtype=np.int16), fields={})
    return tmp_path / "scans"


def test_overlapping_layers_and_the_smallest_box(tmp_path, scans, read_labels):
    layers = np.zeros((2, 3, 5, 2), dtype=np.uint8)  # z, y, x, layer
    layers[..., 0] = 1
    layers[0, 1:, 2:, 1] = 1
    save(tmp_path / "anna" / "p1.seg.nrrd", layers, layers=True, origin=(1.5, 1.0, 2.0))
    import_study("slicer", [tmp_path / "anna"], tmp_path / "study", images=scans)
    expected = np.zeros((4, 10, 12), dtype=int)
    expected[1:3, 2:5, 3:8] = 1
    expected[1, 3:5, 5:8] = 2  # the later segment lies above
    np.testing.assert_array_equal(read_labels(tmp_path / "study")["p1", "anna"], expected)
    items = read_dataset(tmp_path / "study").classes.items
    assert [(item.name, item.colour) for item in items[1:]] == [
        ("vessel", "#ff8000"),
        ("lesion", "#0000ff"),
    ]


def test_another_grid_is_refused_by_file_and_rater(tmp_path, scans):
    array = np.ones((2, 3, 5), dtype=np.uint8)
    save(tmp_path / "anna" / "p1.seg.nrrd", array, origin=(1.6, 1.0, 2.0))
    save(tmp_path / "bert" / "p1.seg.nrrd", array, spacing=(0.5, 0.6, 2.0))
    sources = [tmp_path / "anna", tmp_path / "bert"]
    with pytest.raises(InputError) as caught:
        import_study("slicer", sources, tmp_path / "study", images=scans)
    assert str(caught.value).count("lies elsewhere") == 2
    assert "case p1 (p1.seg.nrrd), rater bert" in str(caught.value)
    assert not (tmp_path / "study").exists()


def test_a_label_map_is_no_segmentation(tmp_path, scans):
    save(tmp_path / "anna" / "p1.seg.nrrd", np.ones((4, 10, 12), dtype=np.uint8), fields={})
    with pytest.raises(InputError, match="names no segments"):
        import_study("slicer", [tmp_path / "anna"], tmp_path / "study", images=scans)
