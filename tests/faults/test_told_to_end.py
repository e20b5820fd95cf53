"""Training that is told to end: by SIGTERM or Ctrl-C, in one process and in two."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from multirater.io import write_dataset
from multirater.io.arrays import dataset_from_arrays

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="signals of POSIX")

HEAR_CTRL_C = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
"""Even where whoever runs the tests ignores it, as `nohup` does."""

SECONDS = 30
"""A run ends within five; machines that are shared are slow at times."""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, (12, 3))
    data = dataset_from_arrays(labels, images=random.normal(size=(12, 3)).astype(np.float32))
    folder = tmp_path_factory.mktemp("told") / "study"
    write_dataset(data, folder)
    return folder


def started(study, *words):
    command = [sys.executable, "-m", "multirater", "train", study, *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment,
        preexec_fn=HEAR_CTRL_C,
    )


NEW = ("--epochs", "100000", "--batch-size", "6", "--method", "cm")


def children_of(process):
    """The processes that a process has started, and that are not over."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == process.pid and state != "Z":
            found.append(int(stat.parent.name))
    return found


def is_running(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition, process):
    until = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.05)


def ended(process, number, to_all=False):
    """Tell a process, or its group, to end; return what it said."""
    if to_all:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    try:
        return process.communicate(timeout=SECONDS)[1]
    finally:
        process.kill()


def test_ctrl_c_in_one_process_has_its_status(study, tmp_path):
    run = tmp_path / "run"
    process = started(study, "-o", run, *NEW)
    wait_for((run / "checkpoints/last.ckpt").exists, process)
    said = ended(process, signal.SIGINT)
    assert process.returncode == 130, said
    assert "go on with" in said
    assert "Traceback" not in said


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("number", "to_all", "moment"),
    [
        (signal.SIGTERM, False, "meeting"),
        (signal.SIGTERM, False, "learning"),
        (signal.SIGINT, True, "learning"),
    ],
)
def test_two_processes_end_together_and_go_on(study, tmp_path, number, to_all, moment):
    run = tmp_path / "run"
    process = started(study, "-o", run, "--devices", "2", *NEW)
    wait_for(lambda: children_of(process), process)
    if moment == "learning":
        wait_for((run / "checkpoints/last.ckpt").exists, process)
    others = children_of(process)
    said = ended(process, number, to_all)
    assert process.returncode == 128 + number, said
    assert "Traceback" not in said
    assert not [each for each in others if is_running(each)]
    if moment == "meeting":
        assert not run.exists()
        assert "begin again" in said
        return
    assert "go on with" in said
    before = (run / "checkpoints/last.ckpt").stat().st_mtime_ns
    again = started(study, "--resume", run)
    wait_for(lambda: (run / "checkpoints/last.ckpt").stat().st_mtime_ns != before, again)
    said = ended(again, signal.SIGTERM)
    assert again.returncode == 143, said


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_another_process_that_is_killed_ends_the_run_in_a_sentence(study, tmp_path):
    run = tmp_path / "run"
    process = started(study, "-o", run, "--devices", "2", *NEW)
    wait_for((run / "checkpoints/last.ckpt").exists, process)
    os.kill(children_of(process)[0], signal.SIGKILL)
    try:
        said = process.communicate(timeout=SECONDS)[1]
    finally:
        process.kill()
    assert process.returncode == 2, said
    assert "process 2 of 2 ended before its time, killed by signal 9" in said
    assert "Traceback" not in said
