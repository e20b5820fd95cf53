import numpy as np
import pandas as pd
import pytest

from multirater import read_dataset
from multirater.errors import InputError
from multirater.io.tables import parquet_table
from multirater.io.tables.parquet_table import read_cells


def test_a_table_of_answers_is_a_data_set(tmp_path):
    frame = pd.DataFrame({"Task": [1, 1, 2], "worker": list("aba"), "answer": ["NA", "no", " no "]})
    frame.to_parquet(tmp_path / "answers.parquet")
    data = read_dataset(tmp_path / "answers.parquet")
    assert data.raters == ("a", "b")
    assert data.classes.names == ("NA", "no")
    assert [case.name for case in data] == ["1", "2"]


def test_cells_are_texts(tmp_path):
    columns = {
        "whole": pd.Series([1, 2], dtype="uint64"),
        "gap": [1.0, np.nan],
        "flag": [True, False],
        "category": pd.Categorical(["x", None]),
    }
    pd.DataFrame(columns).to_parquet(tmp_path / "t.parquet")
    names, rows = read_cells(tmp_path / "t.parquet")
    assert names == list(columns)
    assert rows == [["1", "1", "true", "x"], ["2", "", "false", ""]]


def test_what_is_no_text_is_refused(tmp_path):
    pd.DataFrame({"label": [[1], [2]]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="column label holds list"):
        read_cells(tmp_path / "t.parquet")


def test_a_table_too_long_to_read_whole_is_refused(tmp_path, monkeypatch):
    pd.DataFrame({"label": [1, 2, 3]}).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(parquet_table, "MOST_ROWS", 2)
    with pytest.raises(InputError, match=r"3 rows\n.*at most 2.*\n.*multirater fuse"):
        read_cells(tmp_path / "t.parquet")


def test_row_groups_that_claim_more_than_memory_are_refused(tmp_path, monkeypatch):
    pd.DataFrame({"label": [1, 2, 3]}).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(parquet_table, "free_memory", lambda: 10)
    with pytest.raises(InputError, match="more than is free"):
        read_cells(tmp_path / "t.parquet")


def test_no_parquet_is_said(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"task,worker,label\n")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_cells(tmp_path / "t.parquet")
