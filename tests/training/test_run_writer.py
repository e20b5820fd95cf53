"""What a run may take away from a folder: its own beginnings, and nothing else."""

import pytest

from multirater.errors import InputError
from multirater.progress import show_progress
from multirater.training.run_writer import begin, leave, require_new, run_writer


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_files_of_others_stay_whatever_they_are_called(tmp_path):
    """A fusion has an origin.json, a study of the user's own may have a folder of checkpoints."""
    (tmp_path / "checkpoints").mkdir()
    for name in ("origin.json", "plan.json", "data.json", "backbone.pt", "checkpoints/a.txt"):
        (tmp_path / name).write_text("mine")
    before = names(tmp_path)
    with pytest.raises(InputError, match="already exists"):
        require_new(tmp_path)
    assert names(tmp_path) == before


def test_the_beginnings_of_a_killed_run_are_removed(tmp_path):
    begin(tmp_path / "run")
    (tmp_path / "run/origin.json").write_text("{}")
    (tmp_path / "run/decoded").mkdir()
    require_new(tmp_path / "run")
    assert names(tmp_path) == []


def test_notes_beside_the_beginnings_stay(tmp_path):
    begin(tmp_path / "run")
    (tmp_path / "run/config.json").write_text("{}")
    (tmp_path / "run/notes.txt").write_text("mine")
    leave(tmp_path / "run")
    assert names(tmp_path / "run") == ["notes.txt"]


def test_a_run_whose_weights_are_lost_is_no_run_and_another_goes_on(tmp_path):
    for name in ("lost", "stopped"):
        begin(tmp_path / name)
        (tmp_path / name / "checkpoints").mkdir()
        (tmp_path / name / "checkpoints/last.ckpt").write_text("weights")
    leave(tmp_path / "lost", is_lost=True)
    leave(tmp_path / "stopped")
    assert not (tmp_path / "lost").exists()
    assert (tmp_path / "stopped/checkpoints/last.ckpt").exists()


def test_a_quiet_command_says_how_to_go_on(tmp_path, capsys):
    begin(tmp_path / "run")
    (tmp_path / "run/best.ckpt").write_text("weights")
    show_progress(False)
    leave(tmp_path / "run")
    assert "--resume" in capsys.readouterr().err


def learned(folder):
    begin(folder)
    (folder / "config.json").write_text("{}")
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints/best.ckpt").write_text("weights")
    return folder


def test_another_run_that_a_link_leads_to_stays(tmp_path):
    mine = learned(tmp_path / "mine")
    before = names(mine)
    begin(tmp_path / "stranger")
    for name in ("fold-1", "fold-2"):
        (tmp_path / "stranger" / name).symlink_to(mine)
    (tmp_path / "stranger/fold-notes/checkpoints").mkdir(parents=True)
    with pytest.raises(InputError, match="already exists"):
        require_new(tmp_path / "stranger")
    assert names(mine) == before
    assert (tmp_path / "stranger/fold-notes/checkpoints").is_dir()


def test_finished_folds_stay_where_one_is_lost(tmp_path, capsys):
    begin(tmp_path / "run")
    learned(tmp_path / "run/fold-1")
    begin(tmp_path / "run/fold-2")
    before = names(tmp_path / "run")
    leave(tmp_path / "run", is_lost=True)
    assert names(tmp_path / "run") == before


def test_temporary_files_in_a_folder_that_is_no_run_stay(tmp_path):
    """A run may be written in a folder below, which somebody named by mistake."""
    other = tmp_path / "results/run/.0123456789ab.part.json"
    other.parent.mkdir(parents=True)
    other.write_text("{}")
    with run_writer(tmp_path / "results"):
        pass
    assert other.exists()
