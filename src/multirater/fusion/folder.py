"""The folder that a fusion is written into, and what makes sure that nothing is lost in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from multirater import __version__
from multirater.errors import Fault, InputError
from multirater.io.new_folder import new_folder, part_of
from multirater.io.results.layout import FUSION
from multirater.io.results.statements import read_json, write_json
from multirater.trust import Finding, findings_as_json
from multirater.words import counted

PROGRESS = "progress.jsonl"
"""Finished cases, a line each, while a fusion is not complete."""


@dataclass(frozen=True, eq=False)
class FusedDataset:
    """A fusion on disk.

    Attributes:
        folder: holds `labels/`, `raters.csv`, `cases.csv`, `manifest.csv`, `fusion.json` and, when
            asked for, `probability/`.
        raters: the content of `raters.csv`.
        cases: the content of `cases.csv`; empty where there is `cases.parquet` alone.
        findings: what speaks against the result, most frequent first.
        method: that fused the labels.
        why: why it was chosen; empty when it was asked for.
    """

    folder: Path
    raters: pd.DataFrame
    cases: pd.DataFrame
    findings: tuple[Finding, ...]
    method: str = ""
    why: str = ""

    @property
    def messages(self) -> tuple[str, ...]:
        """What speaks against the result, in sentences that say of how many cases it is true."""
        return tuple(
            f"{each.text} ({counted(len(each.cases), 'case')})" if each.cases else each.text
            for each in self.findings
        )


@contextmanager
def fusion_folder(
    target: Path,
    settings: Mapping[str, Any],
    inputs: Iterable[Path],
    *,
    resume: bool,
    overwrite: bool,
) -> Iterator[Path]:
    """Yield the folder to fuse into, which takes its place when the fusion is complete.

    Args:
        target: of the fusion.
        settings: how it is made.
        inputs: what is read.
        resume: go on with one that was interrupted; a finished one is made again.
        overwrite: replace an earlier fusion.

    Raises:
        InputError: the target is something else, or was begun with other settings.
    """
    if overwrite or resume:
        _require_fusion(target)
    if resume:
        for begun in (target, part_of(target)):
            _require_same(begun, settings, target)
    may_replace = overwrite or (resume and (target / FUSION).is_file())
    with new_folder(
        target, overwrite=may_replace, inputs=inputs, resume=resume, keep=has_progress
    ) as part:
        if not (part / FUSION).is_file():
            write_settings(part, settings)
        yield part


def has_progress(folder: Path) -> bool:
    """Whether a fusion that was interrupted has finished some cases."""
    path = folder / PROGRESS
    return path.is_file() and path.stat().st_size > 0


def _require_fusion(target: Path) -> None:
    is_free = not target.is_dir() or not any(target.iterdir())
    if not is_free and not (target / FUSION).is_file():
        raise InputError(
            Fault(
                "exists and is not a fusion, so nothing is written there",
                fix="choose another folder",
                file=str(target),
            )
        )


def _require_same(begun: Path, settings: Mapping[str, Any], target: Path) -> None:
    if not (begun / FUSION).is_file():
        return
    before = read_json(begun / FUSION)
    changed = [key for key, value in settings.items() if before.get(key) != value]
    if changed:
        raise InputError(
            Fault(
                f"was begun with {changed[0]} = {before.get(changed[0])!r}",
                expected=f"{settings[changed[0]]!r}",
                fix="resume with the same settings, or --overwrite",
                file=str(target),
            )
        )


def write_settings(
    folder: Path, settings: Mapping[str, Any], findings: Sequence[Finding] | None = None
) -> None:
    """Write how a fusion is made and, when it is done, what speaks against it."""
    content: dict[str, Any] = {**settings, "version": __version__}
    if findings is not None:
        content["findings"] = findings_as_json(findings)
    write_json(folder / FUSION, content)
