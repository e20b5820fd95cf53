"""The folder that a fusion is written into, and what makes sure that nothing is lost in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

import pandas as pd

from multirater import __version__
from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import Row
from multirater.trust import Finding, findings_as_json
from multirater.types import Classes
from multirater.words import counted

SETTINGS = "fusion.json"


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
    if not (target / SETTINGS).is_file():
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
    before = json.loads((target / SETTINGS).read_text(encoding="utf-8"))
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
    content = {**settings, "version": __version__}
    if findings is not None:
        content["findings"] = findings_as_json(findings)
    with replacing(folder / SETTINGS, overwrite=True) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def write_tables(
    target: Path, raters: pd.DataFrame, cases: pd.DataFrame, rows: list[Row], classes: Classes
) -> None:
    """Write what a finished folder says: of raters, of cases, as a data set, and its classes."""
    for frame, name in ((raters, "raters.csv"), (cases, "cases.csv")):
        with replacing(target / name, overwrite=True) as temporary:
            frame.to_csv(temporary)
    write_dataset_tables(target, rows, classes, overwrite=True)
