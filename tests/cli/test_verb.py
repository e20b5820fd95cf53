import pytest
from typer.testing import CliRunner

from multirater import progress
from multirater.cli.app import app


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fuse", "DATA", "-o", "OUT", "--method", "staple", "--prior", "nan"), "prior"),
        (("fuse", "DATA", "-o", "OUT", "--method", "spatial-staple", "--window", "nan"), "window"),
        (("agreement", "DATA", "--level", "nan"), "--level nan"),
        (("simulate", "DATA", "-o", "OUT", "--raters", "over:inf"), "strength"),
        (("simulate", "DATA", "-o", "OUT", "--seed", "-1"), "--seed"),
        (("train", "DATA", "-o", "OUT", "--seed", "-1"), "--seed"),
        (("train", "DATA", "-o", "OUT", "--learning-rate", "nan"), "--learning-rate nan"),
        (("train", "DATA", "-o", "OUT", "--patch", "0,0"), "patch = 0,0"),
        (("train", "DATA", "-o", "OUT", "--channels", "0,8"), "channels = 0,8"),
        (("train", "DATA", "-o", "OUT", "--precision", "17"), "precision = 17"),
        (("train", "DATA", "-o", "OUT", "--accelerator", "gpu", "--devices", "99"), "gpu asked"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_ends_in_a_sentence_and_leaves_nothing(digits_folder, tmp_path, words, said):
    places = {"DATA": str(digits_folder), "OUT": str(tmp_path / "out")}
    try:
        result = CliRunner().invoke(app, [places.get(word, word) for word in words])
    finally:
        progress.show_progress(False)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert not (tmp_path / "out").exists()


def test_too_little_memory_is_a_sentence(digits_folder, monkeypatch):
    def full(*_, **__):
        raise MemoryError("Unable to allocate 9.3 TiB")

    monkeypatch.setattr("multirater.verbs.info.survey", full)
    try:
        result = CliRunner().invoke(app, ["info", str(digits_folder), "-q"])
    finally:
        progress.show_progress(False)
    assert result.exit_code == 2
    assert "error: there is not enough memory: Unable to allocate 9.3 TiB" in result.output
