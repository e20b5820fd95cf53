"""What the page of the papers names is there: verbs, options, methods, presets, scripts, tests."""

import re
import shlex
from itertools import pairwise

import pytest
from test_commands import COMMAND, ROOT, parse

from multirater.training.methods import METHODS
from multirater.training.options import checked_options, given_options
from multirater.training.presets import preset

TEXT = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
TABLES = "\n".join(line for line in TEXT.splitlines() if line.startswith("|") or "python" in line)
CODE = sorted(set(re.findall(r"`([^`]+)`", TABLES)))
OPTIONS = [code for code in CODE if code.startswith("--")]
VERBS = [code for code in CODE if code.startswith("multirater ")]
SCRIPTS = [code.split()[1] for code in CODE if code.startswith("python ")]


TRAININGS = [f"multirater train study/ -o run/ {options}" for options in OPTIONS]


@pytest.mark.parametrize("words", [*TRAININGS, *VERBS])
def test_every_command_can_be_given(words):
    given = shlex.split(words)[1:]
    if "--help" not in given:
        parse(COMMAND, "multirater", given)


@pytest.mark.parametrize("words", OPTIONS)
def test_methods_options_and_presets_are_known(words):
    given = shlex.split(words)
    pairs = list(pairwise(given))
    for name in (value for option, value in pairs if option == "--preset"):
        preset(name)
    for name in (value for option, value in pairs if option == "--method"):
        kinds = [kind for kind in METHODS if name in METHODS[kind]]
        assert kinds
        options = given_options([value for option, value in pairs if option == "--set"])
        known = [set(METHODS[kind][name].options.__dataclass_fields__) for kind in kinds]
        fitting = [kind for kind, has in zip(kinds, known, strict=True) if set(options) <= has]
        assert fitting
        checked_options(METHODS[fitting[0]][name].options, options, name)


def test_scripts_and_tests_are_there():
    named = [*SCRIPTS, *(code for code in CODE if code.startswith("tests/"))]
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).exists()] == []
