"""The whole way through on built-in data: digits, five raters, fusion, training, a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from multirater.errors import Fault, InputError
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import read_dataset, write_dataset
from multirater.io.own_files import files_of_others, remove_own_files, write_own_files
from multirater.metrics import case_interval, dice_score
from multirater.progress import say
from multirater.report import write_report
from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset
from multirater.types import Dataset

FUSIONS: dict[str, dict[str, Any]] = {
    "majority-vote": {},
    "staple": {},
    "staple, disputed pixels of all cases": {"pooled": True, "options": {"disputed_only": True}},
    "spatial-staple": {},
}
NETWORKS = {"network on majority vote": "mode", "network of the default method": "auto"}
PAGE = "report.html"
_MARKER = "made-by-multirater-demo"


def run_demo(
    folder: Path, *, n_cases: int = 600, epochs: int = 5, seed: int = 0
) -> Iterator[tuple[pd.DataFrame, str]]:
    """Simulate, fuse, train, evaluate and report; yield the tables to show with their titles.

    Args:
        folder: where everything goes.
        n_cases: digits to train on; a third as many are kept for testing.
        epochs: of training.
        seed: of everything random.
    """
    from multirater.training import train  # noqa: F401  (an extra: said before anything is made)

    _start_afresh(folder)
    n_test = max(n_cases // 3, 1)
    say(f"1. {n_cases} handwritten digits to learn from, {n_test} to test on; the truth is known")
    truth = digits_dataset(n_train=n_cases, n_test=n_test)
    say("2. five simulated raters label every digit: good, over, under, wrong, blank")
    write_dataset(simulate_dataset(truth, seed=seed), folder / "data")
    data = read_dataset(folder / "data")
    yield rater_dice(data), "Raters against the truth"
    yield _fuse(data.split("train"), folder), "Fused labels against the truth"
    table = _train(data, folder, epochs, seed)
    yield table, "Networks against the truth, on images they have not seen"
    say(f"{3 + len(FUSIONS) + len(NETWORKS)}. writing a page to look at")
    write_report([folder / "data", *_results(folder)], folder / PAGE, seed=seed)
    write_own_files(folder)


def _results(folder: Path) -> list[Path]:
    fusions = [folder / "fused" / _folder_name(name) for name in FUSIONS]
    return [*fusions, *(folder / "networks" / method for method in NETWORKS.values())]


def _folder_name(name: str) -> str:
    return name.replace(", ", "-").replace(" ", "-")


def _fuse(data: Dataset, folder: Path) -> pd.DataFrame:
    rows = []
    for number, (name, settings) in enumerate(FUSIONS.items(), start=3):
        say(f"{number}. fusing the raters' labels by {name}, without looking at the truth")
        target, method = folder / "fused" / _folder_name(name), name.split(",")[0]
        fuse_dataset(data, target, method=method, **settings)
        rows.append(rater_dice(read_dataset(target)).set_axis([name]))
    return pd.concat(rows).rename_axis("method")


def _train(data: Dataset, folder: Path, epochs: int, seed: int) -> pd.DataFrame:
    from multirater.training import TrainConfig, predict, train

    rows = []
    first = 3 + len(FUSIONS)
    for number, (name, method) in enumerate(NETWORKS.items(), start=first):
        say(f"{number}. training a {name}, then segmenting the test images")
        target = folder / "networks" / method
        config = TrainConfig(
            method=method,
            channels=(16, 32, 64),
            n_features=16,
            batch_size=16,
            epochs=epochs,
            accelerator="cpu",
            seed=seed,
        )
        train(data, target, config)
        predict(
            target,
            data.split("test"),
            target / "predictions",
            probability=True,
            raters=method == "auto",
            confusion=method == "auto",
        )
        rows.append(rater_dice(read_dataset(target / "predictions")).set_axis([name]))
    return pd.concat(rows).rename_axis("method")


def rater_dice(dataset: Dataset) -> pd.DataFrame:
    """Return each rater's mean Dice with the truth over cases, with its interval."""
    rows = []
    for rater in dataset.raters:
        drawn = [case for case in dataset if rater in case.labels and case.truth is not None]
        truths = [truth.array for case in drawn if (truth := case.read_truth()) is not None]
        labels = [case.read_label(rater).array for case in drawn]
        found = case_interval(dice_score, truths, labels)
        rows.append({"rater": rater, "Dice": found.value, "low": found.low, "high": found.high})
    return pd.DataFrame(rows).set_index("rater")


def _start_afresh(folder: Path) -> None:
    """Replace an earlier demo, and nothing else."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _MARKER).exists():
            raise InputError(
                Fault("exists and is not a demo", fix="choose another folder", file=str(folder))
            )
        others = files_of_others(folder)
        if others:
            raise InputError(
                Fault(
                    f"holds more than a finished demo ({', '.join(others[:3])}), so it is not "
                    "replaced",
                    fix="choose another folder, or remove this one",
                    file=str(folder),
                )
            )
        remove_own_files(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARKER).touch()
