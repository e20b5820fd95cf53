"""Which method `fuse` takes when none is named, and why.

The rules come from studies with a known truth (benchmarks/fusion_choice.py, docs/fusion.md): few
raters and many, nested drawings, spammers, crowds, raters with the same tool. What is chosen was
never far below the majority vote there, and above it wherever raters differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multirater.fuse.quality import class_dirichlet
from multirater.types import Dataset

_FEWEST = 3
"""Labels per case from which on it shows who errs."""

_FEWEST_PER_CLASS = 6.0
"""Answers of a rater per class, in the mean, from which on a matrix can be told from them. With
fewer Dawid-Skene lost up to 60 points to a vote in simulated studies, and one class took all."""


@dataclass(frozen=True)
class Choice:
    """A method, with its options.

    Attributes:
        method: a name from `fuse.methods.METHODS`.
        why: one line.
        options: keyword arguments of the method.
    """

    method: str
    why: str
    options: Mapping[str, Any] = field(default_factory=dict)


def choose_method(dataset: Dataset) -> Choice:
    """Choose a method for a data set by what it holds.

    Args:
        dataset: masks or class labels.
    """
    n_labels = [len(case.labels) for case in dataset if case.labels]
    most = int(np.median(n_labels)) if n_labels else 0
    decided = any(case.gold is not None for case in dataset)
    n_raters = len(dataset.raters)
    return choice_for(
        dataset.kind == "masks",
        most,
        n_raters,
        decided=decided,
        n_classes=_n_classes(dataset),
        answers_of_a_rater=sum(n_labels) / max(n_raters, 1),
    )


def _n_classes(dataset: Dataset) -> int:
    """Count classes of class labels, by the labels where the data set does not name them."""
    if dataset.classes is not None or dataset.kind == "masks":
        return len(dataset.classes or ())
    highest = (
        int(np.max(case.read_label(rater).array, initial=0))
        for case in dataset
        for rater in case.labels
    )
    return max(highest, default=0) + 1


def choice_for(
    is_masks: bool,
    labels_per_case: int,
    n_raters: int,
    *,
    decided: bool = False,
    n_classes: int = 2,
    answers_of_a_rater: float = float("inf"),
) -> Choice:
    """Choose a method by the kind of labels and how many there are.

    Args:
        is_masks: labels are drawings.
        labels_per_case: of most cases.
        n_raters: of the data set.
        decided: whether gold labels of some cases show who errs.
        n_classes: of the labels.
        answers_of_a_rater: class labels that a rater gave, in the mean.

    Example:
        >>> choice_for(True, 5, 5).method, choice_for(False, 3, 176).method
        ('weighted-vote', 'dawid-skene')
        >>> choice_for(True, 2, 2).method, choice_for(True, 2, 40, decided=True).method
        ('majority-vote', 'weighted-vote')
        >>> choice_for(False, 3, 3, n_classes=12, answers_of_a_rater=30).method
        'weighted-vote'
    """
    is_sparse = is_masks and labels_per_case < _FEWEST
    # Where nobody accompanies anybody, Dawid-Skene would call every case the most frequent class.
    is_alone = labels_per_case < 2
    if n_raters < _FEWEST or ((is_sparse or is_alone) and not decided):
        few = "one rater" if n_raters < 2 else "two raters"
        said = few if n_raters < _FEWEST else f"{labels_per_case} labels per case"
        kept = "the lower class where they differ"
        kept += " (of one kind of object, what both drew)" if is_masks else ""
        why = (
            f"with {said} no fusion can tell who is right; the vote keeps {kept}: a third rater "
            "would show who errs"
        )
        if n_raters < 2 or is_alone:
            why = "a case that one rater labelled keeps that label: nothing can be fused"
        return Choice("majority-vote", why)
    if is_sparse:
        why = (
            f"{n_raters} raters and gold labels, which show who errs though most cases have few "
            "labels: a vote counts by how far the rater agrees with them and with the others"
        )
        return Choice("weighted-vote", why)
    if is_masks:
        why = (
            f"{n_raters} raters; a vote counts by how far the rater agrees with the others, which "
            "was best or close to it with few, nested, spamming and crowds of raters"
        )
        return Choice("weighted-vote", why)
    if answers_of_a_rater < _FEWEST_PER_CLASS * n_classes:
        why = (
            f"{answers_of_a_rater:.3g} answers of a rater are too few for a matrix of {n_classes} "
            "classes: a vote counts by how far the rater agrees with the others"
        )
        return Choice("weighted-vote", why)
    why = (
        f"{n_raters} raters of class labels; one matrix each, held back where answers are few, was "
        "best or close to it with few raters, spammers and crowds"
    )
    return Choice("dawid-skene", why, {"dirichlet": class_dirichlet(n_classes)})


def choice_of(method: str | None, options: Mapping[str, Any] | None, chosen: Choice) -> Choice:
    """Return what was asked for; the choice, with the options that were named, when nothing was."""
    if method is not None:
        return Choice(method, "", dict(options or {}))
    return Choice(chosen.method, chosen.why, {**chosen.options, **(options or {})})
