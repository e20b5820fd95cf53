"""Pictures in the place of labels: dark ones pass for drawings of many classes."""

from __future__ import annotations

import numpy as np

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding

_FEWEST = 8
"""Classes of a case, used by one rater alone, from which on they are likely grey values."""


def pictures_for_labels(facts: StudyFacts) -> list[Finding]:
    """Find raters who use many classes that nobody else uses in the same case.

    Raters who divide an object differently share most of their names; grey values are nobody
    else's.
    """
    if not facts.is_masks:
        return []
    used = facts.pixels > 0
    alone = (used & (used.sum(1, keepdims=True) == 1)).sum(2)
    shared = facts.labelled.sum(1) > 1
    findings = []
    for number, rater in enumerate(facts.raters):
        where = facts.labelled[:, number] & shared
        usual = float(np.median(alone[where, number])) if where.any() else 0.0
        if usual >= _FEWEST:
            findings.append(_finding(facts, rater, usual, where & (alone[:, number] >= _FEWEST)))
    return findings


def _finding(facts: StudyFacts, rater: str, usual: float, where: np.ndarray) -> Finding:
    return Finding(
        "problem",
        f"{rater} usually uses {usual:.0f} classes in a case that nobody else uses there: pictures "
        "in the place of labels, perhaps",
        "picture-for-label",
        {"classes": usual},
        facts.names(where),
        (rater,),
        fix=f"check the files of {rater}: are they labels?",
    )
