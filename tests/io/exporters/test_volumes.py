"""Tools of volumes, out and back in: every voxel, every class, and the place of the grid."""

from dataclasses import replace

import numpy as np
import pytest
import SimpleITK as sitk

from multirater.io import read_dataset, write_dataset
from multirater.io.exporters.exporting import export_dataset
from multirater.io.importers.study import import_study
from multirater.types import Case, Classes, Dataset, Geometry, Image, LabelClass, LabelMap, Source

GEOMETRY = Geometry((2.0, 0.5, 0.7), (10.0, -5.0, 3.0), ((0, 0, 1), (0, -1, 0), (1, 0, 0)))
SPACE = (9, 14, 16)
CLASSES = Classes(
    (LabelClass("background"), LabelClass("liver", "#ff0000"), LabelClass("spleen", "#00ff00"))
)


@pytest.fixture
def volumes(tmp_path, drawn_label):
    def drawn(seed):
        return Source(lambda: LabelMap(drawn_label(seed, space=SPACE), GEOMETRY))

    noise = np.random.default_rng(0).normal(size=(1, *SPACE)).astype(np.float32)
    image = Source(lambda: Image(noise, GEOMETRY))
    one = Case("p1", image, {"anna": drawn(1), "bert": drawn(2)})
    two = Case("p2", image, {"anna": drawn(3)})
    write_dataset(Dataset((one, two), ("anna", "bert"), "masks", CLASSES), tmp_path / "volumes")
    return tmp_path / "volumes"


@pytest.mark.parametrize("tool", ["slicer", "itk-snap", "nnunet", "monailabel"])
def test_round_trip_of_volumes(volumes, tmp_path, read_labels, tool):
    out = export_dataset(read_dataset(volumes), tool, tmp_path / "out")
    import_study(tool, [out], tmp_path / "again", images=volumes / "images")
    before, after = read_labels(volumes), read_labels(tmp_path / "again")
    assert before.keys() == after.keys()
    for key, label in before.items():
        np.testing.assert_array_equal(after[key], label)
    again = read_dataset(tmp_path / "again")
    assert again.classes.names == CLASSES.names
    assert again["p1"].read_label("anna").geometry.is_close(GEOMETRY)


@pytest.mark.parametrize("tool", ["slicer", "itk-snap", "nnunet", "monailabel", "qupath"])
def test_round_trip_of_photographs(painted_study, tmp_path, read_labels, tool):
    out = export_dataset(read_dataset(painted_study), tool, tmp_path / "out")
    import_study(tool, [out], tmp_path / "again", images=tmp_path / "photos")
    before, after = read_labels(painted_study), read_labels(tmp_path / "again")
    assert before.keys() == after.keys()
    for key, label in before.items():
        np.testing.assert_array_equal(after[key], label)


def test_segments_have_names_colours_and_values_for_slicer(volumes, tmp_path):
    out = export_dataset(read_dataset(volumes), "slicer", tmp_path / "out")
    file = sitk.ReadImage(out / "anna" / "p1.seg.nrrd")
    assert file.GetMetaData("Segment1_Name") == "spleen"
    assert file.GetMetaData("Segment1_Color") == "0 1 0"
    assert file.GetMetaData("Segment1_LabelValue") == "2"
    assert file.GetSpacing() == pytest.approx(GEOMETRY.spacing[::-1])


@pytest.mark.parametrize("tool", ["slicer", "itk-snap", "monailabel"])
def test_a_label_without_any_labelled_voxel_is_left_out(volumes, tmp_path, read_labels, tool):
    study = read_dataset(volumes)
    nothing = Source(lambda: LabelMap(np.full(SPACE, -1, dtype=np.int16), GEOMETRY))
    first = study.cases[0]
    changed = replace(first, labels={**first.labels, "bert": nothing})
    out = export_dataset(replace(study, cases=(changed, *study.cases[1:])), tool, tmp_path / "out")
    import_study(tool, [out], tmp_path / "again", images=volumes / "images")
    kept = {key for key in read_labels(volumes) if key != ("p1", "bert")}
    assert read_labels(tmp_path / "again").keys() == kept
