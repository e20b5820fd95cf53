import csv

import numpy as np
import pytest

from multirater import progress
from multirater.errors import InputError, MultiraterWarning
from multirater.io import read_dataset, survey
from multirater.io.importers.lidc import import_lidc

HEIGHTS = [10.0, 12.0, 14.0, 16.0, 18.0, 20.0]


@pytest.fixture
def low(block):
    """The lowest nodule, of four readers: 25, 49, 49 and 81 pixels on two slices."""
    return [block(20, 18, half, [12.0, 14.0]) for half in (3, 4, 4, 5)]


@pytest.fixture
def middle(block):
    """A nodule of two readers."""
    return [block(34, 30, 3, [16.0]), block(34, 31, 3, [16.0])]


@pytest.fixture
def high(block):
    """The highest nodule, of one reader."""
    return [block(10, 10, 2, [20.0])]


@pytest.fixture
def database(database_maker, low, middle, high):
    drawings = [*low, *middle, *high]
    return database_maker.add_scan(drawings, patient="LIDC-IDRI-0001", heights=HEIGHTS).path


@pytest.fixture
def xml(tmp_path, xml_text, low, middle, high):
    """The same, with a nodule below 3 mm, of which only a point is marked."""
    sessions = [
        [low[0], high[0]],
        [low[1], middle[0]],
        [low[2]],
        [[(18.0, True, [(40, 40)])], low[3], middle[1]],
    ]
    folder = tmp_path / "xml" / "157"
    folder.mkdir(parents=True)
    (folder / "158.xml").write_text(xml_text(sessions), encoding="utf-8")
    return folder.parent


@pytest.fixture
def ct(tmp_path, dicom_series, rng):
    volume = rng.integers(0, 2000, (6, 40, 50)).astype(np.uint16)
    dicom_series(tmp_path / "ct" / "P" / "S", volume, RescaleSlope=1, RescaleIntercept=-1024)
    return tmp_path / "ct"


def table(folder):
    with (folder / "nodules.csv").open(newline="") as stream:
        return {row["case"]: row for row in csv.DictReader(stream)}


def test_one_case_per_nodule_one_mask_per_reader(database, tmp_path):
    manifest = import_lidc(database, tmp_path / "data")
    assert manifest == tmp_path / "data" / "manifest.csv"
    data = read_dataset(manifest)
    assert [(case.name, tuple(case.labels)) for case in data] == [
        ("LIDC-IDRI-0001-nodule-1", ("reader 1", "reader 2", "reader 3", "reader 4")),
        ("LIDC-IDRI-0001-nodule-2", ("reader 1", "reader 2")),
    ]
    assert data.classes.names == ("background", "nodule")
    labels = data[0].read_labels()
    assert labels.array.sum(axis=(1, 2, 3)).tolist() == [2 * 25, 2 * 49, 2 * 49, 2 * 81]
    assert np.allclose(labels.geometry.spacing, (2.0, 0.5, 0.5))
    assert data[0].image is None
    survey(data)


def test_the_table_of_nodules_says_where_cases_come_from(database, tmp_path):
    import_lidc(database, tmp_path / "data")
    assert table(tmp_path / "data")["LIDC-IDRI-0001-nodule-2"] == {
        "case": "LIDC-IDRI-0001-nodule-2",
        "series": "1.2.3.4",
        "readers": "2",
        "spacing": "database",
    }


@pytest.mark.parametrize(
    ("readers", "expected"), [((4, 4), [1]), ((2, 2), [2]), ((1, 1), [3]), ((1, 4), [1, 2, 3])]
)
def test_the_number_of_readers_chooses_nodules_and_leaves_their_names(
    database, tmp_path, readers, expected
):
    data = read_dataset(import_lidc(database, tmp_path / "data", readers=readers))
    assert [case.name for case in data] == [f"LIDC-IDRI-0001-nodule-{i}" for i in expected]


@pytest.mark.parametrize("readers", [(0, 4), (3, 2), (2, 5)])
def test_an_impossible_number_of_readers_is_refused(database, tmp_path, readers):
    with pytest.raises(InputError, match="from 1 to 4"):
        import_lidc(database, tmp_path / "data", readers=readers)


@pytest.mark.parametrize("margin_mm", [-1.0, float("nan"), float("inf")])
def test_an_impossible_margin_is_refused(database, tmp_path, margin_mm):
    with pytest.raises(InputError, match="margin"):
        import_lidc(database, tmp_path / "data", margin_mm=margin_mm)


def test_no_nodule_with_so_many_readers(database, tmp_path):
    with pytest.raises(InputError, match="no nodule has 3 readers"):
        import_lidc(database, tmp_path / "data", readers=(3, 3))
    assert not (tmp_path / "data").exists()


def test_more_drawings_than_readers_are_left_out_and_said(
    database_maker, low, middle, tmp_path, capsys
):
    database_maker.add_scan([*[low[0]] * 5, *[middle[0]] * 2], heights=HEIGHTS)
    progress.show_progress(True)
    try:
        data = read_dataset(import_lidc(database_maker.path, tmp_path / "data"))
    finally:
        progress.show_progress(False)
    assert len(data) == 1
    said = capsys.readouterr().err
    assert "1 of 2 nodules have 2 to 4 readers" in said
    assert "1 groups of more than 4 touching drawings are left out" in said


def test_xml_gives_the_same_masks_and_says_that_the_spacing_is_unknown(database, xml, tmp_path):
    one = read_dataset(import_lidc(database, tmp_path / "one", margin_mm=0))
    with pytest.warns(MultiraterWarning, match="pixel spacing of 2 nodules is unknown"):
        other = read_dataset(import_lidc(xml, tmp_path / "other", margin_mm=0))
    assert [case.name for case in other] == ["158-nodule-1", "158-nodule-2"]
    for a, b in zip(one, other, strict=True):
        assert (a.read_labels().array == b.read_labels().array).all()
    # The file knows whose drawings these are; the database does not.
    assert tuple(other[1].labels) == ("reader 2", "reader 4")
    assert np.allclose(other[0].read_labels().geometry.spacing, (2.0, 1.0, 1.0))
    assert table(tmp_path / "other")["158-nodule-1"]["spacing"].endswith("unknown")


@pytest.mark.parametrize("source", ["database", "xml"])
def test_the_ct_series_becomes_the_image(request, source, ct, tmp_path):
    manifest = import_lidc(request.getfixturevalue(source), tmp_path / "data", ct=ct, margin_mm=2)
    case = read_dataset(manifest)[0]
    image, labels = case.read_image(), case.read_labels()
    assert image.space == labels.array.shape[1:]
    assert image.array.min() < 0
    assert image.geometry.is_close(labels.geometry)
    assert np.allclose(image.geometry.spacing, (2.0, 0.5, 0.75))
    assert labels.array.sum(axis=(1, 2, 3)).tolist() == [2 * 25, 2 * 49, 2 * 49, 2 * 81]
    assert table(tmp_path / "data")[case.name]["spacing"] == "CT"
    survey(read_dataset(manifest))


def test_nodules_without_their_series_have_no_image(database_maker, low, tmp_path, ct, capsys):
    database_maker.add_scan(low, patient="A", heights=HEIGHTS)
    database_maker.add_scan(low, patient="B", heights=HEIGHTS, series="1.2.3.99")
    progress.show_progress(True)
    try:
        data = read_dataset(import_lidc(database_maker.path, tmp_path / "data", ct=ct))
    finally:
        progress.show_progress(False)
    assert [case.image is not None for case in data] == [True, False]
    assert "1 of 2 nodules have no image" in capsys.readouterr().err


def test_a_series_that_cannot_be_used_is_told_and_the_masks_are_kept(database, ct, tmp_path):
    next(file for file in (ct / "P" / "S").iterdir() if file.stem == "im004").unlink()
    with pytest.warns(MultiraterWarning, match=r"1 nodules have no image.*nodule-1") as caught:
        data = read_dataset(import_lidc(database, tmp_path / "data", ct=ct, margin_mm=2))
    assert "4 mm apart" in str(caught[0].message)
    assert [case.image is not None for case in data] == [False, True]
    assert data[0].read_labels().array.sum() == 2 * (25 + 49 + 49 + 81)


def test_several_processes_write_the_same(database_maker, low, middle, tmp_path):
    for patient in "ABCDE":
        database_maker.add_scan([*low, *middle], patient=patient, heights=HEIGHTS)
    one = import_lidc(database_maker.path, tmp_path / "one").parent
    two = import_lidc(database_maker.path, tmp_path / "two", workers=2).parent
    files = sorted(file.relative_to(one) for file in one.rglob("*") if file.is_file())
    assert len(files) == 5 * 6 + 4
    assert files == sorted(file.relative_to(two) for file in two.rglob("*") if file.is_file())
    for a, b in zip(read_dataset(one), read_dataset(two), strict=True):
        assert (a.read_labels().array == b.read_labels().array).all()
    for name in ("manifest.csv", "nodules.csv", "classes.csv"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_an_earlier_import_is_replaced_only_when_asked(database, tmp_path):
    import_lidc(database, tmp_path / "data")
    with pytest.raises(InputError, match="already exists"):
        import_lidc(database, tmp_path / "data", readers=(4, 4))
    import_lidc(database, tmp_path / "data", readers=(4, 4), overwrite=True)
    assert len(read_dataset(tmp_path / "data")) == 1


def test_a_source_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.sqlite: does not exist"):
        import_lidc(tmp_path / "nowhere.sqlite", tmp_path / "data")


def test_a_damaged_xml_file_leaves_nothing_behind(xml, tmp_path):
    (xml / "bad.xml").write_text("<LidcReadMessage>")
    with pytest.raises(InputError, match=r"bad\.xml"):
        import_lidc(xml, tmp_path / "out" / "data")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_reader_who_drew_in_parts_is_one_rater(xml_text, square, tmp_path):
    parts = [[(0.0, True, square(20, 20, 3))], [(0.0, True, square(26, 20, 3))]]
    whole = [(0.0, True, square(23, 20, 6)), (3.0, True, square(23, 20, 6))]
    path = tmp_path / "7.xml"
    path.write_text(xml_text([parts, [whole]]), encoding="utf-8")
    with pytest.warns(MultiraterWarning):
        (case,) = read_dataset(import_lidc(path, tmp_path / "data"))
    assert tuple(case.labels) == ("reader 1", "reader 2")
    assert case.read_labels().array.sum(axis=(1, 2, 3)).tolist() == [2 * 25, 2 * 121]
