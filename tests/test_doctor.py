"""The facts of a bug report."""

import json
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

import multirater.doctor as subject
from multirater.doctor import Diagnosis, Equipment, doctor
from multirater.extras import EXTRAS


@pytest.fixture
def without_numba(monkeypatch):
    def known(name):
        if name == "numba":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(subject, "version", known)


def test_what_is_installed_is_named_with_its_version():
    found = doctor()
    assert found.is_sound
    assert found.core["numpy"] == version("numpy")
    assert [each.extra for each in found.extras] == list(EXTRAS)


def test_what_is_missing_is_named_with_its_verbs_and_its_command(without_numba):
    lines = doctor().as_text().splitlines()
    (line,) = [each for each in lines if "multirater[fast]" in each]
    assert EXTRAS["fast"].users in line


def test_a_core_with_a_gap_is_not_sound(run, monkeypatch):
    broken = Diagnosis({"multirater": "0"}, {"numpy": None}, [Equipment("fast", {}, "")])
    monkeypatch.setattr(subject, "doctor", lambda: broken)
    status, output, _ = run("doctor")
    assert status == 1
    assert "not whole" in output


def test_machines_get_json(run):
    status, output, _ = run("doctor", "--json")
    assert status == 0
    assert json.loads(output)["core"]["numpy"] == version("numpy")


def test_without_torch_nothing_is_known_of_a_gpu(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "multirater[train]" in doctor().machine["GPU"]


def test_the_version_names_what_results_depend_on(run):
    status, output, _ = run("--version")
    assert status == 0
    for name in ("numpy", "scipy", "pandas", "torch"):
        assert f"{name} {version(name)}" in output
