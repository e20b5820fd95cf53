"""Arguments and options that several verbs share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

Data = Annotated[
    Path, typer.Argument(help="Data set: a folder or its manifest.csv.", show_default=False)
]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Folder to write.", show_default=False)
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there already.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Workers = Annotated[
    int, typer.Option("--workers", "-j", min=1, max=1024, help="Number of processes.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")]
Resamples = Annotated[
    int, typer.Option("--resamples", max=1_000_000, help="Draws behind the intervals.")
]
Raters = Annotated[
    list[str] | None,
    typer.Option(
        "--raters",
        metavar="NAMES",
        help="Use these raters only: names separated by commas, or group=NAME by raters.csv.",
        show_default=False,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="NAME",
        help="Leave this rater out; several by commas, or by repeating it.",
        show_default=False,
    ),
]
Gold = Annotated[
    Path | None,
    typer.Option(
        "--gold",
        metavar="FOLDER",
        help="Labels that stand: decisions of `view --adjudicate`, or a data set of one rater.",
        show_default=False,
    ),
]
TrustCode = Annotated[
    bool,
    typer.Option(
        "--trust-code",
        help="Run the code of a run's own backbone; only if you trust who made it.",
    ),
]
Split = Annotated[str, typer.Option("--split", help="Use the cases of this split only.")]

Stray = Annotated[
    Literal["nearest", "missing"] | None,
    typer.Option(
        "--stray",
        help="Read pixel values that stand for no class as the nearest that does, or as not "
        "labelled; at most a tenth of a file.",
        show_default=False,
    ),
]

ALL_CORES = os.cpu_count() or 1
