"""Options with values that nobody means: a status and a sentence, never a traceback."""

from collections import Counter

import numpy as np
import pytest
from damage import COUNTS, TRIES, bounded
from typer.testing import CliRunner

from multirater import progress
from multirater.cli.app import app

VALUES = ["", "nan", "inf", "-inf", "-1", "0", "1e308", "1e-320", "0,0", "a,b", "=1", "\x1b[2J"]
VALUES += ["9" * 30, "None", "true", "../..", "{}", "[", "name=", "=value", "ü", "2.5", ";", ","]

OPTIONS = {
    "info": ["--raters", "--exclude"],
    "agreement": ["--level", "--seed", "--raters"],
    "fuse": ["--method", "--prior", "--window", "--workers", "--raters", "--scheduler"],
    "simulate": ["--raters", "--seed", "--supply"],
    "convert": ["--format", "--raters"],
    "plan": ["--memory"],
    "train": ["--patch", "--channels", "--precision", "--accelerator", "--time", "--memory"],
}
NEED_OUTPUT = {"fuse", "simulate", "convert", "train"}


@pytest.mark.parametrize("verb", OPTIONS)
def test_odd_values_of_options(tmp_path, digits_folder, verb):
    random = np.random.default_rng(len(verb))
    counts = COUNTS.setdefault(f"options of {verb}", Counter())
    for number in range(max(TRIES // 3, 3)):
        option = OPTIONS[verb][int(random.integers(len(OPTIONS[verb])))]
        value = VALUES[int(random.integers(len(VALUES)))]
        words = [verb, str(digits_folder), option, value, "-q"]
        if verb in NEED_OUTPUT:
            words += ["-o", str(tmp_path / str(number))]
        if verb == "train":
            words += ["--learning-rate", "nan"]  # whatever the value, nothing is trained here
        try:
            with bounded():
                result = CliRunner().invoke(app, words)
        finally:
            progress.show_progress(False)
        counts["tries"] += 1
        counts["refused" if result.exit_code else "unchanged"] += 1
        assert result.exception is None or isinstance(result.exception, SystemExit), words
        assert result.exit_code in (0, 2), words
        assert "\x1b[2J" not in result.output
