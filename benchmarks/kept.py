"""What a benchmark prints, kept beside the command and the commit that printed it."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from grid import RESULTS, current_commit


def add_write_option(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark be asked to keep what it prints."""
    parser.add_argument("--write", action="store_true", help="keep the output in results/")


class _Both(io.StringIO):
    """Text that is shown and collected."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


@contextmanager
def kept(name: str, write: bool) -> Iterator[None]:
    """Keep what is printed in the block, in `results/<name>.md`, if asked to.

    Args:
        name: of the file.
        write: whether to keep it.
    """
    if not write:
        yield
        return
    commit, text = current_commit(), _Both()
    with redirect_stdout(text):
        yield
    words = [Path(sys.argv[0]).name, *(each for each in sys.argv[1:] if each != "--write")]
    told = f"`python benchmarks/{' '.join(words)}` at commit {commit}:\n\n"
    path = RESULTS / f"{name}.md"
    path.write_text(f"{told}```\n{text.getvalue().strip()}\n```\n", encoding="utf-8")
