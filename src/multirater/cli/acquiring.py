"""The verb next."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multirater.cli.data import opened
from multirater.cli.options import (
    ALL_CORES,
    Exclude,
    Gold,
    Json,
    Overwrite,
    Raters,
    Seed,
    TrustCode,
    Workers,
)
from multirater.cli.tables import print_json, print_table
from multirater.errors import Fault, InputError

if TYPE_CHECKING:
    from multirater.acquisition.result import NextLabels
    from multirater.types import Dataset

_MOST_ROWS = 40
"""Labels, and raters, that are shown on a screen."""


def next(
    study: Annotated[
        Path,
        typer.Argument(
            help="Data set, or a table of answers (task, rater, label) as CSV.", show_default=False
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Also write to this .csv, or .json as tasks for Label Studio."
        ),
    ] = None,
    budget: Annotated[
        float, typer.Option(help="What the labels may cost together: their number at cost 1.")
    ] = 50,
    cost: Annotated[
        str, typer.Option(help="Of a label, such as anna=2,bert=1; 1 for who is not named.")
    ] = "",
    ask: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Ask these raters only, by commas; what others said counts all the same.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Run folder of a network, which sees the images.", show_default=False),
    ] = None,
    raters: Raters = None,
    exclude: Exclude = None,
    gold: Gold = None,
    seed: Seed = 0,
    workers: Workers = ALL_CORES,
    overwrite: Overwrite = False,
    trust_code: TrustCode = False,
    json: Json = False,
) -> None:
    """Rank who should label what next, why, by how much it should help, and when to stop."""
    import multirater
    from multirater.acquisition.writing import SUFFIXES, write_next_labels
    from multirater.fusion.answer_table import is_answer_table
    from multirater.io.atomic import require_writable
    from multirater.io.results.unread import require_unread

    prices = _prices(cost)
    if output is not None:
        require_writable(output, "labels to ask for", SUFFIXES, overwrite=overwrite)
        require_unread(output, [study, *(each for each in (run, gold) if each is not None)])
    data: Dataset | Path = study
    if not is_answer_table(study):
        data = opened(study, raters=raters, exclude=exclude, gold=gold)
    elif raters or exclude or gold is not None:
        raise InputError(
            Fault(
                "--raters, --exclude or --gold with a table of answers",
                expected="--ask NAMES, or a data set (manifest.csv) of the answers",
            )
        )
    found = multirater.next_labels(
        data,
        budget=budget,
        cost=prices,
        ask=ask,
        run=run,
        seed=seed,
        workers=workers,
        trust_code=trust_code,
    )
    if output is not None:
        images = {} if isinstance(data, Path) else _images(data)
        write_next_labels(found, output, images=images, overwrite=overwrite)
    if json:
        print_json(
            {
                "labels": found.labels,
                "cases": found.cases,
                "raters": found.raters,
                "curve": found.curve,
                "outlook": asdict(found.outlook),
                "advice": found.advice,
            }
        )
        return
    _show(found, output)


def _show(found: NextLabels, output: Path | None) -> None:
    shown = found.labels.head(_MOST_ROWS).drop(columns=["share", "cost", "reason"])
    if len(shown):
        print_table(shown, "Labels to ask for; gain: expected fall of uncertainty, in cases")
    raters = found.raters.sort_values(["asked", "skill"], ascending=False).head(_MOST_ROWS)
    print_table(raters, "Raters: skill as far as it is known, and labels to ask for")
    if max(len(found.labels), len(found.raters)) > _MOST_ROWS:
        print(f"The first {_MOST_ROWS} are shown; --json has all.")
    for sentence in found.advice:
        print(sentence)
    if output is not None:
        print(output)


def _images(data: Dataset) -> dict[str, str]:
    from multirater.io.exporters.outcome import image_names

    with_image = [case for case in data if case.image is not None]
    return image_names(with_image)


def _prices(text: str) -> dict[str, float]:
    """Read `anna=2,bert=1`; a name may hold anything but a comma at its end."""
    prices: dict[str, float] = {}
    for part in [part.strip() for part in text.split(",") if part.strip()]:
        name, _, number = part.rpartition("=")
        try:
            prices[name.strip()] = float(number)
        except ValueError:
            name = ""
        if not name.strip():
            raise InputError(Fault(f"--cost {part}", expected="costs such as anna=2,bert=1"))
    return prices


VERBS = (next,)
