import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import children

PARENT = """
import sys
from children import start
child = start([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
child.wait()
"""


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_what_a_benchmark_starts_ends_with_it():
    environment = {**os.environ, "PYTHONPATH": str(Path(children.__file__).parent)}
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    for _ in range(300):
        if not lives(child):
            return
        time.sleep(0.1)
    raise AssertionError(f"{child} outlived its parent")


def test_what_a_program_took_is_counted(tmp_path):
    command = [sys.executable, "-c", "x = bytearray(60_000_000); print('said')"]
    use = children.measured(command, tmp_path / "output.txt")
    assert use.peak > 60
    assert (tmp_path / "output.txt").read_text() == "said\n"
    with pytest.raises(SystemExit, match="ended with 3: why"):
        children.measured(
            [sys.executable, "-c", "import sys; print('why'); sys.exit(3)"], tmp_path / "output.txt"
        )
