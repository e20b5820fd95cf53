"""Exports of CVAT as masks and class labels."""

import zipfile

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import read_dataset
from multirater.io.importers.study import import_study

LABELS = "<labels><label><name>vessel</name></label><label><name>lesion</name></label></labels>"
MASK = '<mask label="lesion" rle="1, 2, 1" left="4" top="5" width="2" height="2" z_order="0"/>'
BOX = '<box label="vessel" xtl="2" ytl="2" xbr="10" ybr="8" z_order="1"/>'
TURNED = '<box label="vessel" xtl="2" ytl="4" xbr="10" ybr="8" rotation="90"/>'


def image(number, name, *drawn):
    return f'<image id="{number}" name="{name}" width="32" height="24">{"".join(drawn)}</image>'


def write(path, *images, meta=f"<task>{LABELS}</task>", version="1.1"):
    path.parent.mkdir(exist_ok=True)
    inside = f"<version>{version}</version><meta>{meta}</meta>{''.join(images)}"
    path.write_text(f"<annotations>{inside}</annotations>")
    return path


@pytest.fixture
def run(tmp_path, photos):
    def imported(*files, names=("ear.png", "eye.png"), **options):
        photos(tmp_path / "photos", *names)
        study = tmp_path / "study"
        import_study("cvat", files, study, images=tmp_path / "photos", **options)
        return study

    return imported


def test_jobs_and_copies_are_raters(tmp_path, run, read_labels):
    anna = write(tmp_path / "anna" / "annotations.xml", image(0, "sub/ear.png", BOX, MASK))
    bert = write(tmp_path / "bert.xml", image(0, "ear.png", TURNED))
    with zipfile.ZipFile(tmp_path / "cleo.zip", "w") as archive:
        archive.write(bert, "annotations.xml")
    study = run(anna, bert, tmp_path / "cleo.zip")
    labels = read_labels(study)
    assert read_dataset(study).classes.names == ("background", "vessel", "lesion")
    expected = np.zeros((24, 32), dtype=int)
    expected[5, 5] = expected[6, 4] = 2
    expected[2:8, 2:10] = 1  # its z_order is higher
    np.testing.assert_array_equal(labels["ear", "anna"], expected)
    turned = np.zeros((24, 32), dtype=int)
    turned[2:10, 4:8] = 1
    np.testing.assert_array_equal(labels["ear", "bert"], turned)
    np.testing.assert_array_equal(labels["ear", "cleo"], turned)


def test_an_image_without_areas_must_be_explained(tmp_path, run, read_labels):
    anna = write(tmp_path / "anna.xml", image(0, "ear.png", BOX), image(3, "eye.png"))
    with pytest.raises(InputError, match=r"eye \(image 3\), rater anna: nothing is marked"):
        run(anna)
    assert not read_labels(run(anna, unseen="empty"))["eye", "anna"].any()


def test_video(tmp_path, run, read_labels):
    shape = '<polygon frame="{}" outside="{}" keyframe="1" points="2,2;10,2;10,8;2,8" z_order="0"/>'
    drawn = "".join(shape.format(frame, outside) for frame, outside in ((0, 0), (1, 0), (2, 1)))
    track = f'<track id="4" label="lesion">{drawn}</track>'
    size = "<original_size><width>32</width><height>24</height></original_size>"
    meta = f"<task><size>3</size>{LABELS}{size}</task>"
    anna = write(tmp_path / "anna.xml", track, meta=meta)
    names = [f"frame_00000{number}.png" for number in range(3)]
    labels = read_labels(run(anna, names=names, unseen="empty"))
    assert [int((label == 2).sum()) for label in labels.values()] == [48, 48, 0]


def test_tags_are_class_labels(tmp_path, run):
    anna = write(tmp_path / "anna.xml", image(0, "ear.png", '<tag label="sick"/>'))
    bert = write(
        tmp_path / "bert.xml", image(0, "ear.png", '<tag label="well"/>'), image(1, "eye.png")
    )
    data = read_dataset(run(anna, bert))
    assert data.classes.names == ("sick", "well")
    assert data["ear"].read_labels(["anna", "bert"]).array.tolist() == [0, 1]
    assert not data["eye"].labels


@pytest.mark.parametrize(
    ("element", "told"),
    [
        (MASK.replace("1, 2, 1", "1, 2"), "mask of lesion: has an RLE of 3 pixels"),
        (MASK.replace('label="lesion"', 'label="drusen"'), "a mask is of class 'drusen'"),
        (MASK.replace('left="4"', 'left="31"'), "mask of lesion: has a box at 31"),
        (BOX.replace('xtl="2"', 'xtl="?"'), "box of vessel has xtl"),
    ],
)
def test_broken_elements_are_named(tmp_path, run, element, told):
    anna = write(tmp_path / "anna.xml", image(7, "ear.png", element))
    with pytest.raises(InputError, match=told) as caught:
        run(anna)
    assert "(image 7), rater anna" in str(caught.value)
    assert not (tmp_path / "study").exists()


def test_another_size_and_another_version(tmp_path, run):
    small = image(7, "ear.png", BOX).replace('width="32"', 'width="30"')
    with pytest.raises(InputError, match="drawn on an image of 30 x 24"):
        run(write(tmp_path / "anna.xml", small))
    with pytest.raises(InputError, match=r"version 2\.0"):
        run(write(tmp_path / "anna.xml", image(7, "ear.png", BOX), version="2.0"))


def zipped(path, content, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("annotations.xml", content, **options)
    return path


def test_a_zip_that_unpacks_to_far_more_is_refused(tmp_path, run, monkeypatch):
    monkeypatch.setattr("multirater.io.formats.claims._SMALL", 2**20)
    bomb = zipped(tmp_path / "anna.zip", "<annotations>" + " " * 10**7)
    with pytest.raises(InputError, match="claims to hold"):
        run(bomb)


def test_a_zip_that_is_unpacked_without_a_bound_is_refused(tmp_path, run):
    with zipfile.ZipFile(tmp_path / "anna.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("annotations.xml", "<annotations/>")
    with pytest.raises(InputError, match="packed by neither"):
        run(tmp_path / "anna.zip")


@pytest.mark.parametrize("place", [40, 60, 120])
def test_a_damaged_zip_is_refused_in_a_sentence(tmp_path, run, place):
    file = zipped(tmp_path / "anna.zip", f"<annotations>{image(0, 'ear.png', BOX) * 20}")
    content = bytearray(file.read_bytes())
    content[place : place + 8] = bytes(each ^ 0xFF for each in content[place : place + 8])
    file.write_bytes(content)
    with pytest.raises(InputError, match="is damaged"):
        run(file)


def test_entities_that_grow_are_refused(tmp_path, run):
    grown = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    text = f'<!DOCTYPE x [<!ENTITY a0 "{"x" * 100}">{grown}]><annotations>&a9;</annotations>'
    (tmp_path / "anna.xml").write_text(text)
    with pytest.raises(InputError, match="is damaged"):
        run(tmp_path / "anna.xml")
