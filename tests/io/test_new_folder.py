"""A folder appears whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from multirater.errors import Fault, InputError
from multirater.io import new_folder as module
from multirater.io.atomic import replacing
from multirater.io.new_folder import new_folder, part_of
from multirater.io.own_files import FILE_NAME, begin_own_files, write_own_files


def contents(folder):
    """Map every file below a folder, hidden ones too, to its content."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != FILE_NAME
    }


def write(folder, text="new"):
    (folder / "manifest.csv").write_text(text)
    (folder / "images").mkdir()
    (folder / "images/a.png").write_text(text)


def replace_and_raise(target, error):
    with new_folder(target, overwrite=True) as temporary:
        write(temporary)
        if error is not None:
            raise error


@pytest.fixture
def old(tmp_path):
    """A data set that is there already."""
    target = tmp_path / "data"
    target.mkdir()
    write(target, "old")
    write_own_files(target)
    return target


OLD = {"data/manifest.csv": "old", "data/images/a.png": "old"}
NEW = {"data/manifest.csv": "new", "data/images/a.png": "new"}


def test_the_folder_appears_at_the_end(tmp_path):
    target = tmp_path / "deep/down/data"
    with new_folder(target) as temporary:
        write(temporary)
        assert not target.exists()
        assert temporary.parent == target.parent
    assert contents(tmp_path / "deep/down") == NEW


def test_an_empty_folder_is_filled_and_rights_are_the_usual(tmp_path):
    (tmp_path / "data").mkdir()
    with new_folder(tmp_path / "data") as temporary:
        write(temporary)
    assert contents(tmp_path) == NEW
    (tmp_path / "usual").mkdir()
    assert (tmp_path / "data").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_relative_targets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with new_folder("data") as temporary:
        write(temporary)
    assert contents(tmp_path) == NEW


def test_nothing_is_overwritten_unasked(old):
    with pytest.raises(InputError, match="already exists") as caught, new_folder(old):
        raise AssertionError("the block must not run")
    assert caught.value.faults[0].file == str(old)
    assert contents(old.parent) == OLD


def test_a_data_set_is_replaced_when_asked(old):
    (old / ".DS_Store").touch()
    with new_folder(old, overwrite=True) as temporary:
        write(temporary)
        assert (old / "manifest.csv").read_text() == "old"
    assert contents(old.parent) == NEW


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("notes.txt", "holds more than this program wrote"),
        ("images/b.png", "holds more than this program wrote"),
        (".git", "holds more than this program wrote"),
        (FILE_NAME, "was not written by this program"),
    ],
)
def test_what_this_program_did_not_write_is_never_replaced(old, name, message):
    if name == FILE_NAME:
        (old / name).unlink()
    else:
        (old / name).write_text("mine")
    before = contents(old.parent)
    with pytest.raises(InputError, match=message), new_folder(old, overwrite=True):
        raise AssertionError("the block must not run")
    assert contents(old.parent) == before


def test_a_file_is_never_replaced(tmp_path):
    (tmp_path / "data").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(InputError), new_folder(tmp_path / "data", overwrite=overwrite):
            raise AssertionError("the block must not run")
    assert contents(tmp_path) == {"data": "mine"}


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_interruption_leaves_the_old_and_nothing_else(old, error):
    with pytest.raises(error):
        replace_and_raise(old, error)
    assert contents(old.parent) == OLD
    assert [path.name for path in old.parent.iterdir()] == ["data"]


def test_a_full_disk_is_told_and_leaves_the_old(old):
    with pytest.raises(InputError, match="No space left on device") as caught:
        replace_and_raise(old, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert caught.value.faults[0].file == str(old)
    assert caught.value.faults[0].fix
    assert contents(old.parent) == OLD


@pytest.mark.parametrize("failing", [1, 2])
def test_a_move_that_fails_brings_the_old_back(old, monkeypatch, failing):
    monkeypatch.setattr(module, "_exchange", lambda *_: False)  # a system that cannot
    moves, replace = [], Path.replace

    def fail(self, target):
        moves.append(target)
        if len(moves) == failing:
            raise OSError(errno.EIO, "Input/output error")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(InputError, match="Input/output error"):
        replace_and_raise(old, None)
    monkeypatch.undo()
    assert contents(old.parent) == OLD


def test_faults_name_the_target_instead_of_the_folder_beside_it(tmp_path):
    with pytest.raises(InputError) as caught, new_folder(tmp_path / "data") as temporary:
        raise InputError([Fault("cannot hold it", file=str(temporary / "images/a.png"))])
    assert caught.value.faults[0].file == str(tmp_path / "data/images/a.png")


def test_a_place_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"), new_folder(tmp_path / "file/data"):
        raise AssertionError("the block must not run")


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("leads_to", ["data", "empty", "nowhere"])
def test_a_link_is_not_replaced_and_what_it_leads_to_stays(old, overwrite, leads_to):
    (old.parent / "empty").mkdir()
    link = old.parent / "link"
    link.symlink_to(leads_to)
    before = contents(old.parent)
    with (
        pytest.raises(InputError, match=f"is a link to {leads_to}"),
        new_folder(link, overwrite=overwrite) as temporary,
    ):
        write(temporary)
    assert link.is_symlink()
    assert contents(old.parent) == before


def write_while_notes_appear(target, **options):
    with new_folder(target, **options) as part:
        write(part)
        target.mkdir(exist_ok=True)
        (target / "notes.txt").write_text("mine")


def test_a_folder_that_appears_meanwhile_is_not_replaced(tmp_path):
    with pytest.raises(InputError, match="already exists"):
        write_while_notes_appear(tmp_path / "data")
    assert contents(tmp_path) == {"data/notes.txt": "mine"}


def test_notes_that_appear_meanwhile_are_not_lost(old):
    with pytest.raises(InputError, match=r"notes\.txt"):
        write_while_notes_appear(old, overwrite=True)
    assert contents(old.parent) == {**OLD, "data/notes.txt": "mine"}


def test_what_is_read_is_not_replaced(old):
    inputs = [old / "images"]
    with (
        pytest.raises(InputError, match="holds what is read"),
        new_folder(old, overwrite=True, inputs=inputs),
    ):
        raise AssertionError("the block must not run")
    assert contents(old.parent) == OLD


def test_a_second_writer_is_told(tmp_path):
    with new_folder(tmp_path / "data") as part:
        write(part)
        with (
            pytest.raises(InputError, match=f"another process writes here .process {os.getpid()}"),
            new_folder(tmp_path / "data"),
        ):
            raise AssertionError("the block must not run")
    assert contents(tmp_path) == NEW


def test_left_overs_of_a_killed_process_are_removed_or_taken_up(tmp_path):
    part = part_of(tmp_path / "data")
    part.mkdir()
    begin_own_files(part)
    (part / "half").write_text("half")
    with new_folder(tmp_path / "data", resume=True) as again:
        assert (again / "half").read_text() == "half"
    assert contents(tmp_path) == {"data/half": "half"}
    part.mkdir()
    begin_own_files(part)
    (part / "half").write_text("half")
    with new_folder(tmp_path / "data", overwrite=True) as again:
        write(again)
    assert contents(tmp_path) == NEW


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_of_others_that_is_called_like_a_left_over_stays(tmp_path, resume):
    part = part_of(tmp_path / "data")
    part.mkdir()
    (part / "notes.txt").write_text("mine")
    with (
        pytest.raises(InputError, match=r"\.data\.part lies beside it.*not its own") as caught,
        new_folder(tmp_path / "data", resume=resume),
    ):
        raise AssertionError("the block must not run")
    assert "move .data.part elsewhere" in caught.value.faults[0].fix
    assert contents(tmp_path) == {".data.part/notes.txt": "mine"}


def test_a_folder_that_was_made_and_not_yet_marked_is_taken(tmp_path):
    part_of(tmp_path / "data").mkdir()
    with new_folder(tmp_path / "data") as temporary:
        write(temporary)
    assert contents(tmp_path) == NEW


def test_of_a_replaced_result_that_a_kill_left_only_the_list_is_removed(old):
    """Killed after the new one took its place: the old one is beside it, with notes that came."""
    old.rename(part_of(old))
    (part_of(old) / "notes.txt").write_text("mine")
    with (
        pytest.raises(InputError, match="lies beside it"),
        new_folder(old),
    ):
        raise AssertionError("the block must not run")
    assert contents(old.parent) == {".data.part/notes.txt": "mine"}


def test_what_is_worth_going_on_with_is_kept(tmp_path):
    for kept in (True, False):
        with (
            pytest.raises(KeyboardInterrupt),
            new_folder(tmp_path / "data", keep=lambda _, kept=kept: kept),
        ):
            raise KeyboardInterrupt
        assert part_of(tmp_path / "data").exists() is kept
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("at_once", [True, False])
def test_only_what_is_listed_is_removed(old, monkeypatch, at_once):
    """Something that appears in the last moment, after the last look, stays on the disk."""
    if not at_once:
        monkeypatch.setattr(module, "_exchange", lambda *_: False)
    remove = module.remove_own_files

    def late(folder):
        (folder / "late.txt").write_text("mine")
        remove(folder)

    monkeypatch.setattr(module, "remove_own_files", late)
    with new_folder(old, overwrite=True) as part:
        write(part)
    assert contents(old.parent) == {**NEW, ".data.part/late.txt": "mine"}


@pytest.mark.parametrize("resume", [False, True])
def test_nothing_is_written_through_a_link(tmp_path, resume):
    """Whoever may write beside a target could else have it written elsewhere."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "manifest.csv").write_text("theirs")
    part_of(tmp_path / "data").symlink_to(victim)
    with new_folder(tmp_path / "data", resume=resume) as temporary:
        write(temporary)
    assert contents(victim) == {"manifest.csv": "theirs"}
    assert contents(tmp_path / "data") == {"manifest.csv": "new", "images/a.png": "new"}
    assert not (tmp_path / "data").is_symlink()


@pytest.mark.parametrize("n_files", [3, 40])
@pytest.mark.parametrize("whole_system", [True, False])
def test_all_files_are_on_disk_before_the_folder_takes_its_place(
    tmp_path, monkeypatch, n_files, whole_system
):
    target, synced = tmp_path / "out", []

    def flush_file_system(folder):
        if whole_system:
            assert not target.exists()
            synced.extend(path for path in folder.rglob("*") if path.is_file())
        return whole_system

    def flush(path):
        assert not target.exists()
        synced.append(path)

    monkeypatch.setattr(module, "_flush_file_system", flush_file_system)
    monkeypatch.setattr(module, "flush_to_disk", flush)
    monkeypatch.setattr(os, "fsync", lambda _: pytest.fail("a file was waited for by itself"))
    with new_folder(target) as part:
        (part / "inside").mkdir()
        for number in range(n_files):
            with replacing(part / "inside" / f"{number}.txt") as temporary:
                temporary.write_text("some")
    names = sorted(path.name for path in synced)
    assert names == sorted([*(f"{number}.txt" for number in range(n_files)), FILE_NAME])


def test_an_empty_folder_of_others_keeps_a_result_from_being_replaced(old):
    (old / "images/for later").mkdir()
    with pytest.raises(InputError, match=r"holds more than this program wrote .*for later"):
        replace_and_raise(old, None)
    assert (old / "images/for later").is_dir()
    assert contents(old.parent) == OLD


@pytest.mark.parametrize("part", ["raters", "images", "truth"])
def test_nothing_is_written_among_the_files_of_the_study(tmp_path, part):
    (tmp_path / "study" / part).mkdir(parents=True)
    with (
        pytest.raises(InputError, match="part of the study"),
        new_folder(tmp_path / "study" / part / "new", inputs=[tmp_path / "study"]),
    ):
        pass
    assert not list((tmp_path / "study" / part).iterdir())


def test_beside_them_something_is(tmp_path):
    (tmp_path / "study" / "raters").mkdir(parents=True)
    with new_folder(tmp_path / "study" / "fused", inputs=[tmp_path / "study"]) as folder:
        (folder / "a.txt").write_text("a")
    assert (tmp_path / "study" / "fused" / "a.txt").exists()
