"""Data sets without a table."""

from pathlib import Path

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.folders import discover_rows, is_folder_layout, loose_rows
from multirater.io.formats.suffixes import READABLE
from multirater.io.tables.manifest import Row


def touch(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


def discover(root):
    faults = []
    rows = discover_rows(root, faults)
    assert not faults, "\n".join(map(str, faults))
    return rows


def faults_of(root):
    faults = []
    discover_rows(root, faults)
    return faults


def test_images_labels_and_truth_meet_by_the_name_of_the_case(tmp_path):
    touch(tmp_path, "images/p1.jpg", "images/p2.png", "images/p3.NII.GZ")
    touch(tmp_path, "raters/anna/p1.png", "raters/anna/p3.nii", "raters/bert/p1.PNG")
    touch(tmp_path, "truth/p1.tif", "truth/p2.tif")
    assert discover(tmp_path) == [
        Row("p1", "images/p1.jpg", "anna", "raters/anna/p1.png", "truth/p1.tif"),
        Row("p1", "images/p1.jpg", "bert", "raters/bert/p1.PNG", "truth/p1.tif"),
        Row("p2", "images/p2.png", truth="truth/p2.tif"),
        Row("p3", "images/p3.NII.GZ", "anna", "raters/anna/p3.nii"),
    ]


@pytest.mark.parametrize("suffix", sorted(READABLE))
def test_every_format_that_can_be_read_is_found(tmp_path, suffix):
    touch(tmp_path, f"images/p1{suffix}", f"raters/anna/p1{suffix}")
    assert discover(tmp_path) == [
        Row("p1", f"images/p1{suffix}", "anna", f"raters/anna/p1{suffix}")
    ]


def test_labels_alone_and_images_alone(tmp_path):
    touch(tmp_path / "a", "raters/anna/p1.png", "truth/p1.png", "truth/p2.png")
    touch(tmp_path / "b", "images/p1.png")
    assert discover(tmp_path / "a") == [
        Row("p1", "", "anna", "raters/anna/p1.png", "truth/p1.png"),
        Row("p2", truth="truth/p2.png"),
    ]
    assert discover(tmp_path / "b") == [Row("p1", "images/p1.png")]
    assert is_folder_layout(tmp_path / "a")
    assert is_folder_layout(tmp_path / "b")
    assert not is_folder_layout(tmp_path)


def test_a_folder_per_case_is_one_image(tmp_path):
    touch(tmp_path, "images/p1/flair.nii.gz", "images/p1/t1.nii.gz", "images/p2/1.dcm")
    assert discover(tmp_path) == [Row("p1", "images/p1"), Row("p2", "images/p2")]


def test_files_that_systems_leave_behind_and_notes_are_passed_by(tmp_path):
    touch(tmp_path, "images/p1.png", "raters/anna/p1.png")
    for folder in ("images", "raters", "raters/anna"):
        touch(tmp_path / folder, ".DS_Store", "._p1.png", "Thumbs.db", "desktop.ini", "notes.txt")
        touch(tmp_path / folder, "__MACOSX/._p1.png", ".hidden/p1.png")
    assert discover(tmp_path) == [Row("p1", "images/p1.png", "anna", "raters/anna/p1.png")]


def test_names_with_dots_and_odd_characters_are_whole(tmp_path):
    touch(tmp_path, "images/p 1.v2.png", "raters/<script>/p 1.v2.png", "raters/Jörg/p 1.v2.tif")
    rows = discover(tmp_path)
    assert {(row.case, row.rater) for row in rows} == {("p 1.v2", "<script>"), ("p 1.v2", "Jörg")}


def test_a_dicom_file_without_suffix_is_called_by_its_whole_name(tmp_path, dicom_slice):
    dicom_slice(tmp_path / "images/1.2.840.7", np.zeros((2, 2), np.uint16))
    dicom_slice(tmp_path / "images/IM0001", np.zeros((2, 2), np.uint16))
    assert [row.case for row in discover(tmp_path)] == ["1.2.840.7", "IM0001"]


@pytest.mark.parametrize(
    ("names", "found", "case", "rater"),
    [
        (["images/p1.png", "images/p1.jpg"], "two files for one case", "p1", ""),
        (["images/p1.png", "images/p1/a.png"], "two files for one case", "p1", ""),
        (["raters/jo/p1.nii", "raters/jo/p1.nii.gz"], "two files for one case", "p1", ""),
        (["images/p1.png", "raters/jo/p9.png"], "label without an image", "p9", "jo"),
        (["images/p1.png", "truth/p9.png"], "label without an image", "p9", "(truth)"),
        (["images/p1.png", "raters/jo/notes.txt"], "rater has no labels", "", "jo"),
        (["images/p1.png", "raters/p1.png"], "outside the folder of a rater", "", ""),
        (["images/p1.png", "truth/p1.webp"], "suffix .webp cannot be read", "", ""),
        (["images/p1.jp2", "images/p2.png"], "suffix .jp2 cannot be read", "", ""),
    ],
)
def test_faults_name_file_case_and_rater(tmp_path, names, found, case, rater):
    touch(tmp_path, *names)
    (fault,) = faults_of(tmp_path)
    assert found in fault.found
    assert (fault.case, fault.rater) == (case, rater)
    assert Path(fault.file).exists()
    assert fault.expected
    assert fault.fix


def test_folders_of_raters_under_another_name_are_not_passed_by(tmp_path):
    touch(tmp_path, "images/p1.png", "labels/anna/p1.png", "labels/bert/p1.nii.gz", "notes/x/y.png")
    first, second = faults_of(tmp_path)
    assert "labels/anna/ holds files named like the images" in first.found
    assert second.file == str(tmp_path / "labels/bert")
    assert "raters/" in str(second.fix)


def test_all_faults_are_found_at_once(tmp_path):
    touch(tmp_path, "images/p1.png", "images/p1.tif", "raters/jo/p2.png", "raters/kim/x.txt")
    assert len(faults_of(tmp_path)) == 3


def test_a_folder_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    touch(tmp_path, "images/p1.png")

    def forbidden(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.scandir", forbidden)
    with pytest.raises(InputError, match="Permission denied") as caught:
        discover_rows(tmp_path, [])
    assert caught.value.faults[0].file == str(tmp_path / "images")


def test_slices_of_dicom_are_one_volume_where_volumes_are_looked_for(tmp_path, dicom_slice):
    for number in range(3):
        dicom_slice(tmp_path / f"p1/{number}.dcm", np.zeros((4, 5), np.int16), (0, 0, number))
    faults = []
    apart = loose_rows(tmp_path / "p1", faults)
    assert [(row.case, row.image) for row in apart] == [(str(i), f"./{i}.dcm") for i in range(3)]
    together = loose_rows(tmp_path / "p1", faults, of_volumes=True)
    assert [(row.case, row.image) for row in together] == [("p1", ".")]
    for of_volumes in (False, True):
        found = loose_rows(tmp_path, faults, of_volumes=of_volumes)
        assert [(row.case, row.image) for row in found] == [("p1", "./p1")]
    assert not faults
