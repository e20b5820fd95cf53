"""Can a network of class labels be trusted: what it learned from, and what it made of it.

The truth is judged once more, as `multirater.training.class_raters` does it, by labels and by cases
that look alike, whatever the network says. Against that truth three things tell a run that failed:
a rehearsal in which what the network learned costs many answers
(`multirater.training.class_rehearsal`); a network that answers cases it has not seen worse than
cases that look like them do; and a class that labels tell and the network hardly ever answers. How
well they do is measured where the truth is known (benchmarks/class_arena.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.identifiability import ENOUGH_LABELS
from multirater.training.class_answers import ClassAnswers
from multirater.training.class_raters import (
    ClassLabels,
    Judgement,
    Shares,
    as_shares,
    judge_by_looks,
    judge_raters,
)
from multirater.training.class_rehearsal import Learned, believed, expected_loss
from multirater.training.near_cases import NearCases
from multirater.trust import Finding, Level
from multirater.words import listed

_RIGHT = 0.8
"""Share of right labels below which it is said that they are few."""

_LOSS = 0.035
"""Share of unseen cases lost to what was learned, in a rehearsal, from which on it is a problem.
Chosen on seed 0 of the arena."""

_TOGETHER = 0.8
"""Mean probability of the judged class below which labels and looks together tell too little."""

_BEHIND = 0.1
"""Share of unseen cases by which a network may be behind cases that look like them."""

_ENOUGH_UNSEEN = 30
_SOMETHING = 0.1
"""Share of unseen cases that looks must tell beyond the commonest class to be a measure."""
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
        together: mean probability of the class that labels and cases which look alike tell.
        loss: share of unseen cases that are lost to what was learned, in a rehearsal; NaN where
            cases were not compared.
        behind: share of unseen cases that cases which look like them answer as judged and the
            network does not, less the other way round; NaN where too few are known, or looks tell
            next to nothing.
        met: how often each class is answered where it is the truth, (L,); NaN where too few are.
        overall: the same over all cases.
    """

    right: float
    told: float
    together: float
    loss: float
    behind: float
    met: Shares
    overall: float

    @property
    def least_met(self) -> float:
        """How often the class is answered that is missed most, compared with all."""
        known = self.met[~np.isnan(self.met)]
        return float(known.min() / max(self.overall, 1e-9)) if len(known) else 1.0


@dataclass(frozen=True, eq=False)
class AskedCases:
    """Cases that a network is judged by.

    Attributes:
        probability: of the classes by the network, (n_cases, L).
        answers: the labels, at least one of each case.
        n_raters: of the data set.
        near: compares the cases; None when there are too few.
        unseen: whether the network was not trained on a case, (n_cases,).
    """

    probability: Shares
    answers: ClassAnswers
    n_raters: int
    near: NearCases | None = None
    unseen: NDArray[np.bool_] | None = None


def lesson_of(cases: AskedCases, *, matrices: Shares | None, fused: str | None) -> Lesson:
    """Judge labels and network.

    Args:
        cases: to judge by.
        matrices: those of the network, (n_raters, true, observed), when it has any.
        fused: name of the fusion that the network learned instead of labels.
    """
    probability, answers, near = cases.probability, cases.answers, cases.near
    labels = ClassLabels(answers, cases.n_raters, *probability.shape)
    if near is None:
        judged = judge_raters(answers, probability, cases.n_raters)
    else:
        judged = judge_by_looks(answers, near, cases.n_raters, probability.shape[1])
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
        together=float(judged.truth.max(1).mean()),
        loss=_loss(cases, judged, by if matrices is not None else None, fused),
        behind=_behind(cases, judged.truth),
        met=np.where(n_true < ENOUGH_LABELS, np.nan, met),
        overall=float((truth * answered).sum() / len(truth)),
    )


def _loss(
    cases: AskedCases, judged: Judgement, matrices: Shares | None, fused: str | None
) -> float:
    """Rehearse what the network learned."""
    if cases.near is None:
        return float("nan")
    learned: Learned = "labels" if fused is None else "fusion"
    if fused == "majority-vote":
        learned = "vote"
    world = believed(cases.answers, judged)
    return expected_loss(
        world, cases.answers, cases.near, learned if matrices is None else matrices
    )


def _behind(cases: AskedCases, truth: Shares) -> float:
    """Compare the network with cases that look alike, where neither was taught the case."""
    if cases.near is None or cases.unseen is None or cases.unseen.sum() < _ENOUGH_UNSEEN:
        return float("nan")
    asked, told = cases.unseen, truth.argmax(1)
    by_looks, network = (
        float((who.argmax(1)[asked] == told[asked]).mean())
        for who in (cases.near.guess(truth), cases.probability)
    )
    commonest = float(np.bincount(told[asked]).max() / asked.sum())
    return by_looks - network if by_looks > commonest + _SOMETHING else float("nan")


def _right(truth: Shares, alone: Shares, labels: ClassLabels, fused: str | None) -> float:
    """Return the share of right ones among the labels that were learned.

    A network that learns all labels of a case as they are learns their vote.
    """
    target = labels.votes if fused in (None, "majority-vote") else alone
    return float(truth[np.arange(len(truth)), target.argmax(1)].mean())


def lesson_findings(lesson: Lesson, classes: Sequence[str]) -> list[Finding]:
    """Say what speaks for and against the lesson."""
    return [*_labels_right(lesson), *_network_behind(lesson), *_classes_met(lesson, classes)]


def _labels_right(lesson: Lesson) -> list[Finding]:
    numbers = {"right": lesson.right, "loss": lesson.loss, "together": lesson.together}
    said = f"About {lesson.right:.0%} of what the network learned from is right"
    if not np.isnan(lesson.loss):
        said += (
            f"; in a rehearsal that costs {max(lesson.loss, 0.0):.1%} of the answers to unseen "
            "cases, compared with the right classes"
        )
    if lesson.loss >= _LOSS:
        text = (
            f"{said}: expect the network to be well below one that learned from the truth. Get "
            "second labels for some cases, or labels of better raters; or train by the method auto."
        )
        fix = "get second labels for some cases, labels of better raters, or train by auto"
        return [Finding("problem", text, "labels", numbers, fix=fix)]
    if not np.isnan(lesson.loss) and lesson.together < _TOGETHER:
        text = (
            f"Labels and cases that look alike together tell the class of a case with a "
            f"probability of {lesson.together:.0%} on average: too little to say that the network "
            "is right. Get second labels for some cases, or labels of better raters."
        )
        fix = "get second labels for some cases, or labels of better raters"
        return [Finding("problem", text, "labels", numbers, fix=fix)]
    level: Level = "good" if lesson.right >= _RIGHT else "caution"
    return [Finding(level, f"{said}.", "labels", numbers)]


def _network_behind(lesson: Lesson) -> list[Finding]:
    if not lesson.behind > _BEHIND:
        return []
    text = (
        f"Of cases it was not trained on the network answers {lesson.behind:.0%} fewer as labels "
        "tell them than plain comparison with cases that look alike does: it has not learned "
        "enough. Train for more epochs, or by the method auto."
    )
    return [Finding("problem", text, "network behind", {"behind": lesson.behind})]


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


def beside_looks(findings: Sequence[Finding], lesson: Lesson | None) -> list[Finding]:
    """Return what is said of a network beside raters as cautions, where looks tell no more.

    A network far below raters has failed, unless cases that look alike, taught what was found of
    the truth, do not come closer: then so many such images do not tell more.

    Args:
        findings: on the network beside raters.
        lesson: what the network made of its labels.
    """
    if lesson is None or not lesson.behind <= _BEHIND:
        return list(findings)
    return [
        replace(
            each,
            level="caution",
            text=f"{each.text} Cases that look alike are not closer to raters: more cases, or "
            "better images, may be needed.",
        )
        if each.level == "problem"
        else each
        for each in findings
    ]


def relieved(findings: Sequence[Finding]) -> list[Finding]:
    """Return problems as cautions: of names that are found not to do harm."""
    return [
        replace(each, level="caution") if each.level == "problem" else each for each in findings
    ]
