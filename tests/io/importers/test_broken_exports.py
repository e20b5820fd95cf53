"""Damaged exports of every tool that is written here, too: clear words, and nothing written."""

import numpy as np
import pytest
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.io import read_dataset
from multirater.io.exporters.exporting import export_dataset
from multirater.io.importers.study import import_study
from multirater.rater_choice import choose_raters

NEED_IMAGES = ("coco", "label-studio", "cvat", "slicer", "itk-snap", "qupath")
HOLD_IMAGES = ("nnunet", "monailabel")
BY_NAME = ("coco", "label-studio", "slicer", "qupath")
"""Tools whose exports name classes, so that `--classes` can leave one out."""


@pytest.fixture
def exported(painted_study, tmp_path):
    def of(tool):
        data = choose_raters(read_dataset(painted_study), ["anna"])
        return export_dataset(data, tool, tmp_path / f"anna.{tool}")

    return of


def refused(tool, out, tmp_path, **options):
    """Import, and return every fault in words; nothing may have been written."""
    unseen = {"unseen": "empty"} if tool == "cvat" else {}
    with pytest.raises(InputError) as caught:
        import_study(
            tool, [out], tmp_path / "study", images=tmp_path / "photos", **unseen, **options
        )
    assert not (tmp_path / "study").exists()
    return str(caught.value)


def label_files(out):
    """Return the files of an export that hold labels, or name them."""
    if out.is_file():
        return [out]
    wanted = (".seg.nrrd", ".geojson", "dataset.json", "datastore_v2.json", "labels.txt")
    found = [p for p in sorted(out.rglob("*")) if p.is_file()]
    return [
        p
        for p in found
        if p.name.endswith(wanted)
        or p.parent.name.startswith("labels")
        or p.parent.parent.name == "labels"
    ]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("tool", [*NEED_IMAGES, *HOLD_IMAGES])
def test_cut_off(tool, share, exported, tmp_path):
    out = exported(tool)
    files = label_files(out)
    assert files
    for file in files:
        whole = file.read_bytes()
        file.write_bytes(whole[: int(len(whole) * share)])
        if file.name == "labels.txt" and share == 0.9:
            file.write_bytes(whole)  # whose last lines may be left out
            continue
        said = refused(tool, out, tmp_path)
        assert file.name in said or "eye" in said or "ear" in said, file
        file.write_bytes(whole)


@pytest.mark.parametrize("tool", NEED_IMAGES)
def test_a_missing_image_is_named_with_the_tools_own_number(tool, exported, tmp_path):
    out = exported(tool)
    (tmp_path / "photos" / "eye.png").unlink()
    said = refused(tool, out, tmp_path)
    assert "eye" in said
    assert "is not in" in said


@pytest.mark.parametrize("tool", NEED_IMAGES)
def test_an_image_of_another_size(tool, exported, tmp_path):
    out = exported(tool)
    Pillow.fromarray(np.zeros((20, 21), dtype=np.uint8)).save(tmp_path / "photos" / "eye.png")
    if tool == "qupath":  # GeoJSON states no size; what lies outside is cut
        import_study(tool, [out], tmp_path / "study", images=tmp_path / "photos")
        return
    said = refused(tool, out, tmp_path)
    assert "eye" in said
    assert "anna" in said


@pytest.mark.parametrize("tool", BY_NAME)
def test_a_class_that_is_not_among_those_given(tool, exported, tmp_path):
    said = refused(tool, exported(tool), tmp_path, classes=["lesion"])
    assert "vessel" in said
