"""Tables as people save them."""

import pytest

from multirater.errors import InputError
from multirater.io.tables.csv_table import read_table


def read(path, text, encoding="utf-8", **options):
    path.write_bytes(text.encode(encoding))
    faults = []
    header, lines = read_table(path, faults, expected="a,b", **options)
    assert not faults
    return header, lines


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.csv"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_separators_line_ends_and_byte_order_marks(path, separator, end, encoding):
    text = end.join([f"A{separator}B", f"1{separator}ö", ""])
    assert read(path, text, encoding) == (["a", "b"], [["1", "ö"]])


def test_blank_lines_and_spaces_and_lines_that_end_early(path):
    text = "\n  \n a , b,c \n\n1, 2\n,,\n   \n3,,\n\n\n"
    assert read(path, text) == (["a", "b", "c"], [["1", "2", ""], ["3", "", ""]])


def test_quoted_cells_hold_separators_quotes_and_line_ends(path):
    text = 'a,b\n"x,y", "say ""no"""\n"two\r\nlines",2\n'
    assert read(path, text)[1] == [["x,y", 'say "no"'], ["two\r\nlines", "2"]]


def test_unusual_line_separators_inside_a_cell_do_not_cut_the_line(path):
    assert read(path, "a,b\nx\u2028y,z\x85z\n")[1] == [["x\u2028y", "z\x85z"]]


def test_other_names_of_columns(path):
    header, _ = read(path, "Worker,b\n1,2\n", aliases={"worker": "rater"})
    assert header == ["rater", "b"]


def test_trailing_separators_are_no_cells(path):
    assert read(path, "a,b\n1,2,,\n")[1] == [["1", "2"]]


def test_lines_with_too_many_cells_are_faults_and_the_others_are_read(path):
    path.write_text("a,b\n1,2\n3,4,5\n6,7\n8,9,10\n")
    faults = []
    assert read_table(path, faults, expected="a,b")[1] == [["1", "2"], ["6", "7"]]
    assert [fault.found.split(":")[0] for fault in faults] == [
        "line 3 has 3 cells",
        "line 5 has 3 cells",
    ]
    assert all(fault.file == str(path) and "quote" in fault.fix for fault in faults)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf\r\n \r\n", "is empty"),
        ("a,b\nJörg,1\n".encode("latin-1"), "is not UTF-8 text"),
        (b'a,b\n"never closed,1\n2,3\n', "cannot be read as a table: line 3"),
        (b"a,b,A\n1,2,3\n", "has two columns a"),
    ],
)
def test_files_that_are_no_tables(path, content, message):
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_table(path, [], expected="a,b")
    assert caught.value.faults[0].file == str(path)


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_table(tmp_path, [], expected="a,b")
