"""Pictures and volumes in one study."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multirater.io.survey import CaseSurvey
from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import counted


def mixed_axes(facts: StudyFacts) -> list[Finding]:
    """Find a study that holds pictures beside volumes, whose voxels outnumber all pixels."""
    text = said_of_axes(facts.cases)
    if not text or not facts.is_masks:
        return []
    flat = np.array([len(case.space) == 2 for case in facts.cases])
    deep = np.array([len(case.space) == 3 for case in facts.cases])
    fewer = flat if flat.sum() <= deep.sum() else deep
    numbers = {"pictures": int(flat.sum()), "volumes": int(deep.sum())}
    fix = "make two studies of it, one of pictures and one of volumes"
    return [Finding("problem", text, "mixed-axes", numbers, facts.names(fewer), fix=fix)]


def said_of_axes(cases: Sequence[CaseSurvey]) -> str:
    """Say that a study has both pictures and volumes; nothing where it has not."""
    n_axes = [len(case.space) for case in cases]
    flat, deep = n_axes.count(2), n_axes.count(3)
    if not flat or not deep:
        return ""
    return (
        f"the study mixes {counted(flat, 'picture')} (2-D) and {counted(deep, 'volume')} (3-D): "
        "what is counted over all pixels is said by the volumes, and no network trains on both"
    )
