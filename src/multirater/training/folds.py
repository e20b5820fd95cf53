"""Folds: a network for each, which predicts the cases that it has not seen.

RUN/fold-1/ ...              a run each, with its predictions of the cases held out
RUN/predictions/manifest.csv all of them: every case predicted by a network that never saw it
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from multirater.io import read_dataset
from multirater.io.new_folder import new_folder
from multirater.io.results.layout import PREDICTIONS, fold_folder
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import FILE_NAME as MANIFEST
from multirater.io.tables.manifest import cell_of, read_rows
from multirater.io.tables.table_check import Files
from multirater.progress import say
from multirater.training.config import TrainConfig
from multirater.training.methods import split_as_trained
from multirater.training.prediction import predict
from multirater.training.processes import is_first_process
from multirater.training.run_folder import Run
from multirater.types import Case, Classes, Dataset


def train_folds(
    dataset: Dataset,
    target: Path,
    config: TrainConfig,
    classes: Classes,
    fit: Callable[[Path, TrainConfig], Run],
) -> list[Run]:
    """Train every fold that is not finished, and predict the cases it held out.

    Args:
        dataset: of the run.
        target: run folder.
        config: of the run.
        classes: of the predictions.
        fit: trains one fold into a folder.
    """
    runs = []
    for number in range(config.folds):
        own = replace(config, fold=number)
        say(f"fold {number + 1} of {config.folds}")
        folder = fold_folder(target, number)
        runs.append(fit(folder, own))
        if not is_first_process():
            continue
        names = {case.name for case in split_as_trained(dataset, own)[1]}
        unseen = replace(dataset, cases=tuple(case for case in dataset if case.name in names))
        predict(folder, unseen, folder / PREDICTIONS, overwrite=True)
    if dataset.kind == "masks" and is_first_process():
        _gather(target, config.folds, classes)
    return runs


def unseen_answers(target: Path) -> dict[str, Case]:
    """Return each case as the fold predicted it that was not trained on it, by name.

    Args:
        target: run folder; nothing is known where it holds no folds of drawings.
    """
    together = target / PREDICTIONS
    if not (together / MANIFEST).is_file():
        return {}
    return {case.name: case for case in read_dataset(together)}


def _gather(target: Path, folds: int, classes: Classes) -> None:
    """Name the predictions of all folds in one manifest."""
    together = target / PREDICTIONS
    rows = []
    for number in range(folds):
        folder = fold_folder(target, number) / PREDICTIONS
        files = Files(folder)
        for row in read_rows(folder / MANIFEST, []):
            cells = {name: _moved(getattr(row, name), files, together) for name in _PATHS}
            rows.append(replace(row, **cells))
    with new_folder(together, overwrite=True) as part:
        write_dataset_tables(part, rows, classes)


_PATHS = ("image", "label", "truth")


def _moved(cell: str, before: Files, now: Path) -> str:
    return cell_of([before.path(part) for part in before.parts(cell)], now)
