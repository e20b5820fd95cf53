import io

import numpy as np
import pandas as pd
import pytest

from multirater.errors import InputError
from multirater.io import dataset_from_arrays, read_dataset, write_dataset
from multirater.io.tables.result_table import (
    named_rows,
    print_result_table,
    read_result_table,
    write_result_table,
)

ODD = ["=1+1", "NA", "01", "@anna", "-x", "anna"]


def test_odd_names_come_back_and_none_is_a_formula(tmp_path):
    index = pd.Index(ODD, name="rater")
    table = pd.DataFrame({"quality": [0.1, 0.2, None, 0.4, -0.5, 1.0]}, index=index)
    write_result_table(table, tmp_path / "raters.csv")
    lines = (tmp_path / "raters.csv").read_text().splitlines()
    assert not any(line.startswith(("=", "@", "-", "+")) for line in lines)
    found = read_result_table(tmp_path / "raters.csv").set_index("rater")
    pd.testing.assert_frame_equal(found, table)
    assert table.index.tolist() == ODD  # what was given is left as it was


def test_odd_names_of_a_data_set_come_back(tmp_path):
    labels = np.array([[[0, 1], [1, 0]]] * 2)
    data = dataset_from_arrays([labels, labels], raters=["=1+1", "@anna"], cases=["-a", "+b"])
    write_dataset(data, tmp_path / "data")
    text = (tmp_path / "data/manifest.csv").read_text()
    cells = [cell for line in text.splitlines() for cell in line.split(",")]
    assert not any(cell.startswith(("=", "@", "-", "+")) for cell in cells)
    again = read_dataset(tmp_path / "data")
    assert again.raters == ("=1+1", "@anna")
    assert [case.name for case in again] == ["-a", "+b"]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b'rater,a\n"x', b"", b"rater,a\nx,1,2,3\n"])
def test_a_damaged_table_ends_in_a_sentence(tmp_path, content):
    (tmp_path / "raters.csv").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as table of results"):
        read_result_table(tmp_path / "raters.csv")


def test_a_class_may_be_called_as_the_first_column_is(tmp_path):
    table = pd.DataFrame([[0.5, 0.5], [1.0, 0.0]], columns=["case", "control"])
    table.index = pd.Index(["01", "b"], name="case")
    write_result_table(table, tmp_path / "cases.csv")
    found = named_rows(read_result_table(tmp_path / "cases.csv", key="case"), "case")
    pd.testing.assert_frame_equal(found, table)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_is_not_steered_and_a_pipe_gets_what_is_there():
    table = pd.DataFrame({"\x1b[31mred": ["a\x1b[2Jb", "c"]}, index=pd.Index(["x", "\x9by"]))
    shown, piped = Terminal(), io.StringIO()
    print_result_table(table, shown)
    print_result_table(table, piped)
    assert not {"\x1b", "\x9b"} & set(shown.getvalue())
    assert shown.getvalue().count("\n") == piped.getvalue().count("\n") == 3
    assert "\x1b[31mred" in piped.getvalue()
