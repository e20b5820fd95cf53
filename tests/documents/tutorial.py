"""Run a tutorial as its reader would, and hold its page against what happens.

A tutorial is Markdown. Its fences `console` hold commands (`$ multirater ...`, `$ cat FILE`,
`$ head -N FILE`) with their output below, `python` code in one namespace with what it prints in the
fence `text` that follows. A comment `<!-- picture: FILE -->` before an image says which file of the
working folder it shows, `<!-- page: FILE -->` a page to take a picture of. A line `...` stands for
lines of an output that are not shown.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"^```(?P<kind>console|python|text)\n(?P<body>.*?)^```$"
    r"|^<!-- (?P<what>picture|page): (?P<file>.+?) -->\n"
    r"!\[(?P<words>[^\]]*)\]\((?P<target>[^)]+)\)",
    flags=re.MULTILINE | re.DOTALL,
)
_PROGRESS = re.compile(r": \d+ of \d+(, about .* left)?$")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")

Run = Callable[..., tuple[int, str]]
"""Runs `multirater` with words; returns status and what is on the screen."""


@dataclass(frozen=True)
class Step:
    """One block of a tutorial: as it stands in the page, and as it ran."""

    kind: str
    code: str
    shown: str
    output: str
    start: int
    end: int

    @property
    def is_true(self) -> bool:
        """Whether what the page shows is what came out."""
        return matches(self.shown, self.output)


def run_tutorial(text: str, folder: Path, run: Run) -> list[Step]:
    """Run all blocks of a tutorial in a folder, in order."""
    steps: list[Step] = []
    names: dict[str, object] = {"__name__": "tutorial"}
    printed = ""
    for found in _BLOCK.finditer(text):
        kind, body = found["kind"] or found["what"], found["body"] or ""
        if kind == "console":
            for command, shown, start, end in _commands(body, found.start("body")):
                output = _run_command(command, folder, run)
                steps.append(Step(kind, command, shown, output, start, end))
        elif kind == "python":
            printed = _run_python(body, names)
            steps.append(Step(kind, body, "", "", found.start("body"), found.end("body")))
        elif kind == "text":
            place = (found.start("body"), found.end("body"))
            steps.append(Step(kind, "", body, printed, *place))
        else:
            target = found["target"]
            steps.append(Step(kind, found["file"], target, found["words"], *found.span()))
    return steps


def run_notebook(notebook: str, folder: Path, run: Run) -> list[Step]:
    """Run all cells of a notebook, from its JSON, in a folder and in order."""
    steps = []
    names: dict[str, object] = {"__name__": "notebook"}
    for cell in json.loads(notebook)["cells"]:
        if cell["cell_type"] == "code":
            code = "".join(cell["source"])
            shown = "".join(line for each in cell["outputs"] for line in each["text"])
            is_command = code.startswith("!")
            output = _run_command(code[1:], folder, run) if is_command else _run_python(code, names)
            steps.append(Step("console" if is_command else "text", code, shown, output, 0, 0))
    return steps


def _commands(body: str, offset: int) -> Iterator[tuple[str, str, int, int]]:
    """Yield each command of a fence with what is shown below it, and where that stands."""
    starts = [found.start() for found in re.finditer(r"^\$ ", body, flags=re.MULTILINE)]
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        lines = body[start:end].splitlines(keepends=True)
        n = next(k for k, line in enumerate(lines, 1) if not line.endswith("\\\n"))
        command = "".join(lines[:n])
        shown = "".join(lines[n:])
        begin = offset + start + len(command)
        yield command[2:].replace("\\\n", " ").strip(), shown, begin, begin + len(shown)


def _run_command(command: str, folder: Path, run: Run) -> str:
    program, *words = shlex.split(command, comments=True)
    if program == "multirater":
        status, output = run(*words)
        assert status == 0, f"{command}\n{output}"
        return _tidy(output, folder)
    text = (folder / words[-1]).read_text(encoding="utf-8")
    if program == "cat":
        return text
    assert program == "head", f"tutorials do not run {program}"
    return "".join(text.splitlines(keepends=True)[: int(words[0].lstrip("-n"))])


def _run_python(code: str, names: dict[str, object]) -> str:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, "tutorial", "exec"), names)
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def _tidy(output: str, folder: Path) -> str:
    text = output.replace(f"{folder}/", "")
    lines = [line.rstrip() for line in text.splitlines() if not _PROGRESS.search(line)]
    return "".join(f"{line}\n" for line in lines).strip("\n") + "\n" if any(lines) else ""


def matches(shown: str, output: str) -> bool:
    """Whether an output is what was shown: words alike, numbers close, `...` any lines.

    Numbers of other processors and versions differ in the last digits.
    """
    pieces = [piece.strip("\n") for piece in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)]
    place = 0
    masked, numbers = _masked(output)
    for piece in pieces:
        words, expected = _masked(piece)
        found = masked.find(words, place)
        if found < 0 or (len(pieces) == 1 and masked.strip() != words.strip()):
            return False
        first = masked[:found].count("#")
        actual = numbers[first : first + len(expected)]
        if not all(_close(a, b) for a, b in zip(expected, actual, strict=True)):
            return False
        place = found + len(words)
    return True


def _masked(text: str) -> tuple[str, list[float]]:
    text = text.replace("#", "")
    numbers = [float(each) for each in _NUMBER.findall(text)]
    spaced = re.sub(r"[─ ]+", " ", _NUMBER.sub("#", text))
    return re.sub(r" *\n *", "\n", spaced), numbers


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= max(0.03, 0.05 * abs(a))


def rewritten(text: str, steps: list[Step]) -> str:
    """Return the page with what came out instead of what it showed; `...` stays as it is."""
    for step in reversed(steps):
        if step.kind in ("console", "text") and not re.search(r"^\.\.\.$", step.shown, flags=re.M):
            text = text[: step.start] + step.output + text[step.end :]
    return text


def keep_pictures(page: Path, steps: list[Step], folder: Path) -> None:
    """Copy the pictures that a tutorial made to where its page shows them."""
    for step in steps:
        target = page.parent / step.shown
        if step.kind == "picture":
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / step.code, target)
        elif step.kind == "page" and shutil.which("chromium"):
            take_picture(folder / step.code, target)


def take_picture(page: Path, target: Path, size: str = "1200,1000") -> None:
    """Take a picture of a page in headless Chromium."""
    target.parent.mkdir(parents=True, exist_ok=True)
    words = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={size}"]
    words += ["--virtual-time-budget=4000", f"--screenshot={target}", page.as_uri()]
    subprocess.run(["chromium", *words], check=True, capture_output=True, env={**os.environ})


def notebook_of(text: str, title: str) -> str:
    """Return a tutorial as a notebook, with its outputs, as JSON."""
    cells: list[dict[str, object]] = []
    place = 0
    for found in _BLOCK.finditer(text):
        if not found["kind"]:
            continue
        _add_words(cells, text[place : found.start()])
        place = found.end()
        if found["kind"] == "console":
            for command, shown, *_ in _commands(found["body"], 0):
                _add_code(cells, f"!{command}", shown)
        elif found["kind"] == "python":
            _add_code(cells, found["body"].strip("\n"), "")
        else:
            cells[-1]["outputs"] = [_stream(found["body"])]
    _add_words(cells, text[place:])
    numbered = [{"id": f"{title}-{k:02d}", **cell} for k, cell in enumerate(cells)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": numbered,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _add_words(cells: list[dict[str, object]], text: str) -> None:
    words = re.sub(r"^<!--.*?-->\n", "", text.strip("\n"), flags=re.MULTILINE)
    words = re.sub(r"\]\(\.\./", "](../docs/", words)
    words = re.sub(r"\]\((\w+)\.md", r"](../docs/tutorials/\1.md", words)
    if words:
        lines = words.splitlines(keepends=True)
        cells.append({"cell_type": "markdown", "metadata": {}, "source": lines})


def _add_code(cells: list[dict[str, object]], code: str, output: str) -> None:
    cell: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}}
    cell["outputs"] = [_stream(output)] if output else []
    cells.append({**cell, "source": code.splitlines(keepends=True)})


def _stream(text: str) -> dict[str, object]:
    lines = text.splitlines(keepends=True)
    return {"name": "stdout", "output_type": "stream", "text": lines}
