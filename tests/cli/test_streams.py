"""What a terminal, or the lack of one, does to a verb."""

import os
import subprocess
import sys

import numpy as np
import pytest

from multirater.io import dataset_from_arrays, write_dataset

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    labels = np.zeros((2, 2, 4, 4), dtype=int)
    labels[:, :, 1:3, 1:3] = 1
    folder = tmp_path_factory.mktemp("streams") / "study"
    write_dataset(dataset_from_arrays(labels, raters=["\u00e9va", "\u6797"]), folder)
    return folder


def shell(line, **environment):
    words = [sys.executable, "-m", "multirater"]
    return subprocess.run(
        ["sh", "-c", line, *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_names_that_a_terminal_cannot_show_are_spelt_out(study):
    done = shell(f'"$0" "$@" info {study} -q', PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\xe9va" in done.stdout


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_are_closed_stop_nothing(study, tmp_path, closed):
    done = shell(f'"$0" "$@" fuse {study} -o {tmp_path / "out"} {closed}')
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/manifest.csv").is_file()


def test_the_root_is_no_place_to_write_at(study):
    for verb in (f"fuse {study}", f"export {study} --to coco"):
        done = shell(f'"$0" "$@" {verb} -q -o /')
        assert done.returncode == 2
        assert "error: file /: is" in done.stderr


@pytest.mark.parametrize("words", ["--help", "info {study} -q", "fuse {study} -o {out}"])
def test_a_reader_who_has_gone_ends_a_verb_quietly_as_other_programs_end(study, tmp_path, words):
    reading, writing = os.pipe()
    os.close(reading)
    line = words.format(study=study, out=tmp_path / "out").split()
    done = subprocess.run(
        [sys.executable, "-m", "multirater", *line],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 128 + 13
    assert b"Error" not in done.stderr
    assert (tmp_path / "out/manifest.csv").is_file() == words.startswith("fuse")
