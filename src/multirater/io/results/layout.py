"""What lies where in the folders of results.

A fusion:     labels/<case>, probability/<case>, and the tables; known by `fusion.json`.
Predictions:  truth/<case>, probability/<case>, entropy/<case>, raters/<rater>/<case>,
              confusion/<rater>/<case>, recurrences/<number>/<case>, and the tables.
A run:        `config.json`, `data.json`, checkpoints/, fold-<n>/, predictions/, what is said of it.

Fusions and predictions are data sets whose only rater is the method or the network: their manifest
names the labels, so that everything that reads data sets reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from multirater.io.formats.suffixes import READABLE, suffix_of
from multirater.io.naming import file_names
from multirater.io.results.origin import read_origin
from multirater.io.tables.manifest import FILE_NAME as MANIFEST
from multirater.io.tables.manifest import read_rows

ResultKind: TypeAlias = Literal["data set", "fusion", "run", "predictions"]

FUSION = "fusion.json"
CASES_PARQUET = "cases.parquet"
"""What is said of each case of a large table."""

RATERS, CASES, CURVES, SEEDS = "raters.csv", "cases.csv", "curves.csv", "seeds.csv"
CONFIG, DATA, PLAN, TRUST = "config.json", "data.json", "plan.json", "trust.json"
DIGESTS = "digests.json"
"""Of the labels and the image of every case, as they were when a run began."""

CHECKPOINTS, PREDICTIONS = "checkpoints", "predictions"
BEST, LAST = "best.ckpt", "last.ckpt"
"""Checkpoints of the epoch that was kept, and of the last, to go on from."""

NETWORK = "network"
"""The name by which a network is the rater of its predictions."""

_LABELS = {"fusion": "labels", "predictions": "truth"}
_PROBABILITY, _ENTROPY, _DRAWN = "probability", "entropy", "raters"
_CONFUSION, _RECURRENCES = "confusion", "recurrences"
_RASTER = {".png", ".jpg", ".jpeg"}


def kind_at(path: Path) -> ResultKind:
    """Tell what a path holds, without reading it whole."""
    if (path / FUSION).is_file():
        return "fusion"
    if (path / CONFIG).is_file() and (path / DATA).is_file():
        return "run"
    if (path / MANIFEST).is_file() and ("run" in read_origin(path) or _is_by_network(path)):
        return "predictions"
    return "data set"


def fold_folder(run: Path, number: int) -> Path:
    """Return the folder of a fold, counted from 0."""
    return run / f"fold-{number + 1}"


def fold_folders(run: Path) -> list[Path]:
    """Return the folders of the folds that say how far they can be trusted, in order."""
    return [each.parent for each in sorted(run.glob(f"fold-*/{TRUST}"))]


def label_cell(of: Literal["fusion", "predictions"], name: str, suffix: str) -> str:
    """Return where the label of a case lies, as a manifest says it."""
    return f"{_LABELS[of]}/{name}{suffix}"


def probability_cell(name: str, suffix: str) -> str:
    """Return where class probabilities lie, in a format that holds them; `suffix` of the label."""
    return f"{_PROBABILITY}/{name}{_suffix_of_maps(suffix)}"


def entropy_cell(name: str, suffix: str) -> str:
    """Return where the entropy of class probabilities lies."""
    return f"{_ENTROPY}/{name}{_suffix_of_maps(suffix)}"


def rater_cell(rater: str, name: str, suffix: str) -> str:
    """Return where the label lies that a rater is predicted to draw; `rater` as a file name."""
    return f"{_DRAWN}/{rater}/{name}{suffix}"


def confusion_cell(rater: str, name: str, suffix: str) -> str:
    """Return where the confusion matrix maps of a rater lie."""
    return f"{_CONFUSION}/{rater}/{name}{_suffix_of_maps(suffix)}"


def recurrence_cell(number: int, name: str, suffix: str) -> str:
    """Return where class probabilities after a recurrence lie."""
    return f"{_RECURRENCES}/{number}/{name}{_suffix_of_maps(suffix)}"


def drawn_folder(folder: Path) -> Path:
    """Return where predictions of what raters draw lie."""
    return folder / _DRAWN


def drawn_files(folder: Path, raters: Sequence[str]) -> dict[str, dict[str, Path]]:
    """List what raters are predicted to draw, by rater and by file name without suffix."""
    return _files_by_rater(folder / _DRAWN, raters)


def confusion_files(folder: Path, raters: Sequence[str]) -> dict[str, dict[str, Path]]:
    """List confusion matrix maps, by rater and by file name without suffix."""
    return _files_by_rater(folder / _CONFUSION, raters)


def probability_files(folder: Path) -> dict[str, Path]:
    """List class probabilities by file name without suffix; none when there are none."""
    return _files_in(folder / _PROBABILITY)


def recurrence_files(folder: Path) -> list[dict[str, Path]]:
    """List class probabilities after each recurrence, whose folders are numbered from 0."""
    numbered = [folder / _RECURRENCES / str(number) for number in range(100)]
    return [_files_in(each) for each in numbered if each.is_dir()]


def without_suffix(path: Path) -> str:
    """Return the name that all files of a case share."""
    return path.name[: len(path.name) - len(suffix_of(path))]


def _suffix_of_maps(suffix: str) -> str:
    """Return the format for maps of numbers beside labels of a format."""
    if suffix in _RASTER:
        return ".tif"
    return ".nii.gz" if suffix == ".dcm" else suffix


def _is_by_network(folder: Path) -> bool:
    return {row.rater for row in read_rows(folder / MANIFEST, []) if row.rater} == {NETWORK}


def _files_by_rater(folder: Path, raters: Sequence[str]) -> dict[str, dict[str, Path]]:
    """List files by rater and by name; folders go by the raters' file names."""
    if not folder.is_dir():
        return {}
    names = {file: rater for rater, file in file_names(raters).items()}
    return {
        names.get(entry.name, entry.name): _files_in(entry)
        for entry in sorted(folder.iterdir())
        if entry.is_dir()
    }


def _files_in(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        return {}
    return {
        without_suffix(file): file
        for file in sorted(folder.iterdir())
        if suffix_of(file) in READABLE and not file.name.startswith(".")
    }
