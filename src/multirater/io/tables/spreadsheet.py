"""Cells that a spreadsheet shows rather than runs.

A name that begins like a formula would be one when somebody opens the table. Such cells are written
with an apostrophe before them, which is taken off when they are read.
"""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|nan)")


def shown(cell: str) -> str:
    """Return a cell as it is written.

    Example:
        >>> shown("=1+1"), shown("-1.5"), shown("anna")
        ("'=1+1", '-1.5', 'anna')
    """
    is_formula = _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if is_formula else cell


def meant(cell: str) -> str:
    """Return what a cell was before `shown`.

    Example:
        >>> meant("'=1+1"), meant("'tis")
        ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
