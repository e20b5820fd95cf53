"""Label files that, one by one, were understood in ways that exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from multirater.errors import Fault
from multirater.io.case_files import read_case_files
from multirater.io.formats.label_values import CHANNELS, CHANNELS_WITHOUT_BACKGROUND, FOREGROUND
from multirater.io.formats.segment_names import numbers_of
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
    found = [
        _fault(rule, with_rule[rule], other, otherwise)
        for rule, other, otherwise in pairs
        if other is not None and rule in with_rule
    ]
    return [*found, *islice(_renumbered(with_rule), 1)]


def _renumbered(with_rule: Mapping[str, Case]) -> Iterator[Fault]:
    """Find DICOM-SEG files whose segments have the names of others under other numbers."""
    first: dict[str, str] = {}
    for rule, case in with_rule.items():
        for name, numbers in numbers_of(rule).items():
            before = first.setdefault(name, rule)
            others = numbers_of(before)[name]
            if not numbers & others:
                here = _first(case, _numbered(rule, name, numbers))
                there = _first(with_rule[before], _numbered(before, name, others))
                yield replace(
                    here,
                    expected=f"one number for each name, as in {there.headline}",
                    fix="declare classes of the segments' names in classes.csv, by which they go "
                    "then, or number all files alike",
                )


def _numbered(rule: str, name: str, numbers: set[int]) -> Callable[[LabelMap], str]:
    listed = ", ".join(map(str, sorted(numbers)))
    return lambda label: f"{name} is segment {listed}" if label.rule == rule else ""


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
