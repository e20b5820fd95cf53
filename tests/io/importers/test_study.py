"""Label files of every tool that has them: values that stand for no class."""

import numpy as np
import pytest
import SimpleITK as sitk
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.io import read_dataset
from multirater.io.exporters.exporting import export_dataset
from multirater.io.importers.study import import_study
from multirater.rater_choice import choose_raters

WITH_VALUES = ("nnunet", "itk-snap", "monailabel")
PLACE = (3, 5)


@pytest.fixture
def strayed(painted_study, tmp_path):
    """Export the labels of one rater for a tool, and put a wrong value into one of them."""

    def of(tool):
        data = choose_raters(read_dataset(painted_study), ["anna"])
        out = export_dataset(data, tool, tmp_path / "anna")
        file = next(p for p in out.rglob("eye.*") if "images" not in p.parent.name and p != out)
        if tool == "monailabel":
            file = next((out / "labels").rglob("eye.*"))
        before = _values(file)
        _save(file, before)
        return out, before

    return of


def _values(file):
    if file.suffix == ".png":
        return np.array(Pillow.open(file))
    return sitk.GetArrayFromImage(sitk.ReadImage(str(file)))


def _save(file, values):
    strayed = values.astype(np.int16)
    strayed[PLACE] = 9
    if file.suffix == ".png":
        Pillow.fromarray(strayed.astype(np.uint8)).save(file)
        return
    image = sitk.GetImageFromArray(strayed)
    image.CopyInformation(sitk.ReadImage(str(file)))
    sitk.WriteImage(image, str(file))


@pytest.mark.parametrize("tool", WITH_VALUES)
def test_one_stray_value_names_its_place_and_what_can_be_done(tool, strayed, tmp_path):
    out, _ = strayed(tool)
    with pytest.raises(InputError) as caught:
        import_study(tool, [out], tmp_path / "study", images=tmp_path / "photos")
    said = str(caught.value)
    assert "eye" in said
    assert "1 pixel" in said
    assert "row 3, column 5" in said
    assert "--stray" in said
    assert "classes.csv" not in said
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(("stray", "value"), [("nearest", 2), ("missing", -1)])
@pytest.mark.parametrize("tool", WITH_VALUES)
def test_it_is_read_as_asked(tool, stray, value, strayed, tmp_path, read_labels):
    out, before = strayed(tool)
    import_study(tool, [out], tmp_path / "study", images=tmp_path / "photos", stray=stray)
    found = next(a for (case, _), a in read_labels(tmp_path / "study").items() if case == "eye")
    expected = before.astype(int)
    expected[PLACE] = value
    np.testing.assert_array_equal(found, expected)


def test_shapes_have_no_values_that_could_stray(painted_study, tmp_path):
    data = choose_raters(read_dataset(painted_study), ["anna"])
    out = export_dataset(data, "coco", tmp_path / "anna.json")
    with pytest.raises(InputError, match="--stray missing, but exports of coco hold no label"):
        import_study("coco", [out], tmp_path / "study", images=tmp_path / "photos", stray="missing")
