"""The verb plan, and what train takes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multirater.cli.data import opened
from multirater.cli.options import Exclude, Raters
from multirater.errors import Fault, InputError

Memory = Annotated[
    str,
    typer.Option(
        "--memory",
        help="Budget of memory, such as 6GB.",
        show_default="what is free, less a reserve",
        rich_help_panel="Machine",
    ),
]


def plan(
    data: Annotated[Path, typer.Argument(help="Data set: a folder or its manifest.csv.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write.", show_default=False)
    ] = None,
    memory: Memory = "",
    raters: Raters = None,
    exclude: Exclude = None,
    json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Look at a data set and decide how to train on it, with the reason of every decision.

    `train` does the same by itself; with -o the plan can be looked at, edited, and given to `train
    --plan`.
    """
    import multirater
    from multirater.training.plan_files import plan_json, write_plan

    if output is not None and output.exists():
        raise InputError(Fault("already exists", fix="choose another name", file=str(output)))
    dataset = opened(data, raters=raters, exclude=exclude)
    made = multirater.plan(dataset, memory=memory or None)
    if output is not None:
        write_plan(made, output)
    print(plan_json(made) if json else made.as_text())


VERBS = (plan,)
