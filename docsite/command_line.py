"""The page of the command line, made from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from multirater.cli.app import app


def command_line_page() -> str:
    """Return a page in Markdown: every verb, what it does, its arguments and options."""
    root: Any = typer.main.get_command(app)
    return "\n".join(["# Command line", "", *_introduction(root), *_verbs(root, "multirater")])


def _introduction(root: Any) -> Iterator[str]:
    yield "`multirater VERB --help` says the same. Every verb takes `--quiet`, `--verbose` and"
    yield "`--debug`. The status is 0, or 2 when the input cannot be used."
    yield ""
    yield "| verb | what it does |"
    yield "| --- | --- |"
    for name, each in root.commands.items():
        yield f"| `{name}` | {_first_line(each.help)} |"
    yield ""


def _verbs(group: Any, words: str) -> Iterator[str]:
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from _verbs(each, f"{words} {name}")
            continue
        yield f"## {words} {name}"
        yield ""
        yield " ".join((each.help or "").split("\f")[0].split())
        yield ""
        yield "| argument or option | what it is |"
        yield "| --- | --- |"
        for parameter in each.params:
            if parameter.name not in ("quiet", "verbose", "debug"):
                yield f"| {_names(parameter)} | {_cell(parameter.help)} |"
        yield ""


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    return ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;")


def _first_line(text: str | None) -> str:
    return _cell((text or "").strip().split("\n\n")[0])
