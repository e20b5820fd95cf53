"""ITK-SNAP's label descriptions: number, red, green, blue, opacity, two flags, and a name."""

from __future__ import annotations

import re
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.types import Classes, LabelClass

_LINE = re.compile(r'\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d.]+)\s+(\d+)\s+(\d+)\s+"(.*)"\s*')
_HEAD = """################################################
# ITK-SnAP Label Description File
# File format:
# IDX   -R-  -G-  -B-  -A--  VIS MSH  LABEL
################################################
"""
_COLOURS = ("#e66100", "#5d3a9b", "#1a85ff", "#d41159", "#40b0a6", "#e1be6a")


def read_label_descriptions(path: Path) -> Classes:
    """Read the classes: the value 0 is the background, whatever it is called."""
    items, faults = [], []
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            faults.append(
                Fault(
                    f"line {number} is {line.strip()!r:.60}",
                    expected='number, red, green, blue, opacity, two flags and "name"',
                    fix="save the label descriptions in ITK-SNAP again",
                    file=str(path),
                )
            )
            continue
        value, *colour = (int(each) for each in match.groups()[:4])
        name = "background" if value == 0 else match[8]
        items.append(LabelClass(name, "#{:02x}{:02x}{:02x}".format(*colour), value))
    if not faults and not any(item.value == 0 for item in items):
        items.insert(0, LabelClass("background", "", 0))
    if faults or len(items) < 2:
        raise InputError(faults or Fault("names no label", expected="a line each", file=str(path)))
    by_value = sorted(items, key=lambda item: item.value or 0)
    twice = [item.colour for item in items]
    return Classes(
        tuple(
            LabelClass(item.name, item.colour if twice.count(item.colour) == 1 else "", item.value)
            for item in by_value
        )
    )


def write_label_descriptions(classes: Classes, path: Path) -> None:
    """Write the classes by index."""
    lines = ['    0     0    0    0        0  0  0    "Clear Label"']
    for index, item in enumerate(classes.items):
        if index:
            colour = item.colour or _COLOURS[(index - 1) % len(_COLOURS)]
            red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
            lines.append(
                f'{index:5d} {red:5d} {green:4d} {blue:4d}        1  1  1    "{item.name}"'
            )
    path.write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")
