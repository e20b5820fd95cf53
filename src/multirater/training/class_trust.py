"""Can a network of class labels be trusted: what it learned from, and what it made of it.

The truth is judged once more, as `multirater.training.class_raters` does it, with the trained
network for a witness. Against that truth two things tell a run that failed: labels that are often
wrong with a network that stayed unsure, and a class that labels tell and the network hardly ever
answers. How well they do is measured where the truth is known (benchmarks/class_arena.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from multirater.fuse.identifiability import ENOUGH_LABELS
from multirater.training.class_answers import ClassAnswers
from multirater.training.class_raters import ClassLabels, Shares, as_shares, judge_raters
from multirater.trust import Finding
from multirater.words import listed

_RIGHT = 0.8
"""Share of right labels below which a network has to be sure all the same."""

_SURE = 0.85
"""Mean probability of its answers from which on it is."""

_MET = 0.36
"""A class is lost that the network answers less than this often, compared with all classes."""

_TOLD = 0.8
"""Share of cases whose class is told, from which on a bad name for a class does no harm."""

_KEPT = 0.6


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a network learned from, and what it made of it.

    Attributes:
        right: share of the labels it learned from that are right; of a method with matrices, of
            the cases whose class its labels tell by them.
        told: share of the cases whose class all their labels tell together.
        sure: mean probability of the network's answers.
        met: how often each class is answered where it is the truth, (L,); NaN where too few are.
        overall: the same over all cases.
    """

    right: float
    told: float
    sure: float
    met: Shares
    overall: float

    @property
    def least_met(self) -> float:
        """How often the class is answered that is missed most, compared with all."""
        known = self.met[~np.isnan(self.met)]
        return float(known.min() / max(self.overall, 1e-9)) if len(known) else 1.0


def lesson_of(
    probability: Shares,
    answers: ClassAnswers,
    n_raters: int,
    *,
    matrices: Shares | None,
    fused: str | None,
) -> Lesson:
    """Judge labels and network by each other.

    Args:
        probability: of the classes by the network, (n_cases, L).
        answers: the labels, at least one of each case.
        n_raters: of the data set.
        matrices: those of the network, (n_raters, true, observed), when it has any.
        fused: name of the fusion that the network learned instead of labels.
    """
    labels = ClassLabels(answers, n_raters, *probability.shape)
    judged = judge_raters(answers, probability, n_raters)
    by = judged.matrices if matrices is None else np.maximum(matrices, 1e-6)
    truth = labels.posterior(judged.guess, by)
    alone = labels.posterior(as_shares(truth.sum(0) + 1)[None], by)
    told = float(alone.max(1).mean())
    answered = np.eye(truth.shape[1])[probability.argmax(1)]
    n_true = truth.sum(0)
    met = (truth * answered).sum(0) / np.maximum(n_true, 1e-9)
    return Lesson(
        right=told if matrices is not None else _right(truth, alone, labels, fused),
        told=told,
        sure=float(probability.max(1).mean()),
        met=np.where(n_true < ENOUGH_LABELS, np.nan, met),
        overall=float((truth * answered).sum() / len(truth)),
    )


def _right(truth: Shares, alone: Shares, labels: ClassLabels, fused: str | None) -> float:
    """Return the share of right ones among the labels that were learned.

    A network that learns all labels of a case as they are learns their vote.
    """
    target = labels.votes if fused in (None, "majority-vote") else alone
    return float(truth[np.arange(len(truth)), target.argmax(1)].mean())


def lesson_findings(lesson: Lesson, classes: Sequence[str]) -> list[Finding]:
    """Say what speaks for and against the lesson."""
    return [*_labels_right(lesson), *_classes_met(lesson, classes)]


def _labels_right(lesson: Lesson) -> list[Finding]:
    numbers = {"right": lesson.right, "sure": lesson.sure}
    said = f"About {lesson.right:.0%} of what the network learned from is right"
    if lesson.right >= _RIGHT:
        return [Finding("good", f"{said}.", "labels", numbers)]
    if lesson.sure >= _SURE:
        text = f"{said}, but it is sure of its answers ({lesson.sure:.0%} on average)."
        return [Finding("caution", text, "labels", numbers)]
    return [
        Finding(
            "problem",
            f"{said}, and it is not sure of its answers ({lesson.sure:.0%} on average): expect it "
            "to be well below a network that learned from the truth. Get second labels for some "
            "cases, or labels of better raters.",
            "labels",
            numbers,
            fix="get second labels for some cases, or labels of better raters",
        )
    ]


def _classes_met(lesson: Lesson, classes: Sequence[str]) -> list[Finding]:
    if lesson.least_met >= _MET:
        return []
    lost = np.flatnonzero(lesson.met < _MET * lesson.overall).tolist()
    named = [f"{classes[k]} ({lesson.met[k]:.0%} of its cases)" for k in lost]
    return [
        Finding(
            "problem",
            f"Labels tell {listed(named)}, but the network hardly ever answers so; of all cases it "
            f"answers {lesson.overall:.0%} as labels tell. Look at some of these cases; train for "
            "more epochs, or by the method auto.",
            "class not answered",
            {classes[k]: float(lesson.met[k]) for k in lost},
        )
    ]


def names_do_no_harm(lesson: Lesson) -> bool:
    """Whether labels tell classes, and the network answers them, whatever most raters call them."""
    return lesson.told >= _TOLD and lesson.overall >= _TOLD and lesson.least_met >= _KEPT


def relieved(findings: Sequence[Finding]) -> list[Finding]:
    """Return problems as cautions: of names that are found not to do harm."""
    return [
        replace(each, level="caution") if each.level == "problem" else each for each in findings
    ]
