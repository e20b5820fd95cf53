"""The verb import: other people's layouts become a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multirater.cli.options import Overwrite
from multirater.cli.verb import verb

app = typer.Typer(no_args_is_help=True, help="Make a data set of files in another layout.")


@app.command("files")
@verb
def files(
    folder: Annotated[Path, typer.Argument(help="Folder that holds the files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Manifest to write.")],
    label: Annotated[str, typer.Option(help="Such as '{case}_{rater}.png'.")],
    image: Annotated[str, typer.Option(help="Such as '{case}.jpg'.")] = "",
    truth: Annotated[str, typer.Option(help="Such as 'truth/{case}.png'.")] = "",
    overwrite: Overwrite = False,
) -> None:
    """Write a manifest for files that follow a naming pattern; the files stay where they are.

    Patterns are relative to FOLDER; {case} and {rater} stand for any text without a slash, * for
    any text.
    """
    from multirater.io.import_files import import_files

    print(import_files(folder, output, image=image, label=label, truth=truth, overwrite=overwrite))
