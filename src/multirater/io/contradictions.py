"""Label files that, one by one, were understood in ways that exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from multirater.errors import Fault
from multirater.io.case_files import read_case_files
from multirater.io.formats.label_values import CHANNELS, CHANNELS_WITHOUT_BACKGROUND, FOREGROUND
from multirater.types import Case, LabelMap


@dataclass(frozen=True, eq=False)
class Understood:
    """How the labels of a case were understood: rules in words, and the largest class index."""

    case: Case
    rules: tuple[str, ...]
    highest: int


def contradictions(cases: Sequence[Understood]) -> list[Fault]:
    """Find rules that exclude each other, and name a file of each.

    Cases are read again only where there are such.
    """
    with_rule = {rule: each.case for each in reversed(cases) for rule in each.rules}
    several = next((each.case for each in cases if each.highest > 1), None)
    pairs = [(CHANNELS, with_rule.get(CHANNELS_WITHOUT_BACKGROUND), _without_background)]
    pairs += [(FOREGROUND.format(full), several, _of_several_classes) for full in (255, 65535)]
    return [
        _fault(rule, with_rule[rule], other, otherwise)
        for rule, other, otherwise in pairs
        if other is not None and rule in with_rule
    ]


def _without_background(label: LabelMap) -> str:
    return label.rule if label.rule == CHANNELS_WITHOUT_BACKGROUND else ""


def _of_several_classes(label: LabelMap) -> str:
    return "more than two classes" if label.array.max(initial=0) > 1 else ""


def _fault(rule: str, case: Case, other: Case, otherwise: Callable[[LabelMap], str]) -> Fault:
    """Say how a label was understood, and where another one was understood otherwise."""

    def said(label: LabelMap) -> str:
        return f"label understood as: {rule}" if label.rule == rule else ""

    return replace(
        _first(case, said),
        expected=f"the same as in {_first(other, otherwise).headline}",
        fix="say what the values stand for in classes.csv, or save all labels in the same way",
    )


def _first(case: Case, said: Callable[[LabelMap], str]) -> Fault:
    """Return what is said of the first label of a case of which anything is, and where it is."""
    found = (
        Fault(text).at(case=case.name, rater=rater, file=Path(files[0]) if files else None)
        for rater, label, files in _labels(case)
        if (text := said(label))
    )
    return next(found, Fault("labels that have changed since they were read", case=case.name))


def _labels(case: Case) -> Iterator[tuple[str, LabelMap, tuple[str | Path, ...]]]:
    """Read everything that was drawn of a case: by whom, what, and where it is stored."""
    read = read_case_files(case)
    for rater, label in read.labels.items():
        yield rater, label, case.labels[rater].files
    for name, known, source in (
        ("(truth)", read.truth, case.truth),
        ("(gold)", read.gold, case.gold),
    ):
        if known is not None and source is not None:
            yield name, known, source.files
    for drawing, label in read.drawings:
        yield drawing.rater, label, drawing.source.files
