"""The whole way through on built-in data: digits, five simulated raters, fusion, evaluation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import numpy as np
import pandas as pd

from multirater.errors import Fault, InputError, MultiraterWarning
from multirater.fuse.dataset import fuse_dataset
from multirater.io import read_dataset, write_dataset
from multirater.metrics import case_interval, dice_score
from multirater.progress import say
from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset
from multirater.types import Dataset

METHODS = ("majority-vote", "staple", "spatial-staple")
_MARKER = "made-by-multirater-demo"


def run_demo(
    folder: Path, *, n_cases: int = 300, seed: int = 0
) -> Iterator[tuple[pd.DataFrame, str]]:
    """Simulate, fuse and evaluate; yield the tables to show with their titles."""
    _start_afresh(folder)
    say(f"1. {n_cases} handwritten digits as images to segment; the truth is known")
    truth = digits_dataset(n_train=n_cases, n_test=0)
    say("2. five simulated raters label every digit: good, over, under, wrong, blank")
    write_dataset(simulate_dataset(truth, seed=seed), folder / "data")
    data = read_dataset(folder / "data")
    yield rater_dice(data), "Raters against the truth"
    rows = []
    for number, method in enumerate(METHODS, start=3):
        say(f"{number}. fusing the raters' labels by {method}, without looking at the truth")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MultiraterWarning)
            fuse_dataset(data, folder / method, method=method)
        rows.append(rater_dice(read_dataset(folder / method)))
    yield pd.concat(rows).rename_axis("method"), "Fused labels against the truth"


def rater_dice(dataset: Dataset) -> pd.DataFrame:
    """Return each rater's mean Dice with the truth over cases, with its interval."""
    rows = []
    for rater in dataset.raters:
        drawn = [case for case in dataset if rater in case.labels and case.truth is not None]
        truths = [case.read_truth() for case in drawn]
        labels = [case.read_label(rater).array for case in drawn]
        known = [np.asarray(truth.array) for truth in truths if truth is not None]
        found = case_interval(dice_score, known, labels)
        rows.append({"rater": rater, "Dice": found.value, "low": found.low, "high": found.high})
    return pd.DataFrame(rows).set_index("rater")


def _start_afresh(folder: Path) -> None:
    """Replace an earlier demo, and nothing else."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _MARKER).exists():
            raise InputError(
                Fault("exists and is not a demo", fix="choose another folder", file=str(folder))
            )
        rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARKER).touch()
