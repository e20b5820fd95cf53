"""What raters are measured against: the truth, a fusion, or the majority of the raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.io.results.statements import read_rater_table
from multirater.patterns import encode_patterns
from multirater.report.subject import Result, Subject
from multirater.types import MISSING, Case, LabelMap, Source
from multirater.words import counted

_ENOUGH = 0.5
"""Share of the labelled cases from which on a truth is what raters are measured against."""

_EVEN = (
    "No truth is known, and of two raters nobody can tell who errs. Each is held against {}: what "
    "is called too much or missed here shows where the two differ, not who is wrong."
)


@dataclass(frozen=True, eq=False)
class Reference:
    """A label for each case that raters are compared with.

    Attributes:
        kind: `truth`, `fusion`, `vote`, or `none` when there is nothing to compare with.
        name: as the page calls it, such as *the truth*.
        words: a sentence that says what raters were measured against.
        sources: fused labels by case, for `fusion`.
        n_classes: of the data set.
        table: what the fusion says of the raters (`raters.csv`), for `fusion`.
        is_even: whether it is made of two raters' labels, of whom nobody can tell who errs.
    """

    kind: Literal["truth", "fusion", "vote", "none"]
    name: str
    words: str
    n_classes: int
    sources: Mapping[str, Source[LabelMap]] = field(default_factory=dict)
    table: pd.DataFrame | None = None
    is_even: bool = False

    def read(self, case: Case, labels: NDArray[Any]) -> NDArray[np.int16] | None:
        """Return class indices (*space) of a case, or nothing where there is no reference.

        Args:
            case: which one.
            labels: of its raters, (n_raters, *space).
        """
        if self.kind == "truth":
            truth = case.read_truth()
            return None if truth is None else truth.array
        if self.kind == "fusion":
            source = self.sources.get(case.name)
            return held_to_gold(case, None if source is None else source.read().array)
        if self.kind == "vote" and labels.max(initial=MISSING) != MISSING:
            return held_to_gold(case, vote(labels, self.n_classes))
        return None

    def read_classes(self, cases: Sequence[Case], answers: NDArray[Any]) -> NDArray[np.int16]:
        """Return the class of every case, (n_cases,), -1 where there is no reference.

        Args:
            cases: of a study of class labels.
            answers: of its raters, (n_cases, n_raters), -1 where missing.
        """
        found = np.full(len(cases), MISSING, dtype=np.int16)
        answered = (answers != MISSING).any(1)
        if self.kind == "vote" and answered.any():
            found[answered] = vote(answers[answered].T, self.n_classes)
            for place, case in enumerate(cases):
                gold = case.read_gold() if answered[place] else None
                if gold is not None:
                    found[place] = gold.array
        elif self.kind != "none":
            for place in np.flatnonzero(answered).tolist():
                true = self.read(cases[place], answers[place])
                found[place] = MISSING if true is None else true
        return found


def held_to_gold(case: Case, found: NDArray[np.int16] | None) -> NDArray[np.int16] | None:
    """Return a reference with what an expert decided of the case in its place, where they did."""
    gold = case.read_gold()
    if gold is None:
        return found
    if found is None or found.shape != gold.array.shape:
        return gold.array
    return np.where(gold.array == MISSING, found, gold.array)


def vote(labels: NDArray[Any], n_classes: int) -> NDArray[np.int16]:
    """Return the class most raters chose, (*space), -1 where nobody labelled; ties go to the lower.

    Example:
        >>> vote(np.array([[0, 1], [1, 1], [0, -1]]), 2).tolist()
        [0, 1]
    """
    flat = labels.reshape(len(labels), -1)
    rows = [row for row in flat if row.max(initial=MISSING) != MISSING]  # of many, few label a case
    if not rows:
        return np.full(labels.shape[1:], MISSING, dtype=np.int16)
    found = encode_patterns(rows)
    votes = (found.rows[:, :, None] == np.arange(n_classes)).sum(1)
    chosen = np.where(votes.any(1), votes.argmax(1), MISSING).astype(np.int16)
    label = np.empty(flat.shape[1], dtype=np.int16)
    found.spread([chosen], [label])
    return label.reshape(labels.shape[1:])


def choose_reference(subject: Subject, n_classes: int) -> Reference:
    """Choose what to measure raters against: the truth, else a fusion, else their majority.

    What an expert decided comes before fusion and majority.
    """
    found = _chosen(subject, n_classes)
    n_gold = sum(case.gold is not None for case in subject.dataset if case.labels)
    if not n_gold or found.kind not in ("fusion", "vote"):
        return found
    words = f"{found.words} An expert decided {counted(n_gold, 'case')}: there, that counts."
    return replace(found, words=words, table=None)  # which was counted without the expert


def _chosen(subject: Subject, n_classes: int) -> Reference:
    cases = [case for case in subject.dataset if case.labels]
    n_true = sum(case.truth is not None for case in cases)
    if cases and n_true >= _ENOUGH * len(cases):
        where = "" if n_true == len(cases) else f", known for {n_true} of {len(cases)} cases"
        words = f"Raters are measured against the truth that came with the data{where}."
        return Reference("truth", "the truth", words, n_classes)
    fusion = next((each for each in subject.results if each.kind == "fusion"), None)
    if fusion is not None:
        (rater,) = fusion.dataset.raters
        sources = {c.name: c.labels[rater] for c in fusion.dataset if rater in c.labels}
        words = (
            f"No truth is known. Raters are measured against the labels fused by {fusion.name}: "
            "if the fusion is wrong, so are these numbers."
        )
        name = f"the fusion by {fusion.name}"
        is_even = len(subject.dataset.raters) == 2
        table = _table_of(fusion, subject.dataset.raters)
        words = _EVEN.format(name) if is_even else words
        return Reference("fusion", name, words, n_classes, sources, table, is_even)
    if len(subject.dataset.raters) < 2:
        words = "There is neither a truth nor a second rater to compare with."
        return Reference("none", "nothing", words, n_classes)
    if len(subject.dataset.raters) == 2:
        what = "drew" if subject.dataset.kind == "masks" else "chose, else the first class"
        words = _EVEN.format(f"the majority, which of two is what both {what}")
        return Reference("vote", "the majority", words, n_classes, is_even=True)
    words = (
        "No truth is known. Raters are measured against the majority of all raters, themselves "
        "included, which flatters everyone a little and those most who are like the others."
    )
    return Reference("vote", "the majority", words, n_classes)


def _table_of(fusion: Result, raters: Sequence[str]) -> pd.DataFrame | None:
    """Read what a fusion says of these raters; None where it does not know them all."""
    table = None if fusion.dataset.folder is None else read_rater_table(fusion.dataset.folder)
    if table is None or not set(raters) <= set(table.index):
        return None
    return table.loc[list(raters)]
