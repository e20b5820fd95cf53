"""Open a data set: from a table, from folders, from a table in memory."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
import pytest
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.io import dataset_from_arrays, write_dataset
from multirater.io.read import read_dataset
from multirater.types import MISSING, Classes, LabelClass

MASK = np.array([[0, 1, 0], [1, 1, 0]], np.uint8)


def png(path, array=MASK):
    path.parent.mkdir(parents=True, exist_ok=True)
    Pillow.fromarray(np.asarray(array, np.uint8)).save(path)
    return path


def nifti(path, array, affine=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    affine = np.diag([2.0, 2.0, 3.0, 1.0]) if affine is None else affine
    nibabel.save(nibabel.Nifti1Image(np.asarray(array).T, affine), path)
    return path


def write_table(folder, text, name="manifest.csv", encoding="utf-8"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text.encode(encoding))
    return folder


def faults_of(*args, **options):
    with pytest.raises(InputError) as caught:
        read_dataset(*args, **options)
    return caught.value.faults


@pytest.fixture
def folder(tmp_path):
    """Two cases, two raters; kim labelled the first only. One case nobody labelled."""
    for case in ("p1", "p2", "p3"):
        png(tmp_path / f"images/{case}.png", np.full((2, 3), 7))
    png(tmp_path / "raters/jo/p1.png")
    png(tmp_path / "raters/kim/p1.png", 1 - MASK)
    png(tmp_path / "raters/jo/p2.png")
    png(tmp_path / "truth/p1.png")
    return tmp_path


TABLE = """case,image,rater,label,truth,split
p1,images/p1.png,jo,raters/jo/p1.png,truth/p1.png,train
p1,images/p1.png,kim,raters/kim/p1.png,truth/p1.png,train
p2,images/p2.png,jo,raters/jo/p2.png,,train
p3,images/p3.png,,,,test
"""


def check(data, *, has_splits=True):
    assert [case.name for case in data] == ["p1", "p2", "p3"]
    assert data.raters == ("jo", "kim")
    assert data.kind == "masks"
    assert data.classes is None
    assert data["p1"].read_labels().array.tolist() == [MASK.tolist(), (1 - MASK).tolist()]
    assert np.array_equal(data["p1"].read_truth().array, MASK)
    assert list(data["p2"].labels) == ["jo"]
    assert data["p2"].truth is None
    assert not data["p3"].labels
    assert data["p3"].read_image().array.tolist() == [np.full((2, 3), 7).tolist()]
    if has_splits:
        assert [case.split for case in data] == ["train", "train", "test"]


def test_from_a_manifest_or_its_folder(folder):
    write_table(folder, TABLE)
    check(read_dataset(folder))
    check(read_dataset(str(folder / "manifest.csv")))


def test_from_folders_alone(folder):
    check(read_dataset(folder), has_splits=False)


def test_from_a_table_in_memory(folder, monkeypatch):
    write_table(folder, TABLE)
    frame = pd.read_csv(folder / "manifest.csv")
    check(read_dataset(frame, root=folder))
    monkeypatch.chdir(folder)
    check(read_dataset(frame))
    check(read_dataset(frame.rename(columns={"rater": "Annotator", "case": "CASE"})))


def test_a_table_of_another_name_in_another_folder(folder):
    table = TABLE.replace("images/", "../images/").replace("truth/", "../truth/")
    table = table.replace("raters/", "../raters/")
    write_table(folder / "sub", table, name="mine.csv")
    check(read_dataset(folder / "sub/mine.csv"))


@pytest.mark.parametrize(
    "change",
    [
        lambda text, _: "\ufeff" + text,
        lambda text, _: text.replace(",", ";"),
        lambda text, _: text.replace(",", "\t"),
        lambda text, _: text.replace("\n", "\r\n") + "\r\n\r\n,,,,,\r\n",
        lambda text, _: text.replace("rater,", "worker,"),
        lambda text, _: text.replace("p1,", '"p1",').replace("jo,", '"jo",'),
        lambda text, _: text.replace("/p", "\\p"),
        lambda text, folder: text.replace("images/", f"{folder}/images/"),
        lambda text, _: text.replace("truth/p1.png,train\np1", ",train\np1"),
    ],
    ids=["bom", "semicolon", "tab", "windows", "worker", "quoted", "backslash", "absolute", "once"],
)
def test_tables_as_people_save_them(folder, change):
    write_table(folder, change(TABLE, folder))
    check(read_dataset(folder))


def test_opening_reads_no_image_and_pickles(tmp_path):
    """10 000 cases whose files hold nothing: opening them cannot have read them."""
    n_cases = 10_000
    for name in ("images", "raters/jo"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "images/x.png").touch()
    (tmp_path / "raters/jo/x.png").touch()
    rows = [f"p{i},images/x.png,jo,raters/jo/x.png" for i in range(n_cases)]
    write_table(tmp_path, "\n".join(["case,image,rater,label", *rows]))
    data = read_dataset(tmp_path)
    assert len(data) == n_cases
    back = pickle.loads(pickle.dumps(data))
    assert back.raters == ("jo",)
    with pytest.raises(InputError, match=r"case p7, file .*x\.png: is empty"):
        back["p7"].read_image()


def test_a_pickled_data_set_reads_the_same(folder):
    check(pickle.loads(pickle.dumps(read_dataset(folder))), has_splits=False)


def test_modalities_become_channels(tmp_path):
    for case, name in (("p1", "t1"), ("p1", "flair"), ("p2", "t1"), ("p2", "flair")):
        value = {"t1": 1, "flair": 2}[name]
        nifti(tmp_path / f"images/{case}/{name}.nii.gz", np.full((2, 3, 4), value, np.int16))
    found = read_dataset(tmp_path)
    assert found["p1"].read_image().array[:, 0, 0, 0].tolist() == [2, 1]
    text = "case,image\np1,images/p1/t1.nii.gz;images/p1/flair.nii.gz\np2,images/p2\n"
    data = read_dataset(write_table(tmp_path, text))
    assert data["p1"].read_image().array[:, 0, 0, 0].tolist() == [1, 2]
    assert data["p2"].read_image().array.shape == (2, 2, 3, 4)


def test_a_dicom_series_is_an_image_in_a_table_and_in_folders(tmp_path, dicom_series):
    volume = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    dicom_series(tmp_path / "images/p1", volume)
    assert np.array_equal(read_dataset(tmp_path)["p1"].read_image().array[0], volume)
    write_table(tmp_path, "case,image\nct,images/p1\n")
    assert np.array_equal(read_dataset(tmp_path)["ct"].read_image().array[0], volume)


def test_a_nifti_label_with_a_slice_axis_and_a_png_label_for_a_nifti_slice(tmp_path):
    png(tmp_path / "images/p1.png")
    nifti(tmp_path / "raters/jo/p1.nii.gz", MASK[None])
    nifti(tmp_path / "images/p2.nii.gz", MASK.astype(np.float32))
    png(tmp_path / "raters/jo/p2.png", MASK * 255)
    data = read_dataset(tmp_path)
    for case in data:
        assert np.array_equal(case.read_label("jo").array, MASK)
    assert data["p2"].read_label("jo").geometry.spacing == (2.0, 2.0)


def test_classes_beside_the_table_or_given(folder):
    (folder / "classes.csv").write_text("index,name,colour\n0,none,\n1,vessel,#ff0000\n")
    assert read_dataset(folder).classes.names == ("none", "vessel")
    mine = Classes.numbered(2)
    assert read_dataset(folder, classes=mine).classes == mine
    frame = pd.DataFrame({"case": ["p1"], "image": ["images/p1.png"]})
    assert read_dataset(frame, root=folder).classes.names == ("none", "vessel")


def test_a_table_in_memory_does_not_find_classes_by_chance(folder, monkeypatch):
    (folder / "classes.csv").write_text("index,name\n0,none\n1,vessel\n")
    monkeypatch.chdir(folder)
    frame = pd.DataFrame({"case": ["p1"], "image": ["images/p1.png"]})
    assert read_dataset(frame).classes is None


def test_class_labels(tmp_path):
    text = "case,worker,label,truth,split\n1,a,dog,cat,x\n1,b,cat,,\n2,a,bird,,\n3,b,,,\n"
    data = read_dataset(write_table(tmp_path, text))
    assert data.kind == "classes"
    assert data.classes.names == ("bird", "cat", "dog")
    assert data["1"].read_labels(["a", "b"]).array.tolist() == [2, 1]
    assert data["1"].read_truth().array == 1
    assert data["1"].split == "x"
    assert not data["3"].labels
    assert data["2"].read_label("a").rule == "class name"


def test_minus_one_is_an_answer_unless_classes_are_declared_by_index(tmp_path):
    file = write_table(tmp_path, "case,rater,label\na,jo,-1\nb,jo,0\nc,jo,1\nd,jo,\n")
    data = read_dataset(file)
    assert data.classes.names == ("-1", "0", "1")
    assert [len(case.labels) for case in data] == [1, 1, 1, 0]
    (tmp_path / "classes.csv").write_text("index,name\n0,benign\n1,malignant\n")
    assert [len(case.labels) for case in read_dataset(file)] == [0, 1, 1, 0]
    (tmp_path / "classes.csv").write_text("index,name\n0,-1\n1,0\n2,1\n")
    data = read_dataset(file)
    assert [int(case.read_label("jo").array) for case in data if case.labels] == [0, 1, 2]


def test_a_line_that_ends_behind_its_rater_is_cut_off_and_one_without_rater_is_not(tmp_path):
    text = "case,image,rater,label\na,,jo,cat\nb,,jo\nc\n"
    assert ["line 3 has 3 cells" in each.found for each in faults_of(write_table(tmp_path, text))]
    data = read_dataset(write_table(tmp_path, text.replace("b,,jo\n", "b,,jo,\n")))
    assert [len(case.labels) for case in data] == [1, 0, 0]


def test_a_label_that_holds_the_end_of_a_line_is_refused(tmp_path):
    text = 'case,rater,label\na,jo,"cat\nb,jo,"\nc,jo,dog\n'
    (fault,) = faults_of(write_table(tmp_path, text))
    assert (fault.case, fault.rater) == ("a", "jo")
    assert "the end of a line" in fault.found


def test_numbered_class_labels_are_ordered_as_numbers():
    frame = pd.DataFrame({"case": list("abcd"), "rater": "jo", "label": [10.0, 2.0, np.nan, -1.0]})
    frame["image"] = None
    frame.loc[2:, "label"] = [2, 10]
    data = read_dataset(frame)
    assert data.classes.names == ("2", "10")
    assert data["a"].read_label("jo").array == 1
    frame["label"] = [10.0, 2.0, np.nan, -1.0]
    frame["truth"] = pd.array([2, 2, 2, None], dtype="Int64")
    data = read_dataset(frame)
    assert data.classes.names == ("2", "10")
    assert [len(case.labels) for case in data] == [1, 1, 0, 0]
    assert data["d"].truth is None


def test_class_labels_by_number_where_names_are_declared(tmp_path):
    (tmp_path / "classes.csv").write_text("index,name,value\n0,benign,\n1,malignant,7\n")
    write_table(tmp_path, "case,rater,label\na,jo,benign\nb,jo,0\nc,jo,7\nd,jo,malignant\n")
    data = read_dataset(tmp_path)
    assert [int(case.read_label("jo").array) for case in data] == [0, 0, 1, 1]
    write_table(tmp_path, "case,rater,label\na,jo,benig\nb,jo,1\n")
    faults = faults_of(tmp_path)
    assert [fault.case for fault in faults] == ["a", "b"]
    assert "benign, malignant" in faults[0].expected


def test_truth_alone_may_be_class_names(tmp_path):
    data = read_dataset(write_table(tmp_path, "case,rater,label,truth\na,,,cat\nb,,,dog\n"))
    assert data.kind == "classes"
    assert data.raters == ()


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.mkdir(), "holds no data set"),
        (lambda path: write_table(path, "case,image,rater,label\n"), "the data set is empty"),
        (lambda path: write_table(path, ""), "is empty"),
        (lambda path: (path / "images").mkdir(parents=True), "the data set is empty"),
        (lambda path: path.write_bytes(b"\x89PNG\r\n\xff"), "is not UTF-8 text"),
    ],
)
def test_no_data_set_at_all(tmp_path, make, found):
    make(tmp_path / "data")
    (fault,) = faults_of(tmp_path / "data")
    assert found in fault.found
    assert "data" in fault.file
    assert fault.fix or fault.expected


def test_masks_that_are_all_missing_are_not_taken_for_class_names(tmp_path):
    write_table(tmp_path, "case,rater,label\np1,jo,gone/p1.png\np2,jo,gone/p2.png\n")
    assert [fault.found for fault in faults_of(tmp_path)] == ["file does not exist"] * 2


def broken_folder(folder):
    """Damage a data set in every way a table and its files can be damaged; return the faults."""
    write_table(
        folder,
        TABLE
        + "p2,images/p2.png,jo,raters/jo/p1.png,,train\n"  # twice
        + "p4,images/gone.png,jo,raters/jo/p4.png,,\n"  # missing files
        + "p5,images/p5.png,jo,raters/jo/p5.png,,\n"  # truncated image, empty label
        + "p6,images/p6.png,jo,raters/jo/p6.png,,\n"  # size
        + "p7,images/p7.nii,jo,raters/jo/p7.nii,,\n"  # geometry
        + "p7,images/p7.nii,kim,raters/kim/p7.nii,,\n"  # NaN
        + "p8,images/p8.png,jo,raters/jo/p8.png,,\n"  # unknown class
        + "p9,images/p9.png,idle,,,\n"  # rater without labels
        + "p9,images/p1.png,jo,raters/jo/p9.png,,\n",  # two images
    )
    (folder / "classes.csv").write_text("index,name\n0,none\n1,vessel\n")
    for case in ("p5", "p6", "p8", "p9"):
        png(folder / f"images/{case}.png")
    (folder / "images/p5.png").write_bytes((folder / "images/p1.png").read_bytes()[:50])
    (folder / "raters/jo/p5.png").write_bytes(b"")
    png(folder / "raters/jo/p6.png", np.zeros((4, 3)))
    png(folder / "raters/jo/p8.png", MASK * 3)
    png(folder / "raters/jo/p9.png")
    volume = np.zeros((2, 2, 3), np.float32)
    nifti(folder / "images/p7.nii", volume)
    nifti(folder / "raters/jo/p7.nii", volume, np.diag([5.0, 2.0, 3.0, 1.0]))
    nifti(folder / "raters/kim/p7.nii", volume * np.nan)
    return [
        ("p2", "jo", "two rows for one case and rater"),
        ("p4", "", "file does not exist"),
        ("p4", "jo", "file does not exist"),
        ("p5", "", "cannot be read"),
        ("p5", "jo", "is empty"),
        ("p6", "jo", "label has size 4 x 3"),
        ("p7", "jo", "label lies elsewhere"),
        ("p7", "kim", "label values are NaN"),
        ("p8", "jo", "unknown class index 3"),
        ("", "idle", "rater has no labels"),
        ("p9", "", "image is both images/p9.png and images/p1.png"),
    ]


def test_all_faults_of_table_and_files_are_listed_together(folder):
    expected = broken_folder(folder)
    faults = faults_of(folder)
    for case, rater, found in expected:
        hits = [f for f in faults if (f.case, f.rater) == (case, rater) and found in f.found]
        assert len(hits) == 1, (case, rater, found)
        assert hits[0].file
        assert hits[0].fix
        assert hits[0].expected
    assert len(faults) == len(expected)


def test_faults_of_the_table_name_the_table(folder):
    write_table(folder, TABLE + "p2,images/p2.png,jo,raters/jo/p2.png,,train\n")
    (fault,) = faults_of(folder)
    assert fault.file == str(folder / "manifest.csv")


def test_faults_of_classes_and_table_are_listed_together(folder):
    write_table(folder, TABLE + "p4,gone.png,,,,\n" + "p5,a,b,c,d,e,f\n")
    (folder / "classes.csv").write_text("index,name\n0,a\n2,b\n")
    found = [fault.found for fault in faults_of(folder)]
    assert [text.split(":")[0] for text in found] == [
        "line 7 has 7 cells",
        "class indices 0, 2",
        "file does not exist",
    ]


def test_faults_of_folders_and_files_are_listed_together(folder):
    png(folder / "raters/jo/stray.png")
    (folder / "raters/kim/p2.png").write_bytes(b"")
    found = {fault.found.split(" (")[0] for fault in faults_of(folder)}
    assert found == {"label without an image", "is empty"}


def test_faulty_class_labels_do_not_hide_faulty_images(tmp_path):
    (tmp_path / "classes.csv").write_text("index,name\n0,a\n1,b\n")
    (tmp_path / "x.png").touch()
    write_table(tmp_path, "case,image,rater,label\np1,x.png,jo,c\np2,x.png,jo,a\n")
    faults = faults_of(tmp_path)
    assert [(fault.case, fault.found.split(" (")[0]) for fault in faults] == [
        ("p1", "unknown class 'c'"),
        ("p1", "is empty"),
        ("p2", "is empty"),
    ]


@pytest.mark.parametrize("columns", [["image"], ["case", "rater"], ["case", "Case", "image"]])
def test_a_table_in_memory_without_the_columns(columns):
    faults = faults_of(pd.DataFrame([[1] * len(columns)], columns=columns))
    assert faults[0].file == "the table"


def test_opening_a_manifest_does_not_import_pandas(folder):
    code = (
        "import sys, multirater\n"
        f"multirater.read_dataset({str(folder)!r})\n"
        "assert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_values_and_colours_reach_the_labels(tmp_path):
    items = (LabelClass("cup", "#000000", 0), LabelClass("none", "#ffffff", 255))
    png(tmp_path / "a.png", MASK * 255)
    frame = pd.DataFrame({"case": ["p1"], "rater": ["jo"], "label": ["a.png"]})
    data = read_dataset(frame, root=tmp_path, classes=Classes(items, 64))
    assert np.array_equal(data["p1"].read_label("jo").array, MASK)
    png(tmp_path / "a.png", MASK * 64)
    assert (data["p1"].read_label("jo").array == np.where(MASK, MISSING, 0)).all()


def test_paths_of_sources_are_those_of_the_table(folder):
    write_table(folder, TABLE)
    case = read_dataset(folder)["p1"]
    assert case.image.paths == (folder / "images/p1.png",)
    assert case.labels["jo"].paths == (Path(folder) / "raters/jo/p1.png",)


@pytest.mark.parametrize("column", ["patient", "group", "Patient"])
def test_patients_are_read_from_either_column(tmp_path, column):
    text = f"case,rater,label,{column}\n1,a,dog,p1\n1,b,cat,\n2,a,dog,p2\n3,a,dog,\n"
    (tmp_path / "manifest.csv").write_text(text)
    assert [case.patient for case in read_dataset(tmp_path)] == ["p1", "p2", ""]


def test_two_diagnoses_of_one_case_are_a_fault(tmp_path):
    text = "case,rater,label,diagnosis\n1,a,dog,ill\n1,b,cat,well\n"
    (tmp_path / "manifest.csv").write_text(text)
    with pytest.raises(InputError, match="diagnosis is both ill and well"):
        read_dataset(tmp_path)


def test_patient_goes_before_group_and_two_for_one_case_are_a_fault(tmp_path):
    text = "case,rater,label,group,patient\n1,a,dog,g1,p1\n1,b,cat,g1,p2\n"
    (tmp_path / "manifest.csv").write_text(text)
    with pytest.raises(InputError, match="patient is both p1 and p2"):
        read_dataset(tmp_path)


def test_a_folder_whose_name_is_no_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="is no text"):
        read_dataset(tmp_path / os.fsdecode(b"study\xff"))


@pytest.mark.parametrize("name", ["manifest.csv", "classes.csv"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nothing"])
def test_tables_that_are_no_files_are_not_passed_by(tmp_path, name, kind):
    data = dataset_from_arrays(np.zeros((1, 2, 4, 4), dtype=int))
    write_dataset(data, tmp_path / "study")
    place = tmp_path / "study" / name
    place.unlink()
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=f"{name}: is no file"):
        read_dataset(tmp_path / "study")
