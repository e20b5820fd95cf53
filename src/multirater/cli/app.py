"""The verbs, put together."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated

import typer

from multirater import cli
from multirater.cli import exchanging, importing, recipes
from multirater.cli.verb import verb
from multirater.tools import IMPORTS

app = typer.Typer(
    name="multirater",
    help="Learn from labels that disagree.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from multirater.doctor import version_line

        print(version_line())
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the versions.")
    ] = False,
) -> None:
    """Learn from labels that disagree."""


_ON_THE_WAY = (
    *("data", "exchanging", "fusing", "acquiring", "planning"),
    *("training", "evaluating", "reporting"),
)
"""Files of verbs in the order in which `--help` shows them; others follow by name."""


def _handlers() -> Iterator[Callable[..., None]]:
    """Yield the `VERBS` of every file of this folder that has some."""
    found = {each.name for each in iter_modules(cli.__path__)}
    for name in (*_ON_THE_WAY, *sorted(found.difference(_ON_THE_WAY, {"app"}))):
        yield from getattr(import_module(f"multirater.cli.{name}"), "VERBS", ())


for handler in _handlers():
    app.command(handler.__name__)(verb(handler))
for recipe in recipes.RECIPES:
    importing.app.command(recipe.__name__.replace("_", "-"))(verb(recipe))
for tool in IMPORTS:
    importing.app.command(tool)(verb(exchanging.import_command(tool)))
app.add_typer(importing.app, name="import")


_PIPE_CLOSED = 128 + 13  # SIGPIPE, which not every system has


def _terminated(*_: object) -> None:
    """End as an interruption does: what is half written is cleaned up or kept to go on from."""
    raise SystemExit(128 + signal.SIGTERM)


def _make_streams_safe() -> None:
    """Let no name, and no stream that was closed, end a verb: what cannot be shown is spelt out."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _status() -> int | str | None:
    """Run a verb and return the status with which it ends."""
    try:
        app()
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # which Typer turns into 1
            raise ended.__context__ from None
        return ended.code
    return 0


def _nobody_reads() -> None:
    """Let nothing more be written, so that the end is quiet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def main() -> None:
    """Run the command line; whoever interrupts it, or stops to read it, sees no traceback."""
    signal.signal(signal.SIGTERM, _terminated)
    _make_streams_safe()
    try:
        status = _status()
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = 130
    except BrokenPipeError:
        # Whoever read our output, such as `head`, has seen enough: end as other programs do.
        _nobody_reads()
        status = _PIPE_CLOSED
    sys.exit(status)
