"""The verb evaluate."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from multirater.cli.data import opened
from multirater.cli.options import (
    ALL_CORES,
    Csv,
    Exclude,
    Json,
    Overwrite,
    Raters,
    Resamples,
    Seed,
    Split,
    Workers,
)
from multirater.cli.tables import plain, print_json, print_table
from multirater.errors import Fault, InputError

if TYPE_CHECKING:
    import pandas as pd

    from multirater.types import Dataset

    Result: TypeAlias = tuple[dict[str, Any], list[tuple[pd.DataFrame, str]]]
    """What machines get by name, and the tables people see with their titles."""


_SUFFIXES = {".json": "everything", ".csv": "the scores"}

_FIRST = (
    *("Dice", "IoU", "accuracy", "Dice with majority vote", "accuracy with majority vote"),
    *("Dice with raters", "accuracy with raters"),
)
"""Measures whose differences are shown; --json has all."""

SIZES = "Sizes: bias is predicted minus theirs, 95% of differences from lower to upper"


def evaluate(
    predictions: Annotated[
        list[Path],
        typer.Argument(
            help="Folder written by predict or fuse; several (methods, or one per seed) give mean, "
            "std and paired differences.",
            show_default=False,
        ),
    ],
    reference: Annotated[
        Path | None,
        typer.Option(
            help="Data set with truth or labels; the truth in the predictions' table if left out.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write to this .json or .csv file."),
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    resamples: Resamples = 1000,
    raters: Raters = None,
    exclude: Exclude = None,
    split: Split = "",
    seed: Seed = 0,
    json: Json = False,
    csv: Csv = False,
    workers: Workers = ALL_CORES,
    overwrite: Overwrite = False,
) -> None:
    """Compare predictions with the truth and the raters: Dice, IoU, confusion, consensus."""
    if output is not None:
        from multirater.io.atomic import require_writable
        from multirater.io.results.unread import require_unread

        require_writable(output, "results", _SUFFIXES, overwrite=overwrite)
        require_unread(output, [*predictions, *([] if reference is None else [reference])])
    if reference is None and (raters or exclude):
        raise InputError(
            Fault(
                "--raters and --exclude without --reference",
                expected="a data set whose raters to choose from",
                fix="name it: --reference DATA",
            )
        )
    known = None
    if reference is not None:
        known = opened(reference, split, raters=raters, exclude=exclude)
    seeds = [opened(each, split if known is None else "") for each in predictions]
    draws: dict[str, Any] = {"level": level, "n_resamples": resamples, "seed": seed}
    if len(seeds) > 1:
        named = dict(zip(_distinct(predictions), seeds, strict=True))
        content, shown = _several(named, known, workers, draws)
    else:
        content, shown = _one(seeds[0], known, workers, draws)
    if output is not None:
        _write(content, output, overwrite)
    if json:
        print_json(content)
    elif csv:
        from multirater.io.tables.result_table import print_result_table

        print_result_table(content["scores"], sys.stdout)
    else:
        for table, title in shown:
            print_table(table, title)


def _one(
    predictions: Dataset, known: Dataset | None, workers: int, draws: dict[str, Any]
) -> Result:
    from multirater.evaluation.scoring import evaluate
    from multirater.progress import say

    found = evaluate(predictions, known, workers=workers, **draws)
    for note in found.notes:
        say(f"note: {note}")
    shown = [(found.scores, f"Means over cases, with {found.level:.0%} intervals")]
    if len(found.raters):
        shown.append((_wide(found.raters), "Each rater"))
    if found.groups.drop(index="unknown")["n_cases"].any():
        shown.append((found.groups, "By consensus level"))
    if len(found.sizes):
        shown.append((_shown_sizes(found.sizes), SIZES))
    return {each.name: getattr(found, each.name) for each in fields(found)}, shown


def _several(
    named: dict[str, Dataset], known: Dataset | None, workers: int, draws: dict[str, Any]
) -> Result:
    from multirater.evaluation.differences import paired_differences
    from multirater.evaluation.scoring import evaluate, mean_over_seeds

    found = {
        name: evaluate(each, known, workers=workers, n_resamples=1) for name, each in named.items()
    }
    table = mean_over_seeds({"predictions": list(found.values())}).droplevel("method")
    differences = paired_differences(found, **draws)
    first = [name for name in _FIRST if name in differences.index.get_level_values("measure")]
    shown = differences[differences.index.get_level_values("measure").isin(first)]
    tables = [(table, f"Mean and standard deviation over {len(found)} predictions")]
    if len(shown):
        title = f"Paired differences on common cases, with {draws['level']:.0%} intervals"
        tables.append((shown, title))
    return {"scores": table, "differences": differences}, tables


def _distinct(paths: list[Path]) -> list[str]:
    """Name predictions by their folders, with as much of the path as tells them apart."""
    for depth in range(1, 4):
        names = ["/".join(path.resolve().parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{number}: {path}" for number, path in enumerate(paths, start=1)]


def _shown_sizes(sizes: pd.DataFrame) -> pd.DataFrame:
    first = ["against", "class", "n_cases", "mean predicted", "mean"]
    return sizes[[*first, "bias", "bias_low", "bias_high", "lower", "upper", "unit"]]


def _wide(raters: pd.DataFrame) -> pd.DataFrame:
    """One row per rater, one column per measure over all classes."""
    value = raters["value"].xs("all", level="class")
    measures = list(dict.fromkeys(value.index.get_level_values("measure")))
    names = list(dict.fromkeys(value.index.get_level_values("rater")))
    return value.unstack("measure").loc[names, measures].rename_axis(columns=None)


def _write(content: dict[str, Any], path: Path, overwrite: bool) -> None:
    from json import dumps

    from multirater.io.atomic import replacing
    from multirater.io.tables.result_table import print_result_table

    with replacing(path, overwrite=overwrite) as temporary:
        if path.suffix.lower() == ".csv":
            print_result_table(content["scores"], temporary)
        else:
            text = dumps(plain(content), indent=2, allow_nan=False, ensure_ascii=False)
            temporary.write_text(text + "\n", encoding="utf-8")


VERBS = (evaluate,)
