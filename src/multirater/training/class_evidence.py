"""What the class labels of a run say of its raters, beside the network's truth."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.rater_table import rater_table_of_tasks
from multirater.progress import track
from multirater.training.class_answers import ClassAnswers, answers_of
from multirater.training.class_trust import AskedCases, Lesson, lesson_of
from multirater.training.data import grid_of
from multirater.training.near_cases import MOST, compared
from multirater.training.predictor import Predictor
from multirater.training.trust import Evidence, share_right
from multirater.types import Case

Counts: TypeAlias = NDArray[np.float64]
Positions: TypeAlias = NDArray[np.int64]


_TRACE = 1e-6
"""Weight of probabilities beside answers."""


def class_evidence(
    predictor: Predictor,
    cases: Sequence[Case],
    raters: tuple[str, ...],
    unseen: Set[str] = frozenset(),
) -> Evidence:
    """Look at class labels, case by case.

    Args:
        predictor: of the run.
        cases: those of the run.
        raters: who labelled them.
        unseen: names of the cases that were held out.
    """
    answers = answers_of(cases, raters)
    probability = truth_of(predictor, cases)
    truth = _as_answered(probability, used=np.unique(answers.label))
    n_classes = truth.shape[1]
    counts = np.zeros((len(raters), n_classes, n_classes))
    np.add.at(counts.swapaxes(1, 2), (answers.rater, answers.label), truth[answers.case])
    own = by_own_matrices(predictor, counts, answers, raters)
    said = np.zeros((len(cases), n_classes))
    np.add.at(said, (answers.case, answers.label), 1.0)
    votes, answer = said.argmax(1), truth.argmax(1)
    disputed = (said > 0).sum(1) > 1
    has_company = said.sum(1) > 1
    return Evidence(
        table=rater_table_of_tasks(counts if own is None else own, raters, predictor.data.classes),
        counts=counts,
        disputed=truth[disputed].T @ said[disputed],
        votes=_pairs(votes, answer, n_classes),
        changed=(votes != answer).astype(float),
        disputed_share=float(disputed[has_company].mean()) if has_company.any() else float("nan"),
        cases=tuple(case.name for case in cases),
        raters=raters,
        classes=predictor.data.classes,
        weights=predictor.network.followed,
        of_classes=True,
        claimed=float("nan") if own is None else share_right(own),
        lesson=_lesson(predictor, cases, raters, probability, unseen),
    )


def _lesson(
    predictor: Predictor,
    cases: Sequence[Case],
    raters: tuple[str, ...],
    probability: Counts,
    unseen: Set[str],
) -> Lesson | None:
    """Judge what the network learned, by as many cases as are quickly compared.

    None when it learned the truth.
    """
    known, matrices = predictor.data.raters, predictor.network.matrices
    if known == ("truth",):
        return None
    chosen = np.sort(np.random.default_rng(0).permutation(len(cases))[:MOST])
    cases = [cases[place] for place in chosen]
    is_own = matrices is not None and known == raters
    return lesson_of(
        AskedCases(
            probability[chosen],
            answers_of(cases, raters),
            len(raters),
            compared(cases, grid_of(predictor.config)),
            np.array([case.name in unseen for case in cases]),
        ),
        matrices=matrices.double().numpy() if matrices is not None and is_own else None,
        fused=None if known == raters else known[0],
    )


def by_own_matrices(
    predictor: Predictor, counts: Counts, answers: ClassAnswers, raters: tuple[str, ...]
) -> Counts | None:
    """Return what raters say by the network's own matrices, as sure as the labels behind each row.

    A class that it never answers, be its probability 0, has a row all the same.

    Args:
        predictor: of the run.
        counts: labels (n_raters, answered, observed).
        answers: the same labels.
        raters: who gave them.

    Returns:
        (n_raters, true, observed); None when the network has no matrices of these raters.
    """
    matrices = predictor.network.matrices
    if matrices is None or predictor.data.raters != raters:
        return None
    is_used = np.isin(np.arange(counts.shape[1]), answers.label)
    has_labels = np.isin(np.arange(len(raters)), answers.rater)
    least = _TRACE * np.outer(has_labels, is_used)[:, :, None]
    behind = np.maximum(counts.sum(2, keepdims=True), least)
    return np.asarray(behind * matrices.double().numpy())


def _as_answered(truth: Counts, used: Positions) -> Counts:
    """Return the answers (n_cases, n_classes), nearly as zeros and ones.

    A network that foresees what raters say is as unsure as they are; against its probabilities all
    would look worse than they are. A trace of them stays, for classes that it never answers.

    Args:
        truth: class probabilities (n_cases, n_classes).
        used: classes that raters used; nothing is said of others.
    """
    is_used = np.isin(np.arange(truth.shape[1]), used)
    answered: Counts = np.eye(truth.shape[1])[truth.argmax(1)]
    return (1 - _TRACE) * answered + _TRACE * truth * is_used


def truth_of(predictor: Predictor, cases: Sequence[Case]) -> Counts:
    """Return the network's class probabilities, (n_cases, n_classes)."""
    found = track(predictor.of_cases(cases, lambda _: ()), "looking at cases", len(cases))
    return np.stack([each.prediction.probability.astype(float) for each in found])


def _pairs(first: Positions, second: Positions, n_classes: int) -> Counts:
    """Count pairs of classes, (n_classes, n_classes)."""
    cells = np.bincount(first * n_classes + second, minlength=n_classes**2)
    return cells.reshape(n_classes, n_classes).astype(float)
