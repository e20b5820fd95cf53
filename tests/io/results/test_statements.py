import pytest

from multirater.errors import InputError
from multirater.io.results.layout import CURVES, RATERS, TRUST
from multirater.io.results.statements import (
    read_curves,
    read_json,
    read_rater_table,
    read_trust,
    write_trust,
)
from multirater.trust import Finding, Trust


def test_a_trust_statement_is_read_as_it_was_written(tmp_path):
    assert read_trust(tmp_path) is None
    trust = Trust("Careful.", (Finding("caution", "few", "few", {"n": 2.0}, raters=("anna",)),))
    write_trust(tmp_path, trust)
    assert read_trust(tmp_path) == trust


@pytest.mark.parametrize(("content", "message"), [("{", "is no JSON"), ("[1]", "no JSON object")])
def test_damaged_files_are_named(tmp_path, content, message):
    (tmp_path / TRUST).write_text(content)
    with pytest.raises(InputError, match=message) as raised:
        read_json(tmp_path / TRUST)
    assert TRUST in str(raised.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("who,quality\nanna,0.9\n", "it has no column rater"),
        ("rater,quality\n,0.9\n", "a line has no rater"),
        ("rater,quality\nanna,0.9\nanna,0.8\n", "rater anna is there twice"),
        ("rater,quality\nanna,high\n", "column quality holds something else than numbers"),
        ('rater,"cm[a,b]"\nanna,0.1x\n', "holds something else than numbers"),
    ],
)
def test_damaged_tables_of_raters_are_not_left_out(tmp_path, content, message):
    assert read_rater_table(tmp_path) is None
    (tmp_path / RATERS).write_text(content)
    with pytest.raises(InputError, match=message) as raised:
        read_rater_table(tmp_path)
    assert RATERS in str(raised.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("train_nll\n0.1\n", "it has no column epoch"),
        ("epoch,train_nll\n0,x\n", "column train_nll holds something else than numbers"),
        ("epoch,train_nll\nnan,1\n", "an epoch has no number"),
    ],
)
def test_damaged_curves_are_not_left_out(tmp_path, content, message):
    assert read_curves(tmp_path).empty
    (tmp_path / CURVES).write_text(content)
    with pytest.raises(InputError, match=message):
        read_curves(tmp_path)


def test_curves_may_have_figures_that_were_not_measured(tmp_path):
    (tmp_path / CURVES).write_text("epoch,train_nll,val_nll\n0,nan,\n1,0.5,\n")
    assert read_curves(tmp_path)["train_nll"].tolist()[1] == 0.5
