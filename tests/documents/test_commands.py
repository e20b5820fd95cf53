"""Commands and code in the documents: what they name is there."""

import re
import shlex
from pathlib import Path

import click
import pytest
import typer

from multirater.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = typer.main.get_command(app)


def fences(page, *languages):
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return [body for language, body in found if language in languages]


def commands():
    """Yield every command line of the documents that begins with `multirater`."""
    for page in PAGES:
        for body in fences(page, "sh", "console"):
            for line in body.replace("\\\n", " ").splitlines():
                words = shlex.split(line.removeprefix("$ "), comments=True)
                if words[:1] == ["multirater"]:
                    name = page.relative_to(ROOT).as_posix()
                    yield pytest.param(words[1:], id=f"{name}: {' '.join(words[1:4])}")


def parse(command, name, words):
    """Have click read words as it would, without running anything."""
    context = command.make_context(name, list(words), resilient_parsing=False)
    if isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        _, inner, words = command.resolve_command(context, rest)
        parse(inner, f"{name} {rest[0]}", words)


@pytest.mark.parametrize("words", list(commands()))
def test_every_command_of_the_documents_can_be_given(words):
    if words[0].startswith("--"):  # they act as soon as they are read, one on the user's shell
        context = click.Context(COMMAND)
        known = {name for option in COMMAND.get_params(context) for name in option.opts}
        assert words[0] in known
    else:
        parse(COMMAND, "multirater", words)


@pytest.mark.parametrize("page", [p for p in PAGES if fences(p, "python")], ids=lambda p: p.stem)
def test_code_of_the_documents_imports_what_is_there(page):
    for body in fences(page, "python"):
        compile(body, str(page), "exec")
        for line in re.findall(r"^(?:from|import) multirater.*$", body, flags=re.MULTILINE):
            exec(line, {})
