"""The tutorials run as they are written, and show what comes out.

`make tutorials` writes what comes out into pages, pictures and notebooks.
"""

import os
from pathlib import Path

import pytest
from tutorial import (
    keep_pictures,
    matches,
    notebook_of,
    rewritten,
    run_notebook,
    run_tutorial,
)
from typer.testing import CliRunner

from multirater.cli.app import app
from multirater.progress import show_progress

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
NOTEBOOKS = ("masks", "crowd")
WRITES = bool(os.environ.get("MULTIRATER_WRITE_TUTORIALS"))


def on_screen(*words):
    """Run `multirater` in this process; return its status and all that is on the screen."""
    try:
        found = CliRunner().invoke(app, list(words))
    finally:
        show_progress(False)
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.output


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_shows_what_comes_out(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("multirater.parallel._FEW", 1_000)  # starting processes would take longest
    text = page.read_text(encoding="utf-8")
    steps = run_tutorial(text, tmp_path, on_screen)
    if WRITES:
        text = rewritten(text, steps)
        page.write_text(text, encoding="utf-8")
        keep_pictures(page, steps, tmp_path)
        if page.stem in NOTEBOOKS:
            target = ROOT / f"examples/{page.stem}.ipynb"
            target.write_text(notebook_of(text, page.stem), encoding="utf-8")
        return
    false = [step for step in steps if step.kind in ("console", "text") and not step.is_true]
    assert [(step.code, step.output) for step in false] == []
    for step in steps:
        if step.kind in ("picture", "page"):
            assert (tmp_path / step.code).is_file(), step.code
            assert (page.parent / step.shown).is_file(), step.shown


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_its_tutorial(name):
    page = (ROOT / f"docs/tutorials/{name}.md").read_text(encoding="utf-8")
    notebook = (ROOT / f"examples/{name}.ipynb").read_text(encoding="utf-8")
    assert notebook == notebook_of(page, name), "make tutorials"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_shows_what_comes_out(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("multirater.parallel._FEW", 1_000)
    notebook = (ROOT / f"examples/{name}.ipynb").read_text(encoding="utf-8")
    steps = run_notebook(notebook, tmp_path, on_screen)
    assert len(steps) > 4
    assert [(step.code, step.output) for step in steps if not step.is_true] == []


def test_words_have_to_match_and_numbers_nearly():
    assert matches("Dice 0.91\n", "Dice 0.92\n")
    assert not matches("Dice 0.91\n", "Dice 0.81\n")
    assert not matches("Dice 0.91\n", "IoU 0.91\n")
    assert not matches("Dice 0.91\n", "Dice 0.91\nIoU 0.8\n")
    assert matches("first\n...\nlast 3\n", "first\nsecond\nlast 3\n")
    assert not matches("first\n...\nlast 3\n", "first\nsecond\nlast 4\n")
