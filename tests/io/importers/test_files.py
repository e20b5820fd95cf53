"""Files that follow a naming pattern."""

import os
import re

import numpy as np
import pytest
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.io.importers.files import import_files
from multirater.io.read import read_dataset
from multirater.io.tables.manifest import read_rows
from multirater.progress import show_progress


def touch(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def rows_of(root, **patterns):
    """Import and return (case, image, rater, label, truth) relative to the root."""
    target = import_files(root, root.parent / "table", **patterns)
    rows = read_rows(target, [])
    cut = f"../{root.name}/"
    return [
        (
            r.case,
            r.image.replace(cut, ""),
            r.rater,
            r.label.replace(cut, ""),
            r.truth.replace(cut, ""),
        )
        for r in rows
    ]


def faults_of(*args, **patterns):
    with pytest.raises(InputError) as caught:
        import_files(*args, **patterns)
    return caught.value.faults


@pytest.fixture
def root(tmp_path):
    return tmp_path / "files"


def test_the_layout_of_chase_db1(root):
    touch(root, "Image_01L.jpg", "Image_01L_1stHO.png", "Image_01L_2ndHO.png", "Image_02R.jpg")
    assert rows_of(root, image="{case}.jpg", label="{case}_{rater}HO.png") == [
        ("Image_01L", "Image_01L.jpg", "1st", "Image_01L_1stHO.png", ""),
        ("Image_01L", "Image_01L.jpg", "2nd", "Image_01L_2ndHO.png", ""),
        ("Image_02R", "Image_02R.jpg", "", "", ""),
    ]


def test_folders_and_stars_and_repeated_names(root):
    touch(root, "p1/p1_t1.nii.gz", "p1/p1_flair.nii.gz", "seg/jo/p1.nii.gz", "gold/x_p1.nii.gz")
    found = rows_of(
        root,
        image="{case}/{case}_*.nii.gz",
        label="seg/{rater}/{case}.nii.gz",
        truth="gold/*_{case}.nii.gz",
    )
    image = "p1/p1_flair.nii.gz;p1/p1_t1.nii.gz"
    assert found == [("p1", image, "jo", "seg/jo/p1.nii.gz", "gold/x_p1.nii.gz")]


def test_images_and_labels_of_one_form_in_one_folder(root):
    """Labels fit the pattern of images, too, and images with underscores that of labels."""
    touch(root, "p_1.png", "p_1_jo.png", "p_1_kim.png", "p_2.png")
    assert rows_of(root, image="{case}.png", label="{case}_{rater}.png") == [
        ("p_1", "p_1.png", "jo", "p_1_jo.png", ""),
        ("p_1", "p_1.png", "kim", "p_1_kim.png", ""),
        ("p_2", "p_2.png", "", "", ""),
    ]


def test_a_file_belongs_to_the_most_precise_pattern(root):
    touch(root, "p1_image.png", "p1_truth.png", "p1_jo.png")
    patterns = {"image": "{case}_image.png", "truth": "{case}_truth.png"}
    assert rows_of(root, label="{case}_{rater}.png", **patterns) == [
        ("p1", "p1_image.png", "jo", "p1_jo.png", "p1_truth.png")
    ]


def test_the_known_cases_decide_where_a_name_is_cut(root):
    touch(root, "img/a_b.png", "img/c.png", "a_b_jo_smith.png", "c_jo_smith.png")
    found = rows_of(root, image="img/{case}.png", label="{case}_{rater}.png")
    assert [(row[0], row[2]) for row in found] == [("a_b", "jo_smith"), ("c", "jo_smith")]


def test_labels_alone_and_truths_alone(root):
    touch(root, "p1_jo.png", "gold/p2.png")
    found = rows_of(root, label="{case}_{rater}.png", truth="gold/{case}.png")
    assert found == [("p1", "", "jo", "p1_jo.png", ""), ("p2", "", "", "", "gold/p2.png")]


def test_hidden_files_are_passed_by_and_suffixes_fit_in_capitals(root):
    touch(root, "p1.JPG", "._p1.jpg", ".DS_Store", "p1_jo.PNG", "._p1_jo.png", "__MACOSX/p9_x.png")
    found = rows_of(root, image="{case}.jpg", label="{case}_{rater}.png")
    assert found == [("p1", "p1.JPG", "jo", "p1_jo.PNG", "")]


def test_special_characters_in_a_pattern_mean_themselves(root):
    touch(root, "a(1)+[x].png", "a1x.png")
    assert [row[3] for row in rows_of(root, label="{case}(1)+[{rater}].png")] == ["a(1)+[x].png"]


def test_files_without_an_image_are_mentioned(root, capsys):
    touch(root, "p1.jpg", "p1_jo.png", "p9_jo.png")
    show_progress(True)
    try:
        rows_of(root, image="{case}.jpg", label="{case}_{rater}.png")
    finally:
        show_progress(False)
    said = capsys.readouterr().err
    assert "1 case, 1 rater: jo" in said
    assert "1 file fits, but belongs to no image, such as p9_jo.png" in said


def test_only_the_pattern_that_fits_nothing_is_blamed(root, tmp_path):
    touch(root, "p01.png", "p01_carl.png", "p01_jo.png")
    patterns = {"image": "{case}.jpg", "label": "{case}_{rater}.png"}
    (fault,) = faults_of(root, tmp_path / "table", **patterns)
    assert "no image file matches '{case}.jpg' among 3 files" in fault.found


def test_labels_of_other_cases_than_the_images_are_not_called_missing(root, tmp_path):
    touch(root, "scan-1.jpg", "p01_carl.png")
    patterns = {"image": "{case}.jpg", "label": "{case}_{rater}.png"}
    (fault,) = faults_of(root, tmp_path / "table", **patterns)
    assert "belong to no image, such as p01_carl.png" in fault.found


def test_a_folder_that_is_not_there_is_called_so(tmp_path):
    (fault,) = faults_of(tmp_path / "nowhere", tmp_path / "table", label="{case}_{rater}.png")
    assert (fault.found, fault.fix) == ("does not exist", "check the path")


def test_the_manifest_reads_back_from_anywhere(root, tmp_path, monkeypatch):
    root.mkdir()
    mask = np.eye(3, dtype=np.uint8)
    Pillow.fromarray(mask).save(root / "p1_jo.png")
    monkeypatch.chdir(tmp_path)
    for output in ("elsewhere/deep/mine.csv", "here", str(root)):
        manifest = import_files("files", output, label="{case}_{rater}.png")
        assert np.array_equal(read_dataset(manifest)["p1"].read_label("jo").array, mask)


def test_nothing_is_overwritten_unasked(root, tmp_path):
    touch(root, "p1_jo.png")
    import_files(root, tmp_path, label="{case}_{rater}.png")
    (fault,) = faults_of(root, tmp_path, label="{case}_{rater}.png")
    assert "already exists" in fault.found
    import_files(root, tmp_path, label="{case}_{rater}.png", overwrite=True)


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        ({"label": "{case}.png"}, "lacks {rater}"),
        ({"label": "{rater}.png"}, "lacks {case}"),
        ({"label": "{case}_{rater}.png", "image": "img.png"}, "lacks {case}"),
        ({"label": "{case}_{rater}.png", "image": "{case}_{rater}.jpg"}, "has {rater}"),
        ({"label": "{case}_{rater}_{day}.png"}, "has {day}"),
        ({"label": "{case}_{rater}.tif"}, "no label file matches"),
        ({"label": "{case}_{rater}.png", "image": "{case}.tif"}, "no image file matches"),
        ({"label": "{case}_{rater}.png", "truth": "{case}.tif"}, "no truth file matches"),
        ({"label": "*/{case}_{rater}.png"}, "two label files for one case and rater"),
        (
            {"label": "{case}_{rater}.png", "truth": "*/{case}_jo.png"},
            "two label files for one case",
        ),
    ],
)
def test_patterns_that_do_not_fit(root, patterns, found):
    touch(root, "p1.jpg", "p1_jo.png", "a/p1_jo.png", "b/p1_jo.png")
    faults = faults_of(root, root.parent / "table", **patterns)
    assert re.search(re.escape(found), faults[0].found)
    assert faults[0].fix
    assert not (root.parent / "table").exists()


def test_a_folder_that_is_not_there(tmp_path):
    (fault,) = faults_of(tmp_path / "no", tmp_path, label="{case}_{rater}.png")
    assert fault.file == str(tmp_path / "no")


def test_a_folder_that_may_not_be_read_is_named(root, monkeypatch):
    touch(root, "p1_jo.png", "sub/p2_jo.png")
    scandir = os.scandir

    def forbidden(path):
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr("os.scandir", forbidden)
    (fault,) = faults_of(root, root.parent / "table", label="{case}_{rater}.png")
    assert "Permission denied" in fault.found
    assert fault.file == str(root / "sub")


def test_two_stars_span_folders(root):
    touch(root, "p1.png", "a/b/p2.png", "seg/p1_jo.png", "seg/x/y/p2_jo.png")
    found = rows_of(root, image="**/{case}.png", label="seg/**/{case}_{rater}.png")
    assert [(row[0], row[1], row[3]) for row in found] == [
        ("p1", "p1.png", "seg/p1_jo.png"),
        ("p2", "a/b/p2.png", "seg/x/y/p2_jo.png"),
    ]


def test_images_of_one_name_with_labels_of_their_own_are_no_channels(root, tmp_path):
    touch(root, "a/1.png", "a/1_anna.png", "b/1.png", "b/1_bert.png", "b/2.png", "b/2_bert.png")
    patterns = {"image": "**/{case}.png", "label": "**/{case}_{rater}.png"}
    (fault,) = faults_of(root, tmp_path / "table", **patterns)
    assert (fault.case, "a/1.png and b/1.png" in fault.found) == ("1", True)


def test_channels_may_lie_in_folders_of_their_own(root):
    touch(root, "t1/p1.png", "t2/p1.png", "seg/p1_jo.png")
    (row,) = rows_of(root, image="t*/{case}.png", label="seg/{case}_{rater}.png")
    assert row[1] == "t1/p1.png;t2/p1.png"


def test_several_label_patterns(root):
    touch(root, "p1.ppm", "labels-ah/p1.ah.ppm", "vk/p1_vk.pgm")
    found = rows_of(
        root, image="{case}.ppm", label=["labels-*/{case}.{rater}.ppm", "vk/{case}_{rater}.pgm"]
    )
    assert [(row[2], row[3]) for row in found] == [
        ("ah", "labels-ah/p1.ah.ppm"),
        ("vk", "vk/p1_vk.pgm"),
    ]


def test_a_label_pattern_among_several_that_fits_nothing_is_named(root, tmp_path):
    touch(root, "p1.ppm", "p1.ah.ppm")
    patterns = ["{case}.{rater}.ppm", "{case}_{rater}.gif"]
    (fault,) = faults_of(root, tmp_path / "t", image="{case}.ppm", label=patterns)
    assert "no label file matches '{case}_{rater}.gif'" in fault.found


def test_split_and_patient(root):
    touch(root, "train/7/p1.png", "test/8/p2.png", "seg/p1_jo.png", "seg/p2_jo.png")
    patterns = {"image": "{split}/{patient}/{case}.png", "label": "seg/{case}_{rater}.png"}
    rows = read_rows(import_files(root, root.parent / "t", **patterns), [])
    assert [(r.case, r.split, r.patient) for r in rows] == [
        ("p1", "train", "7"),
        ("p2", "test", "8"),
    ]


def test_one_case_name_in_two_splits_is_two_cases(root):
    touch(root, "train/01.png", "test/01.png", "train/01_jo.png", "test/01_jo.png")
    patterns = {"image": "{split}/{case}.png", "label": "{split}/{case}_{rater}.png"}
    rows = read_rows(import_files(root, root.parent / "t", **patterns), [])
    assert [(r.case, r.split) for r in rows] == [("test-01", "test"), ("train-01", "train")]


def test_files_that_disagree_about_the_split(root, tmp_path):
    touch(root, "p1.png", "a/p1_jo.png", "b/p1_kim.png")
    patterns = {"image": "{case}.png", "label": "{split}/{case}_{rater}.png"}
    (fault,) = faults_of(root, tmp_path / "t", **patterns)
    assert fault.headline == "case p1: files tell several splits: a, b"


def test_a_single_image_without_case(root):
    touch(root, "slice.png", "drawn/jo.png", "drawn/kim.png")
    found = rows_of(root, image="slice.png", label="drawn/{rater}.png")
    assert [(row[0], row[2]) for row in found] == [("slice", "jo"), ("slice", "kim")]


def test_files_that_fit_no_pattern_are_listed(root, capsys):
    touch(root, "p1_jo.png", "notes.txt", *(f"more/{number:02d}.pdf" for number in range(12)))
    show_progress(True)
    try:
        rows_of(root, label="{case}_{rater}.png")
    finally:
        show_progress(False)
    said = capsys.readouterr().err
    assert "13 files fit no pattern:\n  more/00.pdf\n" in said
    assert "and 3 more" in said


def test_formats_that_cannot_be_read_are_refused_at_once(root, tmp_path):
    touch(root, "p1_jo.webp", "p2_jo.svg")
    faults = faults_of(root, tmp_path / "t", label="{case}_{rater}.*")
    assert [fault.found for fault in faults] == [
        "cannot read files of suffix .webp",
        "cannot read files of suffix .svg",
    ]
    assert not (tmp_path / "t").exists()
