"""The verbs report and view."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from multirater.cli.data import opened
from multirater.cli.options import ALL_CORES, Exclude, Gold, Overwrite, Raters, Seed, Workers
from multirater.errors import Fault, InputError

Subjects = Annotated[
    list[Path],
    typer.Argument(
        help="Data set, table of answers, fusion, run or predictions; or several of one data set.",
        show_default=False,
    ),
]


def report(
    path: Subjects,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Page to write, such as report.html.")
    ] = Path("report.html"),
    cases: Annotated[
        str,
        typer.Option(help="Most cases in the page; `all` writes a folder with every one."),
    ] = "500",
    figures: Annotated[
        Path | None,
        typer.Option(help="Folder for figures of a paper, PNG and SVG.", show_default=False),
    ] = None,
    raters: Raters = None,
    exclude: Exclude = None,
    gold: Gold = None,
    seed: Seed = 0,
    workers: Workers = ALL_CORES,
    overwrite: Overwrite = False,
) -> None:
    """Write one page that shows who errs where, and whether the result can be trusted."""
    from multirater.report import write_report

    print(
        write_report(
            path,
            output,
            cases=_cases(cases),
            figures=figures,
            raters=raters,
            exclude=exclude,
            gold=gold,
            seed=seed,
            workers=workers,
            overwrite=overwrite,
        )
    )


def view(
    path: Subjects,
    adjudicate: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Decide the disputed cases of a data set, and keep the decisions here.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 0,
    raters: Raters = None,
    exclude: Exclude = None,
    gold: Gold = None,
    seed: Seed = 0,
    workers: Workers = ALL_CORES,
) -> None:
    """Serve the report on this machine only, with every case, reading images when looked at."""
    if adjudicate is not None:
        from multirater.adjudication import serve_adjudication

        if len(path) > 1 or gold is not None:
            what = "--gold" if gold is not None else str(path[1])
            raise InputError(Fault(f"{what} with --adjudicate", expected="one data set alone"))
        dataset = opened(path[0], raters=raters, exclude=exclude)
        serve_adjudication(dataset, adjudicate, port=port, workers=workers)
        return
    from multirater.report import serve_report

    serve_report(
        path, port=port, raters=raters, exclude=exclude, gold=gold, seed=seed, workers=workers
    )


def _cases(text: str) -> int | Literal["all"]:
    if text == "all":
        return "all"
    if not text.isdecimal() or int(text) < 1:
        raise InputError(Fault(f"--cases {text}", expected="a number above 0, or all"))
    return int(text)


VERBS = (report, view)
