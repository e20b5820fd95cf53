"""Tables for people and for machines, on standard output."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from multirater.terminal import harmless, harmless_json

if TYPE_CHECKING:
    import pandas as pd

    from multirater.trust import Finding

_MOST_CASES = 8
"""Cases that are named of a finding."""

_PIPED_WIDTH, _COLUMN_WIDTH, _ALWAYS_SHOWN = 240, 10, 14
"""Letters in a line that is not read on a terminal; letters that a column takes at least, so that
it can be read; and how many columns are shown on the narrowest terminal."""

_MOST_ROWS = 1000


def print_table(frame: pd.DataFrame, title: str) -> None:
    """Print a table; numbers to three digits, index columns first.

    Of a table with more columns or rows than can be read, as of a hundred classes or thousands of
    raters, the first are shown.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    # Piped output has no width of its own: give it enough for every column.
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    console = Console(width=width, highlight=False, markup=False)
    whole = frame.reset_index() if any(frame.index.names) else frame
    flat = whole.iloc[:_MOST_ROWS, : max(console.width // _COLUMN_WIDTH, _ALWAYS_SHOWN)]
    table = Table(box=box.SIMPLE_HEAD)
    for name in flat.columns:
        numeric = flat[name].dtype.kind in "fiu"
        table.add_column(
            harmless(str(name)), justify="right" if numeric else "left", overflow="fold"
        )
    for row in flat.itertuples(index=False):
        table.add_row(*(_cell(value) for value in row))
    console.print(harmless(title))
    console.print(table)
    if hidden := len(whole.columns) - len(flat.columns):
        console.print(f"{hidden} more columns are not shown: --json has all")
    if left := len(whole) - len(flat):
        console.print(f"{left} more rows are not shown: --json has all")


def print_facts(facts: Mapping[str, object]) -> None:
    """Print names and values, one a line."""
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        print(f"{name:<{width}}  {_cell(value)}")


def print_findings(findings: Sequence[Finding]) -> None:
    """Print what is odd about a study: each with its cases and what to do."""
    print("\nFindings" if findings else "findings  none: nothing looks odd")
    for finding in findings:
        print(harmless(f"  {finding.level}: {finding.text}"))
        if finding.cases:
            named = ", ".join(finding.cases[:_MOST_CASES])
            more = f", and {len(finding.cases) - _MOST_CASES} more (--json has all)"
            print(f"    cases: {harmless(named)}{more if len(finding.cases) > _MOST_CASES else ''}")
        print(f"    to do: {finding.fix}")
    print()


def print_json(content: Any) -> None:
    """Print JSON; NaN, which JSON lacks, becomes null, and letters stay as they are."""
    # A terminal of another encoding could not show them.
    is_utf = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(plain(content), indent=2, allow_nan=False, ensure_ascii=not is_utf)
    print(harmless_json(text))


def plain(content: Any) -> Any:
    """Turn tables and numbers of any library into what JSON knows."""
    if hasattr(content, "to_dict") and hasattr(content, "columns"):
        flat = content.reset_index() if any(content.index.names) else content
        return [plain(record) for record in flat.to_dict("records")]
    if isinstance(content, Mapping):
        return {str(key): plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [plain(value) for value in content]
    if hasattr(content, "item"):
        content = content.item()
    if _is_unknown(content) or (isinstance(content, float) and not math.isfinite(content)):
        return None
    return content if isinstance(content, bool | int | float | str | None) else str(content)


def _cell(value: object) -> str:
    if _is_unknown(value):
        return "-"
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.3f}"
    return harmless(str(value))


def _is_unknown(value: object) -> bool:
    """Whether a cell holds the missing value of pandas, which need not be imported for that."""
    return type(value).__name__ == "NAType"
