"""What results say in tables and statements: read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.io.results.layout import CASES, CURVES, RATERS, TRUST
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import Row
from multirater.io.tables.result_table import (
    named_rows,
    read_curves_table,
    read_result_table,
    write_result_table,
)
from multirater.trust import Trust, trust_from_json
from multirater.types import Classes


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write an object as JSON, in one move."""
    with replacing(path, overwrite=True) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read an object from JSON.

    Raises:
        InputError: the file holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(Fault(f"is no JSON: {error}", file=str(path))) from None
    if not isinstance(content, dict):
        raise InputError(Fault("is no JSON object", file=str(path)))
    return content


def write_trust(folder: Path, trust: Trust) -> None:
    """Write the trust statement of a run."""
    write_json(folder / TRUST, asdict(trust))


def read_trust(folder: Path) -> Trust | None:
    """Read the trust statement of a run; None where it has none."""
    path = folder / TRUST
    return trust_from_json(read_json(path)) if path.is_file() else None


def write_rater_table(folder: Path, table: pd.DataFrame) -> None:
    """Write what is known of each rater."""
    write_table(folder / RATERS, table)


def read_rater_table(folder: Path) -> pd.DataFrame | None:
    """Read what is known of each rater, by name; None where nothing is."""
    return _read_table(folder / RATERS, "rater")


def write_case_table(folder: Path, table: pd.DataFrame) -> None:
    """Write what is known of each case."""
    write_table(folder / CASES, table)


def read_case_table(folder: Path) -> pd.DataFrame | None:
    """Read what is known of each case, by name; None where nothing is."""
    return _read_table(folder / CASES, "case")


def read_curves(folder: Path) -> pd.DataFrame:
    """Read the curves of a run, one row per epoch; nothing where there are none."""
    path = folder / CURVES
    return read_curves_table(path) if path.is_file() else pd.DataFrame()


def write_dataset_of(
    folder: Path, raters: pd.DataFrame, cases: pd.DataFrame, rows: list[Row], classes: Classes
) -> None:
    """Write what a finished folder says: of raters, of cases, as a data set, and its classes."""
    write_rater_table(folder, raters)
    write_case_table(folder, cases)
    write_dataset_tables(folder, rows, classes, overwrite=True)


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table with its index, in one move."""
    write_result_table(table, path, overwrite=True)


def _read_table(path: Path, index: str) -> pd.DataFrame | None:
    """Read a table by name; a rater may be called NA."""
    if not path.is_file():
        return None
    return named_rows(read_result_table(path, key=index), index)
