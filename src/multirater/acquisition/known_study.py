"""From a study to what is known of it: drawings, class labels, or a table of answers alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.acquisition.belief import Array, Belief
from multirater.acquisition.class_belief import belief_of_classes
from multirater.acquisition.drawing_belief import DrawnCase, belief_of_drawings
from multirater.acquisition.reasons import Words
from multirater.acquisition.result import Known
from multirater.fuse.answers import Answers, answers_from_rows
from multirater.fuse.table import encode_table
from multirater.io.survey import CaseSurvey, Survey
from multirater.patterns import encode_patterns
from multirater.types import MISSING, Case, Dataset

Seen: TypeAlias = Callable[[Case], NDArray[np.float32]]
"""What a network says of the image of a case: class probabilities (n_classes, *space)."""

_LEVELS = (0.5, 0.7, 0.85, 0.95, 0.99)
"""Probabilities of the likeliest class between which pixels count as one."""


def known_of_answers(frame: pd.DataFrame) -> Known:
    """Return what is known of a table of answers, of which there may be many.

    Args:
        frame: as `fusion.answer_file.read_answer_file` reads it.
    """
    table = encode_table(frame)
    names = tuple(map(str, table.classes))
    return _of_classes(
        table.answers, [str(task) for task in table.tasks], list(map(str, table.raters)), names
    )


def known_of_study(
    found: Survey, *, others: Sequence[str] = (), seen: Seen | Array | None = None
) -> Known:
    """Return what is known of a data set.

    Args:
        found: surveyed.
        others: raters who have labelled nothing yet.
        seen: what a network says: of drawings, for each case; of class labels, the probabilities
            (n_cases, n_classes).
    """
    raters = [*found.dataset.raters, *others]
    cases = [case.name for case in found.cases]
    if found.dataset.kind == "classes":
        assert not callable(seen)
        rows = np.full((len(cases), len(raters)), MISSING, dtype=np.int64)
        for number, case in enumerate(found.cases):
            if len(case.counts):
                rows[number, : len(found.dataset.raters)] = case.rows[0]
        answers = answers_from_rows(
            rows, np.ones(len(rows)), len(found.classes), gold=_gold(found), row_prior=seen
        )
        known = _of_classes(answers, cases, raters, found.classes.names)
        return replace(known, decided=_decided(found.dataset))
    assert seen is None or callable(seen)
    drawn = [
        _drawn(case, source, found.dataset.raters, len(raters), seen)
        for case, source in zip(found.cases, found.dataset, strict=True)
    ]
    belief = _without_decided(
        belief_of_drawings(drawn, len(raters), len(found.classes)), found.dataset
    )
    differ = [_differ(case.rows) for case in drawn]
    words = Words(found.classes.names, True, differ)
    return Known(belief, cases, raters, words, _decided(found.dataset))


def _gold(found: Survey) -> NDArray[np.int64] | None:
    """Return the class that an expert decided on, (n_cases,), -1 where none; None without any."""
    decided = [case.read_gold() for case in found.dataset]
    if all(each is None for each in decided):
        return None
    return np.array([MISSING if each is None else int(each.array) for each in decided])


def _decided(dataset: Dataset) -> NDArray[np.bool_]:
    return np.array([case.gold is not None for case in dataset])


def _without_decided(belief: Belief, dataset: Dataset) -> Belief:
    """Let cases that an expert decided weigh nothing: nothing of them is uncertain."""
    decided = _decided(dataset)
    weight = np.where(np.repeat(decided, np.diff(belief.start)), 0.0, belief.weight)
    return replace(belief, weight=weight)


def _of_classes(
    answers: Answers, cases: Sequence[str], raters: Sequence[str], classes: Sequence[str]
) -> Known:
    votes = answers.matrix @ np.tile(np.eye(answers.n_classes), (answers.n_raters, 1))
    differ = ((votes > 0).sum(1) > 1).tolist()
    return Known(belief_of_classes(answers), cases, raters, Words(classes, False, differ))


def _drawn(
    case: CaseSurvey, source: Case, raters: Sequence[str], n_raters: int, seen: Seen | None
) -> DrawnCase:
    said = case.rows
    rows = np.full((len(said), n_raters), MISSING, dtype=np.int64)
    rows[:, : said.shape[1]] = said
    drawn = DrawnCase(rows, case.counts)
    if seen is None or source.image is None:
        return drawn
    return _seen(drawn, source, raters, seen(source))


def _seen(
    drawn: DrawnCase, source: Case, raters: Sequence[str], probability: NDArray[np.float32]
) -> DrawnCase:
    """Tell pixels apart by what a network says of them, beside what raters drew."""
    top, n_levels = probability.argmax(0), len(_LEVELS) + 1
    level = np.digitize(probability.max(0), _LEVELS)
    code = (top * n_levels + level).astype(np.int16)
    flat = probability.reshape(len(probability), -1)
    size = len(probability) * n_levels
    sums = np.stack([np.bincount(code.ravel(), each, minlength=size) for each in flat], axis=1)
    priors = sums / np.maximum(sums.sum(1, keepdims=True), 1e-9)
    labels = list(source.read_labels(raters).array) if source.labels else []
    found = encode_patterns([*labels, code])
    rows = np.full((len(found.rows), drawn.rows.shape[1]), MISSING, dtype=np.int64)
    rows[:, : len(labels)] = found.rows[:, :-1]
    return replace(drawn, rows=rows, counts=found.counts, prior=priors[found.rows[:, -1]])


def _differ(rows: NDArray[np.int64] | NDArray[np.integer]) -> bool:
    """Whether two raters drew something different anywhere."""
    there = rows != MISSING
    high = np.where(there, rows, -1).max(1, initial=-1)
    low = np.where(there, rows, np.iinfo(np.int64).max).min(1, initial=np.iinfo(np.int64).max)
    return bool(((high > low) & there.any(1)).any())
