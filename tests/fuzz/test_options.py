"""Options with values that nobody means: a status and a sentence, never a traceback."""

import re
from collections import Counter

import numpy as np
import pytest
from damage import COUNTS, TRIES, bounded
from typer.testing import CliRunner

from multirater import progress
from multirater.cli.app import app
from multirater.errors import Fault, InputError
from multirater.training import TrainConfig, train
from multirater.training.module import RaterModule

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


NUMBERS = ["", "0", "-1", "nan", "inf", "1e308", "1e-308", "9" * 30, "1" + "0" * 400, "0.5", "3"]
"""Of options that are numbers."""

WORDS = {
    "agreement": "DATA",
    "fuse": "DATA -o OUT --method spatial-staple",
    "simulate": "DATA -o OUT",
    "convert": "DATA -o OUT",
    "next": "DATA",
    "plan": "DATA",
    "train": "DATA -o OUT --epochs 1 --method cm --channels 2,4 --devices 1",
    "predict": "RUN DATA -o OUT",
    "evaluate": "PREDICTIONS",
    "report": "DATA -o OUT.html",
    "export": "DATA --to coco -o OUT.json",
    "info": "DATA",
}
TEXT = {"train": ["--memory", "--time", "--patch", "--channels"], "plan": ["--memory"]}
TEXT |= {"predict": ["--memory"], "fuse": ["--prior", "--set max_iter", "--set prior_weight"]}


def numeric_options(verb):
    """The options of a verb that are numbers, by its help, and those that are read as such."""
    said = CliRunner().invoke(app, [verb, "--help"], env={"COLUMNS": "200"}).output
    return [*re.findall(r"(--[a-z-]+)[^\n<]*<(?:int|float)", said), *TEXT.get(verb, [])]


@pytest.fixture(scope="module")
def made(digits_folder, tmp_path_factory):
    """A run, and its predictions."""
    from multirater.io import read_dataset
    from multirater.training import predict

    folder, data = tmp_path_factory.mktemp("made"), read_dataset(digits_folder)
    config = TrainConfig(method="cm", epochs=1, batch_size=4, channels=(2, 4), n_features=2)
    train(data, folder / "run", config)
    predict(folder / "run", data, folder / "predictions")
    return folder


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", WORDS)
def test_every_number_of_every_verb(tmp_path, digits_folder, made, monkeypatch, verb):
    def enough(*_):
        raise InputError(Fault("enough was learned"))

    monkeypatch.setattr(RaterModule, "training_step", enough)
    places = {"DATA": digits_folder, "RUN": made / "run", "PREDICTIONS": made / "predictions"}
    tries = [(option, value) for option in numeric_options(verb) for value in NUMBERS]
    # Runs on several devices would start this test once more; readers are processes.
    tries = [each for each in tries if each not in {("--devices", "3"), ("--nodes", "3")}]
    random = np.random.default_rng(len(verb))
    counts = COUNTS.setdefault(f"numbers of {verb}", Counter())
    for number in random.permutation(len(tries))[:TRIES]:
        option, value = tries[number]
        words = [str(places.get(word, word)) for word in WORDS[verb].split()]
        words = [word.replace("OUT", str(tmp_path / str(number))) for word in words]
        first, _, name = option.partition(" ")
        given = [first, f"{name}={value}" if name else value]
        try:
            with bounded():
                result = CliRunner().invoke(app, [verb, *words, *given, "-q"])
        finally:
            progress.show_progress(False)
        counts["tries"] += 1
        counts["refused" if result.exit_code else "unchanged"] += 1
        is_told = result.exception is None or isinstance(result.exception, SystemExit)
        assert is_told, (words, given, result.exception)
        assert result.exit_code in (0, 2), (words, given)
        assert result.output.strip(), (words, given)
