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


def main() -> None:
    """Run the command line; an interruption from the keyboard ends it without a traceback."""
    signal.signal(signal.SIGTERM, _terminated)
    _make_streams_safe()
    try:
        app()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output, such as `head`, has seen enough.
        sys.stderr.close()
        sys.exit(0)
