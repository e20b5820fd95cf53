"""The verbs, put together."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from multirater import __version__
from multirater.cli import (
    data,
    evaluating,
    exchanging,
    fusing,
    importing,
    planning,
    recipes,
    reporting,
    training,
)
from multirater.cli.verb import verb

app = typer.Typer(
    name="multirater",
    help="Learn from labels that disagree.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        print(f"multirater {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn from labels that disagree."""


app.command("info")(verb(data.info))
app.command("agreement")(verb(data.agreement))
app.command("simulate")(verb(data.simulate))
app.command("convert")(verb(data.convert))
app.command("export")(verb(exchanging.export))
app.command("fuse")(verb(fusing.fuse))
app.command("plan")(verb(planning.plan))
app.command("train")(verb(training.train))
app.command("predict")(verb(training.predict))
app.command("evaluate")(verb(evaluating.evaluate))
app.command("report")(verb(reporting.report))
app.command("view")(verb(reporting.view))
app.command("demo")(verb(data.demo))
for name in (
    "mnist",
    "ms_lesion",
    "brats",
    "lidc_crops",
    "cityscapes",
    "les_av",
    "qubiq",
    "refuge",
    "riga",
):
    importing.app.command(name.replace("_", "-"))(verb(getattr(recipes, name)))
for tool in exchanging.IMPORTS:
    importing.app.command(tool)(verb(exchanging.import_command(tool)))
app.add_typer(importing.app, name="import")


def _terminated(*_: object) -> None:
    """End as an interruption does: what is half written is cleaned up or kept to go on from."""
    raise SystemExit(128 + signal.SIGTERM)


def main() -> None:
    """Run the command line; an interruption from the keyboard ends it without a traceback."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        app()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output, such as `head`, has seen enough.
        sys.stderr.close()
        sys.exit(0)
