import pytest
from hypothesis import given
from hypothesis import strategies as st

from multirater.io.tables.spreadsheet import meant, shown


@pytest.mark.parametrize("cell", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "\t=1", "-"])
def test_what_begins_like_a_formula_is_text(cell):
    assert shown(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["anna", "-1", "+0.5", "1e-3", "-inf", "", "a=b", "'quoted'"])
def test_names_and_numbers_stay(cell):
    assert shown(cell) == cell


@given(st.text())
def test_what_was_meant_comes_back(cell):
    assert meant(shown(cell)) == cell
