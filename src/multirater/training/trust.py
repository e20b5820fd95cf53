"""Can the network be trusted, in words and numbers a user can act on; no truth is needed.

Each finding is good, a caution or a problem. The level of the whole is that of the gravest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.fuse.identifiability import ENOUGH_LABELS, margins, name_margins
from multirater.training.class_trust import Lesson, lesson_findings, names_do_no_harm, relieved
from multirater.trust import Finding, Level, Trust, gravest_first
from multirater.words import listed

Counts: TypeAlias = NDArray[np.float64]

_FEW_LABELS = 5
_WIDE = 0.1
"""Half width of a skill's interval from which on the estimate is called uncertain."""

_ALONE = 0.6
"""Weight from which on the answer is said to follow one rater."""

_MENTIONED = 0.01

_FAR = 0.1
"""Share of the cases, or of the pixels called other than background by either, on which answer and
vote differ, from which on a closer look is advised."""


_EVEN = 0.001
"""Margin below which a class is called by another name as often as by its own."""

_LOST = 0.1
"""Share of the labels of a class below which a network that answers it so rarely has lost it."""

_ADVICE = (
    "Either raters err as much as that, and nothing guarantees that classes get their names right, "
    "or the network has not found the truth. Look at some cases; get labels of better raters, or "
    "of more; or train for more epochs."
)

_MISFIT = 0.1
"""Difference of two shares of right labels from which on matrices are said not to fit."""


def share_right(counts: Counts) -> float:
    """Return the share of labels on the diagonal of (n_raters, true, observed)."""
    return float(np.trace(counts.sum(0)) / max(counts.sum(), 1e-9))


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the statement rests on, all against the network's truth.

    Attributes:
        table: rows of `raters.csv`.
        counts: items (n_raters, true, observed) of what raters said, whatever the network's own
            matrices say. An item is a pixel of a drawing, or a case with class labels.
        disputed: items (true, observed) of all raters, where raters disagree.
        votes: items (majority vote, truth).
        changed: (n_cases,), items of each case where vote and truth differ.
        disputed_share: of the items that raters can be compared on; NaN when none has labels of
            two, and nobody foresees what they would be.
        cases: names.
        raters: names.
        classes: names.
        weights: how far each rater is followed; empty for methods that do not weigh them.
        of_classes: labels are classes of whole images.
        claimed: share of the labels that are right by the network's own matrices; NaN when it has
            none.
        lesson: what a network of class labels learned from, and what it made of it.
        foreseen: no case has labels of two raters; what is disputed was seen in what the network
            expects them to draw.
        borne_out: the raters whose drawings fixed filters of the image foresee best; empty where
            nobody asked them.
        answered: items (answer, observed) of all raters, by what the network answers, be it sure
            or not; None where `counts` are so already.
    """

    table: pd.DataFrame
    counts: Counts
    disputed: Counts
    votes: Counts
    changed: Counts
    disputed_share: float
    cases: tuple[str, ...]
    raters: tuple[str, ...]
    classes: tuple[str, ...]
    weights: tuple[float, ...]
    of_classes: bool = False
    claimed: float = float("nan")
    lesson: Lesson | None = None
    borne_out: tuple[str, ...] = ()
    foreseen: bool = False
    answered: Counts | None = None

    @property
    def items(self) -> str:
        """What is counted."""
        return "cases" if self.of_classes else "pixels"

    @property
    def seen(self) -> float:
        """Share of the labels that agree with the network."""
        return share_right(self.counts)


def trust_of(evidence: Evidence) -> Trust:
    """Collect what speaks for and against the network's truth."""
    findings = [
        *_names(evidence),
        *_lesson(evidence),
        *_lost(evidence),
        *_matrices_fit(evidence),
        *_dominant_where_disputed(evidence),
        *_followed(evidence),
        *_few_labels(evidence),
        *_against_vote(evidence),
    ]
    ranked = gravest_first(findings)
    return Trust(_summary(ranked[0].level), ranked)


def _names(evidence: Evidence) -> list[Finding]:
    """Say whether classes can have got each other's names."""
    found = [*_identifiable(evidence), *_swapped(evidence)]
    harmless = evidence.lesson is not None and names_do_no_harm(evidence.lesson)
    return relieved(found) if harmless else found


def _lesson(evidence: Evidence) -> list[Finding]:
    lesson = evidence.lesson
    return [] if lesson is None else lesson_findings(lesson, evidence.classes)


def _summary(gravest: Level) -> str:
    return {
        "problem": "Do not rely on this network before the problems below are looked into.",
        "caution": "Usable with care: read the cautions.",
        "good": "Nothing was found that speaks against this network.",
    }[gravest]


def _identifiable(evidence: Evidence) -> list[Finding]:
    """Say whether the mean confusion matrix is diagonally dominant, by rows and by columns.

    Beside the network's answers: where raters cannot be learned from, its own matrices keep what
    they began with, and that is dominant.
    """
    counts = evidence.counts.sum(0)
    by_class, by_name = margins(counts), name_margins(counts)
    weak, shared = (_weak(evidence.classes, margin) for margin in (by_class, by_name))
    found = []
    if weak:
        text = (
            f"For {listed(weak)} raters are, on average, not right more often than wrong in some "
            f"one way: the mean confusion matrix is not diagonally dominant. {_ADVICE}"
        )
        found.append(Finding("problem", text))
    if shared:
        text = (
            f"The answer {listed(shared)} is, on average, given to some other class as readily as "
            f"to its own: the mean confusion matrix is not diagonally dominant. {_ADVICE}"
        )
        found.append(Finding("problem", text))
    if found or _lost_classes(evidence):
        return found
    smallest = min(np.nanmin(by_class), np.nanmin(by_name))
    return [
        Finding(
            "good",
            "Identifiable: in every class that is answered raters are, on average, right more "
            f"often than wrong in any one way (smallest margin {smallest:.2f}).",
        )
    ]


def _lost(evidence: Evidence) -> list[Finding]:
    """Raise an alarm when the network hardly ever answers a class that raters use."""
    lost = _lost_classes(evidence)
    if not lost:
        return []
    counts = evidence.counts.sum(0)
    answered, said = (counts.sum(axis) / counts.sum() for axis in (1, 0))
    named = [
        f"{evidence.classes[k]} ({answered[k]:.1%} of what raters labelled; they say it of "
        f"{said[k]:.1%})"
        for k in lost
    ]
    return [
        Finding(
            "problem",
            f"The network hardly ever answers {listed(named)}: nothing shows that the mean "
            f"confusion matrix is diagonally dominant there. {_ADVICE}",
        )
    ]


def _lost_classes(evidence: Evidence) -> list[int]:
    counts = evidence.counts.sum(0)
    answered, said = counts.sum(1), counts.sum(0)
    return np.flatnonzero((said >= ENOUGH_LABELS) & (answered < _LOST * said)).tolist()


def _dominant_where_disputed(evidence: Evidence) -> list[Finding]:
    """Say the same of the pixels on which raters disagree, where it is hardest."""
    n_raters = int((evidence.counts.sum((1, 2)) > 0).sum())
    if np.isnan(evidence.disputed_share) or (n_raters == 2 and not evidence.of_classes):
        # Of two raters who differ, one says otherwise whatever the network answers.
        return []
    total = evidence.disputed.sum()
    if not total:
        return [Finding("good", _never_disputed(evidence))]
    margin = margins(evidence.disputed)
    said = _disputed(evidence, float(np.trace(evidence.disputed) / total))
    weak = _weak(evidence.classes, margin)
    if not weak:
        return [Finding("good", f"{said}, and in every class most do.")]
    look = f"look at some of these {evidence.items}."
    advice = look.capitalize()
    if evidence.weights:
        advice = f"It follows the raters whose labels follow from the image: {look}"
    say = "would say" if evidence.foreseen else "say"
    text = f"{said}; where the network says {listed(weak)}, most raters {say} otherwise. {advice}"
    return [Finding("caution", text)]


_NOT_SEEN = "No case has labels of two raters; by what the network expects them to draw, they"


def _never_disputed(evidence: Evidence) -> str:
    return f"{_NOT_SEEN} never disagree." if evidence.foreseen else "Raters never disagree."


def _disputed(evidence: Evidence, right: float) -> str:
    """Say how much is disputed, and how much of what raters say there the network agrees with."""
    who, labels = (_NOT_SEEN, "drawings") if evidence.foreseen else ("Raters", "labels")
    return (
        f"{who} disagree on {evidence.disputed_share:.1%} of the {evidence.items}; there, "
        f"{right:.0%} of their {labels} agree with the network"
    )


def _matrices_fit(evidence: Evidence) -> list[Finding]:
    """Raise a caution when matrices claim what the labels do not bear out."""
    claimed, seen = evidence.claimed, evidence.seen
    if np.isnan(claimed) or abs(claimed - seen) < _MISFIT:
        return []
    return [
        Finding(
            "caution",
            f"By the network's matrices {claimed:.0%} of the labels are right, but {seen:.0%} "
            "agree with its answers: what is said of raters may not hold. Train for more epochs; "
            "of several labels per case, `--likelihood joint` learns more than marginal.",
        )
    ]


def _swapped(evidence: Evidence) -> list[Finding]:
    """Raise an alarm when raters as a whole call a class by another's name.

    They have to do so where the network answers it: one that is not sure yet gives some of every
    class to all items, and the rarer would seem to be called by the name of the more frequent.
    """
    swapped = _called_otherwise(evidence.counts.sum(0))
    if evidence.answered is not None:
        swapped = [each for each in swapped if each in _called_otherwise(evidence.answered)]
    if not swapped:
        return [Finding("good", "No class is mostly called by another's name: none is swapped.")]
    pairs = [f"{evidence.classes[t]} is mostly called {evidence.classes[o]}" for t, o in swapped]
    return [Finding("problem", f"Classes may be swapped: {listed(pairs)}.")]


def _called_otherwise(counts: Counts) -> list[tuple[int, int]]:
    """Return classes and the other names that most labels (true, observed) of each say."""
    called = [(t, int(row.argmax())) for t, row in enumerate(counts) if row.sum() > 0.5]
    return [(t, o) for t, o in called if t != o]


def _followed(evidence: Evidence) -> list[Finding]:
    if len(evidence.weights) < 2:
        return []
    order = np.argsort(evidence.weights)[::-1]
    best = int(order[0])
    named = [
        f"{evidence.raters[r]} ({evidence.weights[r]:.0%})"
        for r in order[:5]
        if evidence.weights[r] >= _MENTIONED
    ]
    said = f"Followed most: {listed(named, most=5)}"
    numbers = {evidence.raters[r]: float(evidence.weights[r]) for r in order}
    name = evidence.raters[best]
    if evidence.weights[best] < _ALONE:
        return [Finding("good", f"{said}.", "followed", numbers, raters=(name,))]
    said += f". The answer rests on one rater, {name}"
    look = f"look at some drawings of {name}."
    if name in evidence.borne_out or not evidence.borne_out or _from_vote(evidence) < _FAR:
        text = f"{said}, whose labels follow from the image best: {look}"
        return [Finding("caution", text, "followed", numbers, raters=(name,))]
    text = (
        f"{said}, against the vote of the others, and fixed filters of the image bear out "
        f"{listed(evidence.borne_out, most=3)} instead: {look[:-1]}, and train with "
        f"other seeds (`--seeds 3`) or without that rater (`--exclude`)."
    )
    return [Finding("problem", text, "followed", numbers, raters=(name,))]


def _few_labels(evidence: Evidence) -> list[Finding]:
    """Name raters whose estimates rest on too few labels."""
    table = evidence.table
    wide = (table["skill_high"] - table["skill_low"]) / 2 > _WIDE
    few = table[(table["labels"] > 0) & ((table["labels"] < _FEW_LABELS) | wide)]
    if few.empty:
        return []
    named = [f"{rater} ({int(n)})" for rater, n in few["labels"].sort_values().items()]
    text = f"Estimates of these raters rest on too few labels (cases): {listed(named, most=5)}."
    return [Finding("caution", text)]


def _from_vote(evidence: Evidence) -> float:
    """Share of items on which answer and vote differ; of drawings, where either has an object."""
    votes = evidence.votes
    of_interest = votes.sum() - (0.0 if evidence.of_classes else votes[0, 0])
    return float((votes.sum() - np.trace(votes)) / max(of_interest, 1e-9))


def _against_vote(evidence: Evidence) -> list[Finding]:
    """Say how much the answer differs from the majority vote, in which way and in which cases."""
    changed = evidence.votes.copy()
    np.fill_diagonal(changed, 0)
    if not (evidence.votes.sum() if evidence.of_classes else evidence.votes.ravel()[1:].sum()):
        return []
    share = _from_vote(evidence)
    if not changed.any():
        return [Finding("good", "The answer is the majority vote.")]
    vote, answer = np.unravel_index(int(changed.argmax()), changed.shape)
    order = np.argsort(-evidence.changed, kind="stable")[:3]
    most = [evidence.cases[i] for i in order if evidence.changed[i] > 0]
    of_what = (
        "cases"
        if evidence.of_classes
        else (f"pixels that either calls other than {evidence.classes[0]}")
    )
    where = "For example" if evidence.of_classes else "Most in"
    return [
        Finding(
            "good" if share < _FAR else "caution",
            f"The answer differs from the majority vote on {share:.1%} of the {of_what}; most "
            f"often the vote says {evidence.classes[vote]} and the network "
            f"{evidence.classes[answer]} ({changed[vote, answer] / changed.sum():.0%} of them). "
            f"{where} {listed(most)}.",
        )
    ]


def _weak(classes: tuple[str, ...], margin: Counts) -> list[str]:
    """Name the classes that are called by another name as often as by their own, or more."""
    return [name for name, m in zip(classes, margin, strict=True) if m < _EVEN]
