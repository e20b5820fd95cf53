"""What each reference says of the raters, side by side: truth, the other raters, networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from multirater.io.results.statements import read_rater_table
from multirater.report.raters import Figure, RaterFacts
from multirater.report.reference import Reference
from multirater.report.subject import Subject
from multirater.words import listed

OTHERS, TRUTH = "the other raters", "the truth"

_NEAR = 0.02
"""Difference of two qualities below which nobody is called better."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What one reference says.

    Attributes:
        name: of the reference, as the page calls it.
        figures: quality of each rater by it, in the order of the data set.
    """

    name: str
    figures: list[Figure]

    @property
    def values(self) -> list[float]:
        """Quality of each rater."""
        return [figure.value for figure in self.figures]


def verdicts_of(
    subject: Subject, reference: Reference, raters: Sequence[RaterFacts], quality: pd.DataFrame
) -> list[Verdict]:
    """Collect what is said of raters by everything that they can be held against.

    Args:
        subject: of the report; its runs have tables of raters.
        reference: what the page measures raters against.
        raters: measured against it.
        quality: by the consensus of the others; empty with fewer than two raters.
    """
    found = []
    if reference.kind == "truth":
        found.append(Verdict(TRUTH, [each.score for each in raters]))
    names = [each.name for each in raters]
    if len(quality):
        found.append(Verdict(OTHERS, _figures(quality, names)))
    for run in subject.runs:
        table = read_rater_table(run.folder)
        if table is not None and "quality" in table:
            found.append(Verdict(f"{run.name} and the others", _figures(table, names)))
    return [each for each in found if not np.isnan(each.values).all()]


def verdict_words(verdicts: Sequence[Verdict], raters: Sequence[str]) -> str:
    """Say whether references agree on who is best; nothing of fewer than two.

    Example:
        >>> one, two = (Verdict(n, [Figure(a), Figure(b)]) for n, a, b in
        ...     [("the truth", 0.9, 0.7), ("the other raters", 0.6, 0.8)])
        >>> verdict_words([one, two], ["anna", "bert"])
        'They differ: best is anna by the truth, bert by the other raters.'
    """
    if len(verdicts) < 2:
        return ""
    best = {each.name: _best(each, raters) for each in verdicts}
    level = [name for name, names in best.items() if len(names) == len(raters)]
    told = {name: names for name, names in best.items() if name not in level}
    said = f"By {listed(level)} they are level." if level else ""
    if len(told) < 2:
        return said
    if set.intersection(*(set(names) for names in told.values())):
        others = "The rest agree" if level else "They agree"
        return f"{others} on who is among the best. {said}".strip()
    differ = ", ".join(f"{listed(names)} by {reference}" for reference, names in told.items())
    return f"They differ: best is {differ}. {said}".strip()


def _best(verdict: Verdict, raters: Sequence[str]) -> list[str]:
    """Name the best, and those who are hardly less good."""
    highest = np.nanmax(verdict.values)
    return [
        rater
        for rater, value in zip(raters, verdict.values, strict=True)
        if value >= highest - _NEAR
    ]


def _figures(table: pd.DataFrame, raters: Sequence[str]) -> list[Figure]:
    ends = table.reindex(list(raters))[["quality", "quality_low", "quality_high"]].to_numpy(
        dtype=float
    )
    return [Figure(*each) for each in ends.tolist()]
