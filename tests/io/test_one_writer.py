import os
import subprocess
import sys

import pytest

from multirater.errors import InputError
from multirater.io.one_writer import one_writer

HOLD = """
import sys
from multirater.io.one_writer import one_writer
with one_writer(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_killed_process_holds_nothing(tmp_path):
    place = tmp_path / "out"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLD, str(place)], **pipes) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=f"process {other.pid}"), one_writer(place):
            raise AssertionError("the block must not run")
        other.kill()
        other.wait(10)
    assert (tmp_path / ".out.lock").exists()
    with one_writer(place):
        pass
    assert not list(tmp_path.iterdir())


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path):
    victim = tmp_path / "thesis.txt"
    victim.write_text("years of work")
    (tmp_path / ".out.lock").symlink_to(victim)
    with (
        pytest.raises(InputError, match=r"a link lies where the lock goes"),
        one_writer(tmp_path / "out"),
    ):
        raise AssertionError("the block must not run")
    assert victim.read_text() == "years of work"


def test_a_file_of_somebody_else_in_place_of_the_lock_stays(tmp_path):
    (tmp_path / ".out.lock").write_text("years of work")
    with pytest.raises(InputError, match="no lock of this program"), one_writer(tmp_path / "out"):
        raise AssertionError("the block must not run")
    assert (tmp_path / ".out.lock").read_text() == "years of work"


def test_a_pipe_where_the_lock_goes_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".out.lock")
    with pytest.raises(InputError, match="no lock of this program"), one_writer(tmp_path / "out"):
        pass
