"""Segmentations as 3D Slicer saves them: overlapping layers, and the smallest box."""

import numpy as np
import pytest
import SimpleITK as sitk

from multirater.errors import InputError
from multirater.io import read_dataset
from multirater.io.exporters.exporting import export_dataset
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


def test_both_ways_with_the_library_of_slicer(tmp_path, read_labels):
    """Where `slicerio` is installed, which 3D Slicer's makers keep for this format."""
    slicerio = pytest.importorskip("slicerio")
    place = np.diag([0.7, 0.5, 2.0, 1.0])
    place[:3, 3] = 1, 2, 3
    scan = sitk.GetImageFromArray(np.zeros((8, 12, 14), dtype=np.int16))
    scan.SetSpacing((0.7, 0.5, 2.0))
    scan.SetOrigin((1, 2, 3))
    (tmp_path / "scans").mkdir()
    sitk.WriteImage(scan, str(tmp_path / "scans" / "p1.nii.gz"))
    voxels = np.zeros((14, 12, 8), dtype=np.uint8)  # x, y, z
    voxels[3:8, 2:9, 1:5], voxels[6:12, 5:11, 3:7] = 1, 2
    segments = [
        {"id": "S1", "name": "liver", "labelValue": 1, "color": [1.0, 0.0, 0.0]},
        {"id": "S2", "name": "spleen", "labelValue": 2, "color": [0.0, 1.0, 0.0]},
    ]
    written = {"voxels": voxels, "ijkToLPS": place, "encoding": "gzip", "segments": segments}
    written |= {"containedRepresentationNames": ["Binary labelmap"]}
    written |= {"masterRepresentation": "Binary labelmap"}
    (tmp_path / "anna").mkdir()
    slicerio.write_segmentation(str(tmp_path / "anna" / "p1.seg.nrrd"), written)
    import_study("slicer", [tmp_path / "anna"], tmp_path / "study", images=tmp_path / "scans")
    np.testing.assert_array_equal(
        read_labels(tmp_path / "study")["p1", "anna"], voxels.transpose(2, 1, 0)
    )
    out = export_dataset(read_dataset(tmp_path / "study"), "slicer", tmp_path / "out")
    again = slicerio.read_segmentation(str(out / "p1.seg.nrrd"))
    np.testing.assert_array_equal(again["voxels"], voxels)
    np.testing.assert_allclose(again["ijkToLPS"], place)
    told = [(each["name"], each["labelValue"], list(each["color"])) for each in again["segments"]]
    assert told == [("liver", 1, [1.0, 0.0, 0.0]), ("spleen", 2, [0.0, 1.0, 0.0])]


def test_voxels_of_no_segment_are_told_with_their_place(tmp_path, scans):
    labels = np.zeros((4, 10, 12), dtype=np.uint8)
    labels[1, 2, 3] = 7
    save(tmp_path / "anna" / "p1.seg.nrrd", labels)
    with pytest.raises(InputError) as caught:
        import_study("slicer", [tmp_path / "anna"], tmp_path / "study", images=scans)
    said = str(caught.value)
    assert "value 7 belongs to no segment: 1 pixel of 480, at slice 1, row 2, column 3" in said
    assert not (tmp_path / "study").exists()


def test_a_segment_in_a_layer_that_is_not_there(tmp_path, scans):
    labels = np.ones((4, 10, 12), dtype=np.uint8)
    save(tmp_path / "anna" / "p1.seg.nrrd", labels)  # whose second segment is in a second layer
    with pytest.raises(InputError, match="segment lesion is in layer 1"):
        import_study("slicer", [tmp_path / "anna"], tmp_path / "study", images=scans)
