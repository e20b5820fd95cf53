"""What a report is about: a data set, and whatever was made of it.

A report is asked for by paths. Each is a data set, a table of answers, a fusion, a run or a folder
of predictions; results say themselves where their data set is (`origin.json`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from multirater.errors import Fault, InputError
from multirater.evaluation.predictions import Predictions, open_predictions
from multirater.evaluation.scoring import shared_classes
from multirater.fuse.methods import ALWAYS_POOLED
from multirater.io import read_dataset
from multirater.io.formats.guard import missing
from multirater.io.results.layout import CONFIG, FUSION, PREDICTIONS, ResultKind, kind_at
from multirater.io.results.origin import read_origin
from multirater.io.results.statements import read_curves, read_json, read_rater_table, read_trust
from multirater.io.tables.manifest import FILE_NAME as MANIFEST
from multirater.progress import say
from multirater.rater_choice import choose_raters
from multirater.trust import Finding, Trust, findings_from_json
from multirater.types import Classes, Dataset

_GENERIC = {"data", "dataset", "predictions", "fused", "run"}
"""Folder names that say nothing without the folder they are in."""


@dataclass(frozen=True, eq=False)
class Result:
    """Labels that a fusion or a network gave to cases.

    Attributes:
        name: distinct within the report.
        kind: `fusion` or `predictions`.
        dataset: whose only rater is the fusion or the network.
        findings: what speaks against trusting it, as the fusion wrote it down.
    """

    name: str
    kind: Literal["fusion", "predictions"]
    dataset: Dataset
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, eq=False)
class TrainedRun:
    """A training run.

    Attributes:
        name: distinct within the report.
        folder: of the run.
        curves: one row per epoch; empty before the first.
        trust: what training wrote down; None where it did not.
    """

    name: str
    folder: Path
    curves: pd.DataFrame
    trust: Trust | None = None


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything a report is about.

    Attributes:
        title: a short name.
        kinds: what was named, in order.
        dataset: the cases with the raters' labels.
        results: fusions and predictions of these cases.
        runs: training runs.
    """

    title: str
    kinds: tuple[ResultKind, ...]
    dataset: Dataset
    results: tuple[Result, ...] = ()
    runs: tuple[TrainedRun, ...] = ()


@dataclass(eq=False)
class _Found:
    """What was found so far at the paths."""

    kinds: list[ResultKind] = field(default_factory=list)
    dataset: Dataset | None = None
    place: Path | None = None
    origins: list[tuple[Path, Path | None]] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    runs: list[TrainedRun] = field(default_factory=list)


def read_subject(paths: Sequence[str | Path]) -> Subject:
    """Find out what lies at the paths, and open it without reading images.

    Args:
        paths: at least one; at most one data set, and results made from it. Without a data set,
            the one that the results came from is taken, with the cases that the results cover.

    Raises:
        InputError: a path holds nothing of the kind, or the results belong to no data set.
    """
    found = _Found()
    for path in paths:
        _look_at(Path(path), found)
    dataset = found.dataset or _dataset_of(found)
    if not dataset.cases:
        raise InputError(Fault("no case to report on", expected="at least one"))
    return Subject(
        _title(found.place or Path(paths[0])),
        tuple(found.kinds),
        dataset,
        tuple(_distinct(found.results)),
        tuple(_distinct(found.runs)),
    )


def open_results(subject: Subject, classes: Classes) -> dict[str, Predictions]:
    """Find everything that the results of a subject say, by result, without reading images.

    Args:
        subject: of a report.
        classes: of its data set, in whose order labels come.

    Raises:
        InputError: a result has other classes, or another kind of labels.
    """
    data = replace(subject.dataset, classes=classes)
    return {
        each.name: open_predictions(
            each.dataset, None, shared_classes(each.dataset, data), data.raters
        )
        for each in subject.results
    }


def _look_at(path: Path, found: _Found) -> None:
    if not path.exists():
        raise missing(path)
    kind = kind_at(path)
    found.kinds.append(kind)
    if kind == "data set":
        if found.dataset is not None:
            raise InputError(
                Fault(
                    "is a second data set",
                    expected="one data set, and results made from it",
                    fix="write a report for each",
                    file=str(path),
                )
            )
        found.place = path
        found.dataset = read_dataset(path)
        return
    origin = read_origin(path)
    found.origins.append((path, origin.get("data")))
    if kind == "fusion":
        found.results.append(_fusion(path))
    elif kind == "predictions":
        found.results.append(_predictions(path, origin.get("run")))
    else:
        found.runs.append(_run(path))
        if (path / PREDICTIONS / MANIFEST).is_file():
            found.results.append(_predictions(path / PREDICTIONS, path))


def _dataset_of(found: _Found) -> Dataset:
    """Open the data set that the results came from; predictions alone are cases of their own."""
    for path, place in found.origins:
        if place is not None and os.path.exists(place):  # noqa: PTH110, for names too long
            _tell_if_elsewhere(path, place)
            dataset = read_dataset(place)
            named = {case.name for result in found.results for case in result.dataset}
            kept = tuple(case for case in dataset if case.name in named or not named)
            made_of = _raters_behind(path for path, _ in found.origins)
            chosen = [rater for rater in dataset.raters if rater in made_of]
            return choose_raters(replace(dataset, cases=kept), chosen)
    if found.kinds[0] == "predictions":
        own = found.results[0].dataset
        return replace(own, cases=tuple(replace(c, labels={}) for c in own), raters=())
    path, place = found.origins[0]
    raise InputError(
        Fault(
            "does not say where the raters' labels are"
            if place is None
            else f"was made from {place}, which is not there any more",
            expected="the data set beside it",
            fix=f"name the data set too: multirater report DATA {path} -o report.html",
            file=str(path),
        )
    )


def _tell_if_elsewhere(result: Path, data: Path) -> None:
    """Say which data set is shown: a result from somebody else may name any of this machine."""
    if not data.resolve().is_relative_to(result.resolve().parent):
        say(f"{result} says that its data set is {data.resolve()}, which is shown")


def _raters_behind(results: Iterable[Path]) -> set[str]:
    """Return whose labels results were made of: some may have been left out."""
    tables = [read_rater_table(path) for path in results]
    return {str(rater) for table in tables if table is not None for rater in table.index}


def _fusion(path: Path) -> Result:
    settings = read_json(path / FUSION)
    if not (path / MANIFEST).is_file():
        raise InputError(
            Fault("was not finished", fix="go on with multirater fuse --resume", file=str(path))
        )
    name = str(settings.get("method", path.name))
    extra = ["pooled"] if settings.get("pooled") and name not in ALWAYS_POOLED else []
    options, notes = settings.get("options"), settings.get("notes")
    extra += [str(key).replace("_", " ") for key in (options if isinstance(options, dict) else ())]
    # What was chosen for the study is called by its method alone, as the terminal does.
    named = f"{name} ({', '.join(extra)})" if extra and not settings.get("why") else name
    findings = findings_from_json(settings.get("findings"))
    # Fusions of version 0.1 that were made before findings had a form hold sentences.
    said = notes if isinstance(notes, list) else ()
    findings += tuple(Finding("caution", str(note)) for note in said)
    return Result(named, "fusion", read_dataset(path), findings)


def _predictions(path: Path, run: Path | None) -> Result:
    name = "network"
    if run is not None and os.path.isfile(run / CONFIG):  # noqa: PTH113, for names too long
        name = _run_name(run)
    return Result(name, "predictions", read_dataset(path))


def _run(path: Path) -> TrainedRun:
    return TrainedRun(_run_name(path), path, read_curves(path), read_trust(path))


def _run_name(run: Path) -> str:
    return f"network {read_json(run / CONFIG).get('method', run.name)}"


def _distinct(items: Sequence[Any]) -> list[Any]:
    """Number what has the same name."""
    seen: dict[str, int] = {}
    named = []
    for item in items:
        seen[item.name] = seen.get(item.name, 0) + 1
        count = seen[item.name]
        named.append(item if count == 1 else replace(item, name=f"{item.name} #{count}"))
    return named


def _title(path: Path) -> str:
    place = path.resolve()
    if place.is_file() and place.name != MANIFEST:
        return place.stem
    place = place.parent if place.is_file() else place
    return f"{place.parent.name}/{place.name}" if place.name in _GENERIC else place.name
