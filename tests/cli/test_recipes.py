"""The handlers of recipes hand their options on, and print the manifest."""

import gzip
import struct

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from multirater import progress
from multirater.cli import recipes
from multirater.cli.verb import verb
from multirater.io.importers import recipes as importers

NAMES = (
    "mnist",
    "ms-lesion",
    "brats",
    "lidc-crops",
    "cityscapes",
    "les-av",
    "qubiq",
    "refuge",
    "riga",
)


@pytest.fixture
def run(monkeypatch):
    """Run a handler with words; its output."""
    app = typer.Typer()
    for name in NAMES:
        app.command(name)(verb(getattr(recipes, name.replace("-", "_"))))

    def call(*words):
        try:
            return CliRunner().invoke(app, [str(word) for word in words])
        finally:
            progress.show_progress(False)

    return call


def test_mnist_from_files_to_a_data_set(run, tmp_path):
    for prefix in ("train", "t10k"):
        header = struct.pack(">BBBB3I", 0, 0, 8, 3, 4, 28, 28)
        content = header + np.zeros(4 * 28 * 28, np.uint8).tobytes()
        (tmp_path / f"{prefix}-images-idx3-ubyte.gz").write_bytes(gzip.compress(content))
    result = run("mnist", tmp_path, "-o", tmp_path / "data", "--train", 3, "--test", 1)
    assert result.exit_code == 0
    assert str(tmp_path / "data" / "manifest.csv") in result.output
    assert len((tmp_path / "data" / "manifest.csv").read_text().splitlines()) == 1 + 3 + 1


@pytest.mark.parametrize("name", NAMES)
def test_faults_end_with_status_2_and_a_word(run, tmp_path, name):
    result = run(name, tmp_path / "nowhere", "-o", tmp_path / "data")
    assert result.exit_code == 2
    assert "does not exist" in result.output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["mnist"], {"kind": "masks", "n_train": None, "n_test": None, "overwrite": False}),
        (["mnist", "--kind", "classes", "--train", "5"], {"kind": "classes", "n_train": 5}),
        (["ms-lesion"], {"truth": None, "seed": 0, "overwrite": False}),
        (["ms-lesion", "--truth", "2", "--seed", "3"], {"truth": 2, "seed": 3}),
        (["brats"], {"grades": ("HGG", "LGG"), "seed": 0, "overwrite": False}),
        (["brats", "--grade", "HGG", "--overwrite"], {"grades": ("HGG",), "overwrite": True}),
        (["lidc-crops", "-j", "1"], {"isotropic": False, "workers": 1, "seed": 0}),
        (["lidc-crops", "--isotropic"], {"isotropic": True}),
        (["cityscapes"], {"masks": None, "shrink": 1, "overwrite": False}),
        (["cityscapes", "--masks", "174", "--shrink", "8"], {"masks": 174, "shrink": 8}),
        (["les-av", "--seed", "3"], {"seed": 3, "overwrite": False}),
        (["qubiq"], {"task": "brain-growth", "structure": 1, "overwrite": False}),
        (["qubiq", "--task", "prostate", "--structure", "2"], {"task": "prostate", "structure": 2}),
        (["refuge", "--overwrite"], {"overwrite": True}),
        (["riga"], {"overwrite": False}),
    ],
)
def test_options_reach_the_function(run, monkeypatch, words, expected):
    seen = {}

    def note(source, folder, **options):
        seen.update(options, source=str(source), folder=str(folder))
        return "manifest"

    monkeypatch.setattr(importers, f"import_{words[0].replace('-', '_')}", note)
    result = run(words[0], "from", "-o", "to", *words[1:])
    assert result.output.strip().endswith("manifest")
    assert (seen["source"], seen["folder"]) == ("from", "to")
    assert seen | expected == seen
