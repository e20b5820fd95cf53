"""Fixtures that several folders of tests share."""

import os
from pathlib import Path

# Tests run side by side: threads of one would only take the cores from another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings
from typer.testing import CliRunner

from multirater.cli.app import app
from multirater.io import write_dataset
from multirater.progress import show_progress
from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset

# Shared machines are slow at times; a deadline per example would fail for that alone.
settings.register_profile("multirater", deadline=None)
settings.load_profile("multirater")

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def shared_data() -> Path:
    """Folder of real data beside the checkout; tests that need it skip without it."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no real data beside the checkout (../shared/data)")
    return SHARED_DATA


@pytest.fixture(scope="session")
def digits_folder(tmp_path_factory) -> Path:
    """Twelve digits with five simulated raters, on disk."""
    folder = tmp_path_factory.mktemp("digits") / "data"
    write_dataset(simulate_dataset(digits_dataset(n_train=8, n_test=4), seed=1), folder)
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def run():
    """Run `multirater` with words in this process; return exit code, output and errors."""

    def call(*words):
        try:
            found = CliRunner().invoke(app, [str(word) for word in words])
        finally:
            show_progress(False)
        assert found.exception is None or isinstance(found.exception, SystemExit)
        return found.exit_code, found.stdout, found.stderr

    return call
