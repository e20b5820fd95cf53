"""Files appear whole or not at all."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from multirater.errors import InputError
from multirater.io.atomic import replacing


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write_half(target, failure):
    with replacing(target, overwrite=True) as temporary:
        temporary.write_text("half")
        raise failure


def test_moves_the_finished_file_into_place_and_makes_folders(tmp_path):
    target = tmp_path / "a" / "b" / "scan.nii.gz"
    with replacing(target) as temporary:
        assert temporary.parent == target.parent
        assert temporary.name.startswith(".")
        assert temporary.name.endswith(".nii.gz")
        temporary.write_bytes(b"whole")
        assert not target.exists()
    assert target.read_bytes() == b"whole"
    assert names(target.parent) == ["scan.nii.gz"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_target_and_no_leftovers(tmp_path, failure):
    target = tmp_path / "x.txt"
    target.write_text("old")
    with pytest.raises(failure):
        write_half(target, failure())
    assert target.read_text() == "old"
    assert names(tmp_path) == ["x.txt"]


def test_an_existing_target_is_refused_before_any_work(tmp_path):
    target = tmp_path / "x.txt"
    target.write_text("old")
    with pytest.raises(InputError, match="already exists") as error, replacing(target):
        pytest.fail("the work must not begin")
    assert "--overwrite" in error.value.faults[0].fix
    assert error.value.faults[0].file == str(target)


@pytest.mark.parametrize("has_hard_links", [True, False])
def test_a_target_that_appears_meanwhile_is_not_replaced(tmp_path, monkeypatch, has_hard_links):
    def no_link(*_):
        raise OSError(errno.EPERM, "no hard links here")

    if not has_hard_links:
        monkeypatch.setattr(os, "link", no_link)
    target = tmp_path / "x.txt"
    work = replacing(target)
    work.__enter__().write_text("mine")
    target.write_text("theirs")
    with pytest.raises(InputError, match="already exists"):
        work.__exit__(None, None, None)
    assert target.read_text() == "theirs"
    assert names(tmp_path) == ["x.txt"]


def test_works_without_hard_links(tmp_path, monkeypatch):
    def no_link(*_):
        raise OSError(errno.ENOTSUP, "no hard links here")

    monkeypatch.setattr(os, "link", no_link)
    with replacing(tmp_path / "x.txt") as temporary:
        temporary.write_text("whole")
    assert (tmp_path / "x.txt").read_text() == "whole"


def test_overwrite_replaces(tmp_path):
    target = tmp_path / "x.txt"
    target.write_text("old")
    with replacing(target, overwrite=True) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EDQUOT, "disk is full"),
        (errno.EACCES, "not writable"),
        (errno.EROFS, "not writable"),
        (errno.ENAMETOOLONG, "too long"),
    ],
)
def test_disk_trouble_is_told_in_words(tmp_path, code, words):
    target = tmp_path / "x.txt"
    target.write_text("old")
    with pytest.raises(InputError, match=words) as error:
        write_half(target, OSError(code, os.strerror(code)))
    assert error.value.faults[0].file == str(target)
    assert target.read_text() == "old"
    assert names(tmp_path) == ["x.txt"]


def test_other_errors_of_the_system_are_not_explained_away(tmp_path):
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "x.txt"):
        (tmp_path / "missing").read_bytes()
    assert names(tmp_path) == []


def test_a_folder_or_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="is a folder"), replacing(tmp_path / "folder"):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"), replacing(tmp_path / "file" / "x.txt"):
        pass


def test_the_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_text("")
    with replacing(tmp_path / "x.txt") as temporary:
        temporary.write_text("whole")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "x.txt")}
    assert len(modes) == 1


def test_a_name_too_long_for_the_system_is_told(tmp_path):
    with (
        pytest.raises(InputError, match="too long"),
        replacing(tmp_path / ("x" * 300)) as temporary,
    ):
        temporary.write_text("whole")
    assert names(tmp_path) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from multirater.io.atomic import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    target, other = tmp_path / "page.html", tmp_path / "other.html"
    for path in (target, other):
        subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert len(names(tmp_path)) == 4  # an unfinished file and a lock of each
    with replacing(target) as temporary:
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    assert len(names(tmp_path)) == 3  # of the other both, still
    with replacing(other) as temporary:
        temporary.write_text("whole")
    assert names(tmp_path) == ["other.html", "page.html"]


def test_two_writers_of_one_file_are_told_apart(tmp_path):
    target = tmp_path / "page.html"
    with replacing(target) as temporary:
        with pytest.raises(InputError, match="another process writes here"), replacing(target):
            pytest.fail("the work must not begin")
        temporary.write_text("the first")
    assert target.read_text() == "the first"


def test_no_link_in_the_place_of_the_unfinished_file_is_followed(tmp_path):
    target, notes = tmp_path / "page.html", tmp_path / "notes.txt"
    notes.write_text("mine")
    with replacing(target) as temporary:
        unfinished = temporary.name
        temporary.write_text("first")
    (tmp_path / unfinished).symlink_to(notes)
    with replacing(target, overwrite=True) as temporary:
        temporary.write_text("second")
    assert (notes.read_text(), target.read_text()) == ("mine", "second")


def test_a_folder_in_the_place_of_the_unfinished_file_is_named(tmp_path):
    target = tmp_path / "page.html"
    with replacing(target) as temporary:
        unfinished = temporary.name
        temporary.write_text("first")
    (tmp_path / unfinished).mkdir()
    with (
        pytest.raises(InputError, match="a folder lies in the place") as caught,
        replacing(target, overwrite=True),
    ):
        pytest.fail("the work must not begin")
    assert unfinished in caught.value.faults[0].fix
