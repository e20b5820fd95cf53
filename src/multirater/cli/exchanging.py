"""The verbs import and export for labelling tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from multirater.cli.options import Data, Exclude, Overwrite, Raters, Stray
from multirater.tools import EXPORTS, IMPORTS

Sources = Annotated[list[Path], typer.Argument(help="What the tool exported.", show_default=False)]
Images = Annotated[
    Path | None,
    typer.Option("--images", help="Folder with the images; they stay there.", show_default=False),
]
Study = Annotated[
    Path, typer.Option("--output", "-o", help="Data set to write.", show_default=False)
]
Unseen = Annotated[
    Literal["missing", "empty"] | None,
    typer.Option(
        "--unseen",
        help="An image without a mark, where the tool cannot tell: not looked at, or nothing "
        "there.",
        show_default=False,
    ),
]
ClassNames = Annotated[
    str, typer.Option("--classes", help="Names in order, by commas.", show_default=False)
]


def import_command(tool: str) -> Callable[..., None]:
    """Return the handler of `multirater import TOOL`."""

    def run(
        sources: Sources,
        output: Study,
        images: Images = None,
        unseen: Unseen = None,
        classes: ClassNames = "",
        stray: Stray = None,
        overwrite: Overwrite = False,
    ) -> None:
        from multirater.io.importers.study import import_study

        names = [name.strip() for name in classes.split(",") if name.strip()]
        found = import_study(
            tool,
            sources,
            output,
            images=images,
            unseen=unseen,
            classes=names,
            stray=stray,
            overwrite=overwrite,
        )
        print(found)

    run.__doc__ = f"""Make a data set of {IMPORTS[tool]}

    Each rater's work becomes a mask, or a class label; see docs/tools. Everything wrong is
    listed with the tool's own numbers, and nothing is written then.
    """
    return run


def export(
    data: Data,
    to: Annotated[str, typer.Option("--to", help=f"One of {', '.join(EXPORTS)}.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File or folder to write.", show_default=False)
    ],
    raters: Raters = None,
    exclude: Exclude = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a fusion, or the labels of a study, so that a labelling tool can read them."""
    from multirater.cli.data import opened
    from multirater.io.exporters.exporting import export_dataset

    dataset = opened(data, raters=raters, exclude=exclude)
    print(export_dataset(dataset, to, output, overwrite=overwrite))


VERBS = (export,)
