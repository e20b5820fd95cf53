"""What speaks for or against trusting a result: the form all statements of the package share.

Whoever finds something says it as data (`Finding`); what is shown, written or warned of is made
from that where the user is: on the command line, on the page, in a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

Level: TypeAlias = Literal["good", "caution", "problem"]

LEVELS: tuple[Level, ...] = ("problem", "caution", "good")
"""Gravest first."""


@dataclass(frozen=True)
class Finding:
    """One thing that speaks for or against a result, or against the study behind it.

    Attributes:
        level: how grave it is.
        text: what was found, in a sentence.
        code: its kind, the same whatever the numbers, such as `reversed`.
        numbers: what it rests on, by name.
        cases: where it was found.
        raters: whom it is about.
        fix: what to do.
        classes: which it is about.
    """

    level: Level
    text: str
    code: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict, hash=False)
    cases: tuple[str, ...] = ()
    raters: tuple[str, ...] = ()
    fix: str = ""
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trust:
    """A trust statement.

    Attributes:
        summary: one sentence.
        findings: what speaks for and against, the gravest first.
    """

    summary: str
    findings: tuple[Finding, ...] = ()

    @property
    def level(self) -> Level:
        """The gravest of the findings'; a caution where nothing could be found out."""
        return self.findings[0].level if self.findings else "caution"

    def as_text(self) -> str:
        """Return the statement as lines."""
        return "\n".join(
            [self.summary, *(f"  {each.level}: {each.text}" for each in self.findings)]
        )


def gravest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by their weight, those of the same weight in the order given.

    Example:
        >>> gravest_first([Finding("good", "a"), Finding("problem", "b")])[0].text
        'b'
    """
    return tuple(sorted(findings, key=lambda each: LEVELS.index(each.level)))


def over_cases(by_case: Mapping[str, Iterable[Finding]]) -> tuple[Finding, ...]:
    """Say once what was found in many cases: in the words of the first, with all their names.

    Args:
        by_case: what was found in each.

    Returns:
        The most frequent first.

    Example:
        >>> few = Finding("caution", "few labels", "few-labels")
        >>> [(each.text, each.cases) for each in over_cases({"p1": [few], "p2": [few]})]
        [('few labels', ('p1', 'p2'))]
    """
    kinds: dict[tuple[Any, ...], list[tuple[str, Finding]]] = {}
    for case, findings in by_case.items():
        for each in findings:
            kinds.setdefault((each.code, each.raters, each.classes), []).append((case, each))
    ordered = sorted(kinds.values(), key=len, reverse=True)
    return tuple(replace(found[0][1], cases=tuple(c for c, _ in found)) for found in ordered)


def findings_as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return findings as plain data."""
    return [asdict(each) for each in findings]


def findings_from_json(stored: Any) -> tuple[Finding, ...]:
    """Return findings from plain data; what has not their form is passed over.

    Example:
        >>> findings_from_json([{"level": "problem", "text": "swapped", "raters": ["anna"]}, 3])
        (Finding(level='problem', text='swapped', code='', numbers={}, cases=(), raters=('anna',), \
fix='', classes=()),)
    """
    return tuple(
        Finding(
            each["level"],
            str(each["text"]),
            str(each.get("code", "")),
            _numbers(each.get("numbers")),
            _words(each.get("cases")),
            _words(each.get("raters")),
            str(each.get("fix", "")),
            _words(each.get("classes")),
        )
        for each in (stored if isinstance(stored, list) else ())
        if isinstance(each, dict) and each.get("level") in LEVELS and "text" in each
    )


def _words(stored: Any) -> tuple[str, ...]:
    return tuple(map(str, stored)) if isinstance(stored, list | tuple) else ()


def _numbers(stored: Any) -> dict[str, float]:
    if not isinstance(stored, dict):
        return {}
    return {k: v for k, v in stored.items() if isinstance(v, int | float)}


def trust_from_json(stored: Mapping[str, Any]) -> Trust:
    """Return a statement from plain data."""
    return Trust(str(stored.get("summary", "")), findings_from_json(stored.get("findings")))
