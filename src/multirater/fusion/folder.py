"""The folder that a fusion is written into, and what makes sure that nothing is lost in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

import pandas as pd

from multirater import __version__
from multirater.errors import Fault, InputError
from multirater.io.results.contents import read_json, write_json
from multirater.io.results.layout import FUSION
from multirater.trust import Finding, findings_as_json
from multirater.words import counted


@dataclass(frozen=True, eq=False)
class FusedDataset:
    """A fusion on disk.

    Attributes:
        folder: holds `labels/`, `raters.csv`, `cases.csv`, `manifest.csv`, `fusion.json` and, when
            asked for, `probability/`.
        raters: the content of `raters.csv`.
        cases: the content of `cases.csv`.
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


def prepare(target: Path, settings: Mapping[str, Any], *, resume: bool, overwrite: bool) -> None:
    """Make sure that nothing is lost: start in an empty folder, go on, or replace a fusion."""
    if not target.exists() or not any(target.iterdir()):
        return
    if not (target / FUSION).is_file():
        raise InputError(
            Fault(
                "exists and is not a fusion, so nothing is written there",
                fix="choose another folder",
                file=str(target),
            )
        )
    if overwrite:
        rmtree(target)
        return
    if not resume:
        raise InputError(
            Fault(
                "already exists",
                fix="choose another folder, --resume an interrupted run, or --overwrite",
                file=str(target),
            )
        )
    before = read_json(target / FUSION)
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
