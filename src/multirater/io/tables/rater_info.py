"""What a study says of its raters: `raters.csv` beside the manifest.

Columns: `rater` (`worker`, `annotator` and `name` are understood) and any others, such as `group`,
`tool` or `years`. The tables of the same name that fusions and runs write describe raters by their
labels (`cm[true,observed]`); those are results and are not read here.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.io.tables.csv_table import read_table, require_distinct
from multirater.io.tables.spreadsheet import shown

FILE_NAME = "raters.csv"
_EXPECTED = "columns rater[, group][, tool][, years], and others by choice"
_ALIASES = {"worker": "rater", "annotator": "rater", "name": "rater"}

RaterInfo = Mapping[str, Mapping[str, str]]
"""By rater, what each column says; empty cells say nothing and are left out."""


def read_rater_info(folder: Path) -> RaterInfo:
    r"""Read what the study in a folder says of its raters; nothing without a table.

    Raises:
        InputError: with everything that is wrong in the table.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "raters.csv").write_text("rater,group,years\nanna,expert,12\nbert,,\n")
        >>> read_rater_info(folder)
        {'anna': {'group': 'expert', 'years': '12'}, 'bert': {}}
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return {}
    faults: list[Fault] = []
    header, lines = read_table(path, faults, expected=_EXPECTED, once=("rater",))
    if any(name.startswith("cm[") for name in header):
        return {}  # where classes of one name but for its case have a column each
    require_distinct(header, str(path))
    if "rater" not in header:
        header = [_ALIASES.get(name, name) for name in header]
    if header.count("rater") != 1:
        raise InputError(
            Fault(
                f"has columns {', '.join(header)}: no rater",
                expected=_EXPECTED,
                fix="rename or add the column in the first line",
                file=str(path),
            )
        )
    found: dict[str, dict[str, str]] = {}
    for line in lines:
        said = dict(zip(header, line, strict=True))
        rater = said.pop("rater")
        if not rater or rater in found:
            faults.append(_row_fault(rater))
        found[rater] = {name: text for name, text in said.items() if name and text}
    if faults:
        raise InputError([fault.at(file=path) for fault in faults])
    return found


def write_rater_info(info: RaterInfo, folder: Path) -> None:
    """Write what is known of raters; no table where nothing is."""
    columns = list(dict.fromkeys(name for said in info.values() for name in said))
    if not columns:
        return
    with (
        replacing(folder / FILE_NAME) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as stream,
    ):
        writer = csv.writer(stream)
        writer.writerow(["rater", *map(shown, columns)])
        writer.writerows(
            [shown(cell) for cell in (rater, *(said.get(name, "") for name in columns))]
            for rater, said in info.items()
        )


def _row_fault(rater: str) -> Fault:
    if not rater:
        return Fault("a row without rater", expected=_EXPECTED, fix="fill it in, or remove it")
    return Fault("two rows for one rater", expected="one row", fix="keep one", rater=rater)
