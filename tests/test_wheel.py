"""The wheel, in an environment that holds the core and nothing else."""

import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Sequence
from email.message import Message
from email.parser import HeaderParser
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

import multirater
from multirater.extras import EXTRAS

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    if not find_spec("build") or not find_spec("hatchling"):
        pytest.skip("no build or hatchling: make setup")
    target = tmp_path_factory.mktemp("dist")
    words = ["build", "--wheel", "--no-isolation", "--outdir", target, ROOT]
    subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def home(wheel, tmp_path_factory) -> Path:
    """An empty environment: what the wheel requires is linked from here, the wheel is installed."""
    folder = tmp_path_factory.mktemp("home")
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in _closure(metadata_of(wheel).get_all("Requires-Dist")):
        for top in {file.parts[0] for file in distribution(name).files} - {".."}:
            link = packages / top
            if not link.exists():
                link.symlink_to(distribution(name).locate_file(top))
    words = ["pip", "--python", folder / "bin/python", "install", "--quiet", "--no-deps"]
    subprocess.run([sys.executable, "-m", *words, "--no-index", wheel], check=True)
    return folder


def metadata_of(wheel: Path) -> Message:
    with ZipFile(wheel) as file:
        (name,) = [each for each in file.namelist() if each.endswith(".dist-info/METADATA")]
        return HeaderParser().parsestr(file.read(name).decode())


def _closure(requirements: Sequence[str]) -> set[str]:
    """Return the names of what is required without any extra, what that requires, and so on."""
    wanted = [Requirement(line) for line in requirements]
    names = {each.name for each in wanted if not each.marker or each.marker.evaluate({"extra": ""})}
    deeper = [_closure(distribution(name).requires or []) for name in names]
    return names.union(*deeper)


def call(home: Path, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "OMP_NUM_THREADS": "1"}
    line = [str(word) for word in (home / "bin/python", *words)]
    return subprocess.run(line, cwd=cwd, env=environment, capture_output=True, text=True)


def test_the_environment_holds_nothing_of_the_extras(home, tmp_path):
    modules = sorted({module for each in EXTRAS.values() for module in each.modules})
    find = "from importlib.util import find_spec"
    code = f"import sys; {find}; print([m for m in sys.argv[1:] if find_spec(m)])"
    assert call(home, "-c", code, *modules, cwd=tmp_path).stdout.strip() == "[]"


def test_the_main_job(home, digits_folder, tmp_path):
    for words in (
        ("fuse", digits_folder, "-o", "fused", "--workers", 1),
        ("evaluate", "fused", "--reference", digits_folder, "--workers", 1),
        ("report", digits_folder, "fused", "-o", "page.html", "--workers", 1),
        ("doctor",),
    ):
        done = call(home, "-m", "multirater", *words, cwd=tmp_path)
        assert done.returncode == 0, f"{words}\n{done.stderr}"
        assert "Warning" not in done.stderr
    assert len(list((tmp_path / "fused/labels").iterdir())) == 12
    assert (tmp_path / "page.html").stat().st_size > 100_000


def test_the_script_and_the_module_are_one_command(home, tmp_path):
    module = call(home, "-m", "multirater", "--version", cwd=tmp_path)
    script = call(home, home / "bin/multirater", "--version", cwd=tmp_path)
    assert module.stdout == script.stdout
    assert module.stdout.startswith(f"multirater {multirater.__version__} ")
    assert "no torch" in module.stdout


def test_a_network_is_refused_in_one_line(home, digits_folder, tmp_path):
    done = call(home, "-m", "multirater", "train", digits_folder, "-o", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert re.fullmatch(r"error: .*pip install 'multirater\[train\]'\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_the_metadata_are_complete(wheel):
    said, names = metadata_of(wheel), ZipFile(wheel).namelist()
    assert said["Version"] == multirater.__version__
    assert said["Requires-Python"] == ">=3.11"
    assert said["License-Expression"] == "Apache-2.0"
    assert said["Description-Content-Type"] == "text/markdown"
    assert said["Summary"]
    assert said["Author"]
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(said.get_all("Provides-Extra")) == set(declared["optional-dependencies"])
    for minor in (11, 12, 13):
        assert f"Programming Language :: Python :: 3.{minor}" in said.get_all("Classifier")
    assert {"multirater/py.typed", "multirater/samples/digits.npz"} <= set(names)
    assert not [each for each in names if each.startswith(("tests", "docs", "benchmarks"))]


def test_every_file_that_names_the_version_names_this_one():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {multirater.__version__}\n" in citation
    released = re.search(
        r"^## \[(\d.*?)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.M
    )
    assert released[1] == multirater.__version__
    assert f'date-released: "{released[2]}"' in citation
