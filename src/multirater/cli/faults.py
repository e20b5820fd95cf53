"""Faults on the screen: equal ones together, so that many do not hide the others."""

from __future__ import annotations

from collections.abc import Sequence

from multirater.errors import Fault

_MOST_SHOWN = 3
"""Equal faults that are shown with all their places."""

_MOST_NAMED = 8
"""Places that are named of those that are not shown."""


def faults_text(faults: Sequence[Fault]) -> str:
    """Say all faults; what equal ones expect is said once, and most of their places in short.

    Example:
        >>> faults = [Fault("has no truth", fix="add one", case=f"p{i}") for i in range(5)]
        >>> print(faults_text(faults))
        case p0: has no truth
        case p1: has no truth
        case p2: has no truth
        and 2 more like this: case p3, case p4
          to do: add one
    """
    groups: dict[tuple[str, str, str], list[Fault]] = {}
    for fault in faults:
        groups.setdefault((fault.found, fault.expected, fault.fix), []).append(fault)
    return "\n".join(line for group in groups.values() for line in _group_lines(group))


def _group_lines(group: Sequence[Fault]) -> list[str]:
    lines = [fault.headline for fault in group[:_MOST_SHOWN]]
    rest = group[_MOST_SHOWN:]
    if rest:
        places = list(dict.fromkeys(map(_short_place, rest)))
        named = ", ".join(filter(None, places[:_MOST_NAMED]))
        more = ", ..." if len(places) > _MOST_NAMED else ""
        lines.append(f"and {len(rest):,} more like this" + (f": {named}{more}" if named else ""))
    return [*lines, *group[0].advice]


def _short_place(fault: Fault) -> str:
    if fault.case:
        return f"case {fault.case}"
    return f"rater {fault.rater}" if fault.rater else fault.file
