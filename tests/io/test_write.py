"""Write a data set and read it again."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image as Pillow

from multirater.errors import Fault, InputError
from multirater.io import dataset_from_arrays, read_dataset, survey, write_dataset
from multirater.io.formats.images import WRITABLE, read_image
from multirater.types import (
    MISSING,
    Case,
    Classes,
    Dataset,
    Geometry,
    Image,
    LabelClass,
    LabelMap,
    Source,
)

ODD = ["<script>alert(1)</script>", "../x", "a b", "Jörg 医", "ANNA", "anna", 'a"b', "a,b;c", "CON"]
COLOURS = Classes(
    (LabelClass("none", "#000000"), LabelClass("disc, outer", "#e66100"), LabelClass("cup"))
)


def made(ndim=2, *, missing=True, n_classes=3, dtype=np.uint8, n_channels=1, geometry=None):
    """Two cases, two raters; the second rater labelled the first case only."""
    rng = np.random.default_rng(ndim)
    space = (4, 5, 6)[-ndim:]
    grid = geometry or Geometry.default(ndim)

    def label():
        array = rng.integers(-1 if missing else 0, n_classes, space).astype(np.int16)
        array.flat[:2] = n_classes - 1, -1 if missing else 0
        return Source(lambda: LabelMap(array, grid))

    def image():
        array = (rng.random((n_channels, *space)) * 200).astype(dtype)
        return Source(lambda: Image(array, grid))

    cases = (
        Case("p1", image(), {"jo": label(), "kim": label()}, label(), "train", {"jo": '{"a": 1}'}),
        Case("p2", image(), {"jo": label()}, None, "test"),
        Case("p3", image()),
    )
    return Dataset(cases, ("jo", "kim"), "masks", replace(COLOURS, items=COLOURS.items[:n_classes]))


def assert_same(found, data, *, geometry=True):
    assert [case.name for case in found] == [case.name for case in data]
    assert found.raters == data.raters
    assert found.kind == data.kind
    assert found.classes.items == data.classes.items
    for one, two in zip(found, data, strict=True):
        assert (one.split, one.simulated) == (two.split, two.simulated)
        assert list(one.labels) == list(two.labels)
        pairs = [(one.read_label(rater), two.read_label(rater)) for rater in one.labels]
        pairs += [(one.read_truth(), two.read_truth())] if two.truth else []
        assert (one.truth is None) == (two.truth is None)
        for mine, theirs in pairs:
            assert np.array_equal(mine.array, theirs.array)
            assert not geometry or mine.geometry.is_close(theirs.geometry)
        image, original = one.read_image(), two.read_image()
        assert np.array_equal(image.array, original.array)
        assert image.array.dtype == original.array.dtype
        assert image.geometry.is_close(original.geometry)


def faults_of(*args, **options):
    with pytest.raises(InputError) as caught:
        write_dataset(*args, **options)
    return caught.value.faults


OBLIQUE = Geometry(
    (2.0, 0.5, 0.75),
    (7.0, -3.0, 1.5),
    ((0.0, 0.0, 1.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0)),
)
FLAT = Geometry((0.5, 0.75), (7.0, -3.0), ((0.0, 1.0), (-1.0, 0.0)))


@pytest.mark.parametrize("suffix", [None, *sorted(WRITABLE)])
@pytest.mark.parametrize("ndim", [2, 3])
def test_round_trip_in_every_format_with_unlabelled_pixels_and_geometry(tmp_path, suffix, ndim):
    if (suffix, ndim) == (".png", 3):
        (fault,) = faults_of(made(3), tmp_path / "out", suffix=suffix)
        assert "3-D" in fault.found
        assert (fault.case, fault.file) == ("p1", str(tmp_path / "out/images/p1.png"))
        return
    placed = None if suffix == ".npy" else (FLAT if ndim == 2 else OBLIQUE)
    data = made(ndim, geometry=placed)
    manifest = write_dataset(data, tmp_path / "out", suffix=suffix)
    assert manifest == tmp_path / "out/manifest.csv"
    found = read_dataset(tmp_path / "out")
    assert_same(found, data)
    survey(found)
    written = {path.name.partition(".")[2] for path in (tmp_path / "out/images").iterdir()}
    assert written == {(suffix or {2: ".png", 3: ".nii.gz"}[ndim])[1:]}


@pytest.mark.parametrize("suffix", ["nii.gz", ".NRRD", "npz"])
def test_suffixes_without_dot_or_in_capitals(tmp_path, suffix):
    write_dataset(made(), tmp_path / "out", suffix=suffix)
    assert_same(read_dataset(tmp_path / "out"), made())


@pytest.mark.parametrize("suffix", [".jpg", ".dcm", ".gif", ""])
def test_formats_that_cannot_be_written(tmp_path, suffix):
    (fault,) = faults_of(made(), tmp_path / "out", suffix=suffix)
    assert ".nii.gz" in fault.expected
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("dtype", "n_channels", "suffix"),
    [
        (np.uint8, 3, ".png"),
        (np.uint8, 4, ".png"),
        (np.uint16, 1, ".png"),
        (np.uint16, 3, ".nii.gz"),
        (np.float32, 1, ".nii.gz"),
        (np.int16, 1, ".nii.gz"),
        (np.uint8, 6, ".nii.gz"),
    ],
)
def test_images_in_memory_get_a_format_that_holds_them(tmp_path, dtype, n_channels, suffix):
    data = made(dtype=dtype, n_channels=n_channels)
    write_dataset(data, tmp_path / "out")
    assert (tmp_path / f"out/images/p1{suffix}").is_file()
    assert_same(read_dataset(tmp_path / "out"), data)


def test_a_second_round_trip_changes_nothing(tmp_path):
    write_dataset(made(3, geometry=OBLIQUE), tmp_path / "one", suffix=".mha")
    write_dataset(read_dataset(tmp_path / "one"), tmp_path / "two")
    one, two = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*.*")
        }
        for name in ("one", "two")
    )
    assert one == two


def test_sixteen_bit_colour_pngs_go_where_they_fit(tmp_path):
    import SimpleITK as sitk

    pixels = np.arange(60, dtype=np.uint16).reshape(4, 5, 3) * 1000
    (tmp_path / "images").mkdir()
    sitk.WriteImage(sitk.GetImageFromArray(pixels, isVector=True), tmp_path / "images/p1.png")
    write_dataset(read_dataset(tmp_path), tmp_path / "out")
    found = read_image(tmp_path / "out/images/p1.nii.gz")
    assert np.array_equal(np.moveaxis(found.array, 0, -1), pixels)


def test_black_and_white_images_become_numbers_where_a_format_has_no_bits(tmp_path):
    (tmp_path / "images").mkdir()
    mask = np.eye(3, dtype=bool)
    Pillow.fromarray(mask).save(tmp_path / "images/p1.png")
    write_dataset(read_dataset(tmp_path), tmp_path / "out", suffix="nii")
    assert np.array_equal(read_image(tmp_path / "out/images/p1.nii").array[0], mask)


def test_class_labels(tmp_path):
    data = dataset_from_arrays(
        np.array([[0, 2], [1, -1], [2, 2]]),
        raters=["jo", "kim"],
        truths=np.array([0, 1, MISSING]),
        images=np.arange(90, dtype=np.uint8).reshape(3, 5, 6),
        splits=["train", "train", "test"],
        classes=Classes((LabelClass("cat"), LabelClass("dog"), LabelClass("bird", "#0000ff"))),
    )
    write_dataset(data, tmp_path / "out")
    table = pd.read_csv(tmp_path / "out/manifest.csv")
    assert table["label"].tolist() == ["cat", "bird", "dog", "bird", "bird"]
    found = read_dataset(tmp_path / "out")
    known = replace(data, cases=(*data.cases[:2], replace(data[2], truth=None)))
    assert_same(found, known, geometry=False)


def test_one_class_label_for_all(tmp_path):
    (tmp_path / "manifest.csv").write_text("case,rater,label\na,jo,cat\nb,jo,cat\n")
    write_dataset(read_dataset(tmp_path), tmp_path / "out")
    assert read_dataset(tmp_path / "out").classes.names == ("cat",)


def test_odd_names_of_cases_raters_and_classes(tmp_path):
    labels = np.random.default_rng(0).integers(0, 2, (len(ODD), len(ODD), 3, 3))
    classes = Classes((LabelClass("<b>none</b>"), LabelClass("Läsion, 病変")))
    data = dataset_from_arrays(
        labels,
        images=np.zeros((len(ODD), 3, 3), np.uint8),
        truths=labels[:, 0],
        raters=ODD,
        cases=ODD,
        classes=classes,
    )
    write_dataset(data, tmp_path / "a/out")
    assert_same(read_dataset(tmp_path / "a/out"), data)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["out"]
    folders = [path.name.casefold() for path in (tmp_path / "a/out/raters").iterdir()]
    assert len(set(folders)) == len(ODD)


@pytest.mark.parametrize("name", ["", " anna", "anna\n", "\udcff"])
def test_names_that_a_table_cannot_hold_are_refused(tmp_path, name):
    case = Case("p1", labels={name: Source(lambda: None)})
    (fault,) = faults_of(Dataset((case,), (name,)), tmp_path / "out")
    assert fault.rater == name
    assert "rename" in fault.fix
    (fault,) = faults_of(Dataset((Case(name),), ()), tmp_path / "out")
    assert fault.case == name


def test_two_cases_of_one_name_are_refused(tmp_path):
    (fault,) = faults_of(Dataset((Case("p1"), Case("p1")), ()), tmp_path / "out")
    assert fault.found == "two cases are called p1"


def test_an_empty_data_set_is_refused(tmp_path):
    assert "empty" in faults_of(Dataset((), ()), tmp_path / "out")[0].found
    assert list(tmp_path.iterdir()) == []


def test_a_value_for_unlabelled_pixels_is_declared_only_where_a_file_needs_it(tmp_path):
    write_dataset(made(), tmp_path / "a")
    assert read_dataset(tmp_path / "a").classes.unlabelled == 255
    write_dataset(made(), tmp_path / "b", suffix=".tif")
    assert read_dataset(tmp_path / "b").classes.unlabelled is None
    write_dataset(made(missing=False), tmp_path / "c")
    assert read_dataset(tmp_path / "c").classes.unlabelled is None
    # So that a rater added later may use 255 for foreground.
    write_dataset(made(missing=False, n_classes=2), tmp_path / "d")
    Pillow.fromarray(np.full((5, 6), 255, np.uint8)).save(tmp_path / "d/raters/jo/p1.png")
    assert (read_dataset(tmp_path / "d")["p1"].read_label("jo").array == 1).all()


def test_more_classes_than_eight_bits_hold(tmp_path):
    array = np.array([[[[0, 299, 255, -1]]]])
    data = dataset_from_arrays(array, classes=Classes.numbered(300))
    write_dataset(data, tmp_path / "out")
    assert np.array_equal(read_dataset(tmp_path / "out")[0].read_labels().array, array[0])


def test_undeclared_classes_with_unlabelled_pixels_fit_a_png(tmp_path):
    write_dataset(replace(made(), classes=None), tmp_path / "a", suffix=".nii")
    assert not (tmp_path / "a/classes.csv").exists()
    write_dataset(read_dataset(tmp_path / "a"), tmp_path / "b", suffix=".png")
    found = read_dataset(tmp_path / "b")
    assert found.classes == Classes(Classes.numbered(3).items, 255)
    assert_same(found, replace(made(), classes=found.classes))


def test_values_and_colours_in_files_become_indices(tmp_path):
    (tmp_path / "raters/jo").mkdir(parents=True)
    Pillow.fromarray(np.array([[255, 128, 0]], np.uint8)).save(tmp_path / "raters/jo/p1.png")
    (tmp_path / "classes.csv").write_text("index,name,value\n0,none,255\n1,disc,128\n2,cup,0\n")
    write_dataset(read_dataset(tmp_path), tmp_path / "out")
    found = read_dataset(tmp_path / "out")
    assert found[0].read_label("jo").array.tolist() == [[0, 1, 2]]
    assert [item.value for item in found.classes.items] == [None, None, None]


def test_modalities_become_one_file_of_channels(tmp_path):
    (tmp_path / "images/p1").mkdir(parents=True)
    for name, value in (("flair", 3), ("t1", 7)):
        np.save(tmp_path / f"images/p1/{name}.npy", np.full((2, 9, 9), value, np.float32)[0])
    write_dataset(read_dataset(tmp_path), tmp_path / "out")
    assert read_dataset(tmp_path / "out")["p1"].read_image().array[:, 0, 0].tolist() == [3, 7]


def test_a_label_placed_by_its_image_leaves_a_format_without_places(tmp_path, dicom_slice):
    (tmp_path / "raters/jo").mkdir(parents=True)
    dicom_slice(tmp_path / "images/p1.dcm", np.zeros((3, 4), np.int16))
    np.save(tmp_path / "raters/jo/p1.npy", np.eye(3, 4, dtype=np.uint8))
    write_dataset(read_dataset(tmp_path), tmp_path / "out")
    label = read_dataset(tmp_path / "out")["p1"].read_label("jo")
    assert label.geometry.spacing == (0.5, 0.75)
    assert np.array_equal(label.array, np.eye(3, 4))


def test_nothing_is_overwritten_unasked(tmp_path):
    write_dataset(made(), tmp_path / "out")
    (fault,) = faults_of(made(3), tmp_path / "out")
    assert "already exists" in fault.found
    assert_same(read_dataset(tmp_path / "out"), made())
    write_dataset(made(3), tmp_path / "out", overwrite=True)
    assert_same(read_dataset(tmp_path / "out"), made(3))


def test_a_data_set_does_not_replace_itself(tmp_path):
    write_dataset(made(), tmp_path / "out")
    with pytest.raises(InputError, match="holds what is read"):
        write_dataset(read_dataset(tmp_path / "out"), tmp_path / "out", overwrite=True)
    assert_same(read_dataset(tmp_path / "out"), made())


def broken():
    raise InputError(Fault("is damaged"))


def test_all_faults_are_listed_and_nothing_is_written(tmp_path):
    write_dataset(made(), tmp_path / "out")
    small = Source(lambda: LabelMap(np.zeros((2, 2), np.int16), Geometry.default(2)))
    cases = list(made().cases)
    cases[0] = replace(cases[0], image=Source(broken, (Path("x.png"),)))
    cases[1] = replace(cases[1], labels={"jo": small}, truth=Source(broken))
    cases[2] = replace(cases[2], labels={"kim": Source(broken)})
    faults = faults_of(Dataset(tuple(cases), ("jo", "kim")), tmp_path / "out", overwrite=True)
    assert [(fault.case, fault.rater, fault.file) for fault in faults] == [
        ("p1", "", "x.png"),
        ("p2", "(truth)", ""),
        ("p2", "jo", ""),
        ("p3", "kim", ""),
    ]
    assert_same(read_dataset(tmp_path / "out"), made())
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("number", [0, 3, 8])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_a_full_disk_or_an_interruption_leaves_the_old_data_set(
    tmp_path, monkeypatch, number, error
):
    write_dataset(made(), tmp_path / "out")
    calls, fsync = [], os.fsync

    def fail(descriptor):
        calls.append(descriptor)
        if len(calls) > number:
            raise error
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    expected = InputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        write_dataset(made(3), tmp_path / "out", overwrite=True)
    monkeypatch.undo()
    if expected is InputError:
        (fault,) = caught.value.faults
        assert "full" in fault.found
        assert str(tmp_path / "out/") in fault.file
        assert fault.fix
    assert_same(read_dataset(tmp_path / "out"), made())
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_label_that_names_no_class_is_refused_with_case_and_rater(tmp_path):
    data = replace(made(), classes=Classes.numbered(2))
    (fault,) = faults_of(data, tmp_path / "out")
    assert "unknown class index 2" in fault.found
    assert fault.case == "p1"
    assert fault.rater == "(truth)"


def test_diagnoses_survive_writing(tmp_path):
    data = dataset_from_arrays(np.zeros((2, 1, 4, 4), dtype=int), diagnoses=["glaucoma", ""])
    write_dataset(data, tmp_path / "out")
    assert [case.diagnosis for case in read_dataset(tmp_path / "out")] == ["glaucoma", ""]


def test_patients_survive_writing(tmp_path):
    data = dataset_from_arrays(np.zeros((2, 1, 4, 4), dtype=int), patients=["anna", ""])
    write_dataset(data, tmp_path / "out")
    assert [case.patient for case in read_dataset(tmp_path / "out")] == ["anna", ""]
