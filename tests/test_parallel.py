import math
import operator
import os
import signal
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest

from multirater.errors import InputError
from multirater.parallel import many_times, map_parallel


def test_order_is_kept():
    results = map_parallel(math.factorial, list(range(40)), label="factorials", workers=2)
    assert list(results) == [math.factorial(n) for n in range(40)]


def test_processes_are_used_when_asked_for():
    asked = [os.getpid] * 9
    assert os.getpid() not in set(map_parallel(operator.call, asked, label="", workers=2))
    assert {os.getpid()} == set(map_parallel(operator.call, asked, label="", workers=1))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_reaches_the_caller(workers):
    with pytest.raises(ValueError, match=r"math domain|nonnegative"):
        list(map_parallel(math.sqrt, [1, 4, -1, 9, 16], label="", workers=workers))


@pytest.mark.parametrize("action", ["ignore", "default"])
def test_processes_ignore_warnings_where_this_one_does(action):
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter(action)
        first = "__import__('warnings').filters[0][:3]"
        found = list(map_parallel(eval, [first] * 5, label="", workers=2))
    assert all((each == ("ignore", None, Warning)) == (action == "ignore") for each in found)


def test_a_process_that_dies_is_explained():
    with pytest.raises(InputError, match="memory"):
        list(map_parallel(signal.raise_signal, [signal.SIGKILL] * 5, label="", workers=2))


SLEEPING = """
import sys, time
from functools import partial
from pathlib import Path
sys.path.insert(0, {folder!r})
from sleeper import sleep
from multirater.parallel import map_parallel
if __name__ == "__main__":
    list(map_parallel(sleep, range(8), label="", workers=2))
"""

SLEEPER = """
import os, time
from pathlib import Path
def sleep(number):
    Path({folder!r}, f"{{os.getpid()}}.pid").touch()
    time.sleep(60)
"""


def _lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_workers_end_with_their_parent(tmp_path):
    (tmp_path / "sleeper.py").write_text(SLEEPER.format(folder=str(tmp_path)))
    (tmp_path / "go.py").write_text(SLEEPING.format(folder=str(tmp_path)))
    with subprocess.Popen([sys.executable, str(tmp_path / "go.py")]) as parent:
        for _ in range(1200):
            if len(list(tmp_path.glob("*.pid"))) == 2:
                break
            time.sleep(0.1)
        parent.kill()
    pids = [int(path.stem) for path in tmp_path.glob("*.pid")]
    assert len(pids) == 2
    for _ in range(300):
        if not any(map(_lives, pids)):
            return
        time.sleep(0.1)
    raise AssertionError(f"{pids} outlived their parent")


def _die_once(number, marker):
    """Take the worker down with it, the first time that number 3 is asked for."""
    if number == 3 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def test_a_worker_that_is_killed_costs_what_it_was_doing(tmp_path):
    distributed = pytest.importorskip("distributed")
    work = partial(_die_once, marker=tmp_path / "marker")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        many_times(scheduler=cluster.scheduler_address) as apply,
    ):
        assert list(apply(work, range(8))) == [number**2 for number in range(8)]
        assert list(apply(abs, [-1, -2])) == [1, 2]
    assert (tmp_path / "marker").exists()


def test_threads_are_used_when_asked_for():
    barrier = Barrier(2, timeout=60)
    with many_times(threads=2) as apply:
        assert sorted(apply(lambda _: barrier.wait(), range(2))) == [0, 1]


TOLD = """
import sys
sys.path.insert(0, {folder!r})
from sleeper import sleep
from multirater.parallel import map_parallel
if __name__ == "__main__":
    try:
        list(map_parallel(sleep, range(80), label="", workers=2))
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="groups of processes are told")
def test_ctrl_c_ends_workers_at_once_and_they_say_nothing(tmp_path):
    (tmp_path / "sleeper.py").write_text(SLEEPER.format(folder=str(tmp_path)))
    (tmp_path / "go.py").write_text(TOLD.format(folder=str(tmp_path)))
    command = [sys.executable, str(tmp_path / "go.py")]
    hear = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=hear
    ) as parent:
        for _ in range(1200):
            if len(list(tmp_path.glob("*.pid"))) == 2:
                break
            time.sleep(0.1)
        os.killpg(parent.pid, signal.SIGINT)
        try:
            said = parent.communicate(timeout=40)[1]  # a worker sleeps for a minute
        finally:
            parent.kill()
    assert (parent.returncode, said) == (130, "")


def test_nothing_in_the_current_folder_is_run(tmp_path):
    (tmp_path / "script").mkdir()
    script = tmp_path / "script" / "main.py"
    script.write_text(
        "from multirater.parallel import map_parallel\n"
        "if __name__ == '__main__':\n"
        "    assert len(list(map_parallel(abs, range(8), label='', workers=2))) == 8\n"
    )
    study = tmp_path / "study"
    study.mkdir()
    for module in ("selectors", "argparse", "struct"):
        (study / f"{module}.py").write_text(f"open({str(tmp_path / 'touched')!r}, 'w').close()\n")
    subprocess.run([sys.executable, str(script)], cwd=study, check=True, timeout=60)
    assert not (tmp_path / "touched").exists()
