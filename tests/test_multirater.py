"""The public face: what README's verbs do, and nothing that is not meant."""

import sys
from pathlib import Path
from subprocess import run

import multirater
from multirater.cli.app import app

ELSEWHERE = {"fuse": "fuse_dataset", "next": "next_labels", "report": "write_report"}
"""Verbs whose functions are called otherwise, since a folder, or Python, has the name."""
NOT_IN_PYTHON = {"view", "demo", "doctor", "import", "export"}


def test_every_verb_is_a_function():
    verbs = {each.name for each in app.registered_commands} - NOT_IN_PYTHON
    missing = [verb for verb in verbs if not hasattr(multirater, ELSEWHERE.get(verb, verb))]
    assert missing == []


def test_every_file_of_verbs_shows_the_function_of_its_name():
    files = {each.stem for each in Path(multirater.__file__).parent.glob("verbs/[a-z]*.py")}
    assert files <= set(multirater.__all__)
    assert all(callable(getattr(multirater, name)) for name in files)


def test_nothing_is_shown_that_is_not_meant():
    assert set(dir(multirater)) == {*multirater.__all__, "__version__"}
    assert all(getattr(multirater, name) is not None for name in multirater.__all__ if name != "nn")


def test_the_settings_are_there_without_torch():
    code = "import sys, multirater; multirater.TrainConfig(); assert 'torch' not in sys.modules"
    assert run([sys.executable, "-c", code]).returncode == 0
