"""What the segments of DICOM-SEG are called: names are sure, numbers are not.

Every program numbers segments as it likes. Where `classes.csv` declares classes of the segments'
names, these tell which is which; else the number of a segment is its class, and two files that
number the same names otherwise contradict each other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.types import Classes

BY_NAME = "segments by their names in classes.csv"
_BY_NUMBER = "segments by number: "


def segment_names(path: Path) -> dict[int, str]:
    """Return the names of the segments that a DICOM-SEG file describes, by number."""
    from multirater.io.formats.dicom_series import read_header

    described = read_header(path).get("SegmentSequence") or []
    return {
        int(each.SegmentNumber): str(each.get("SegmentLabel") or "").strip()
        for each in described
        if "SegmentNumber" in each
    }


def indices_by_name(
    array: NDArray[Any], names: Mapping[int, str], classes: Classes
) -> NDArray[np.int16] | None:
    """Return segment numbers as indices of the classes that are called so; None where one is not.

    Raises:
        InputError: one is called like a class and numbered like another, beside others that are
            called like none: then neither names nor numbers tell which is which.

    Example:
        >>> from multirater.types import LabelClass
        >>> classes = Classes((LabelClass("background"), LabelClass("disc"), LabelClass("cup")))
        >>> indices_by_name(np.array([0, 1, 2]), {1: "Cup", 2: "disc"}, classes)
        array([0, 2, 1], dtype=int16)
    """
    known = {name.casefold(): index for index, name in enumerate(classes.names)}
    unknown = [name for name in names.values() if name.casefold() not in known]
    if unknown:
        _require_numbers(names, known, unknown[0])
    if not names or unknown:
        return None
    found = np.zeros(array.shape, dtype=np.int16)
    for number, name in names.items():
        found[array == number] = known[name.casefold()]
    return found


def _require_numbers(names: Mapping[int, str], known: Mapping[str, int], unknown: str) -> None:
    """Refuse numbers that cannot be the classes', where a name is unknown."""
    for number, name in sorted(names.items()):
        index = known.get(name.casefold(), number)
        if index != number:
            raise InputError(
                Fault(
                    f"segment {number} is called {name}, which is class {index} in classes.csv; no "
                    f"class is called {unknown or 'nothing'}, as another segment is",
                    expected="segments that are all called like classes, or numbered like them",
                    fix="declare all names of the segments in classes.csv, or rename the segments",
                )
            )


def rule_of(names: Mapping[int, str]) -> str:
    """Return the rule by which segments are classes, in words.

    Example:
        >>> rule_of({2: "cup"}), numbers_of(rule_of({2: "Cup"}))
        ('segments by number: {"2": "cup"}', {'cup': {2}})
    """
    return _BY_NUMBER + json.dumps(dict(sorted(names.items())), ensure_ascii=False)


def numbers_of(rule: str) -> dict[str, set[int]]:
    """Return the numbers of each name in a rule of segments; nothing for other rules."""
    if not rule.startswith(_BY_NUMBER):
        return {}
    found: dict[str, set[int]] = {}
    for number, name in json.loads(rule.removeprefix(_BY_NUMBER)).items():
        if name:
            found.setdefault(name.casefold(), set()).add(int(number))
    return found
