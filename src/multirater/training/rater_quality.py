"""Quality of the raters of a run: nobody has a say in what they are judged by.

Where others labelled a case, they judge, as in every result of the study. Where too few did, what
the other raters would have drawn stands in for them: their heads never saw a label of theirs on
that case. A network without heads speaks only of cases that it was not trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.fuse.answers import answers_from_rows
from multirater.fuse.left_out import left_out_vote
from multirater.fuse.quality import (
    case_quality,
    quality_of_answers,
    quality_of_cases,
    quality_of_class_labels,
    quality_of_drawings,
)
from multirater.patterns import encode_patterns
from multirater.types import MISSING

Counts: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]

FEWEST = 3
"""Labels of a case from which on the others of each rater can judge by themselves."""


@dataclass(frozen=True, eq=False)
class Judged:
    """What raters drew in a case, and what stands in for those who did not.

    Attributes:
        labels: patterns (n_rows, n_raters), -1 where missing.
        voices: (n_rows, n_raters + 1), labels and what stands in for missing ones; last the
            network itself, where it may speak.
        counts: pixels that carry each pattern.
    """

    labels: Rows
    voices: Rows
    counts: NDArray[Any]


def judged_case(
    labels: Sequence[NDArray[np.integer]],
    heads: NDArray[np.integer] | None,
    asked: Sequence[int],
    network: NDArray[np.integer] | None,
    weight: Counts | None = None,
) -> Judged:
    """Find what occurs together in a case.

    Args:
        labels: of all raters, each (*space), -1 where missing.
        heads: what the network expects the raters asked to draw, (n_asked, *space); None where the
            case has labels enough, or the network does not know raters.
        asked: positions of these raters.
        network: its own answer, (*space), where it has not seen the case and has no heads.
        weight: pixels that each stands for, (*space); one, without.
    """
    n_raters = len(labels)
    nobody = np.broadcast_to(np.int16(MISSING), labels[0].shape)
    spoken = dict(zip(asked, heads, strict=True)) if heads is not None else {}
    absent = [bool((own == MISSING).all()) for own in labels]
    voices = [spoken.get(rater, nobody) if absent[rater] else nobody for rater in range(n_raters)]
    answer = nobody if network is None else network
    found = encode_patterns([*labels, *voices, answer])
    rows = found.rows.astype(np.int64)
    own, stand_in = rows[:, :n_raters], rows[:, n_raters:]
    together = np.concatenate(
        [np.where(own != MISSING, own, stand_in[:, :-1]), stand_in[:, -1:]], 1
    )
    counts = found.counts
    if weight is not None:
        counts = np.bincount(found.index.ravel(), weight.ravel(), len(rows))
    return Judged(own, together, counts)


def judged_by_labels(rows: Rows, counts: NDArray[Any]) -> Judged:
    """Return a case whose labels judge by themselves.

    Args:
        rows: patterns (n_rows, n_raters), -1 where missing.
        counts: pixels that carry each.
    """
    nobody = np.full((len(rows), 1), MISSING, dtype=np.int64)
    return Judged(rows, np.concatenate([rows, nobody], 1), counts)


def quality_in_run(
    cases: Sequence[Judged], raters: Sequence[str], n_classes: int, followed: Sequence[float]
) -> pd.DataFrame:
    """Return the quality of each rater of drawings.

    Args:
        cases: of the run.
        raters: names.
        n_classes: background included.
        followed: how far the network follows each rater; empty where it does not weigh them.

    Returns:
        As `fuse.quality`. A rater is unknown whom nobody accompanies and whose cases the network
        was trained on.
    """
    n_labels = [int((case.labels != MISSING).any(0).sum()) for case in cases]
    if np.median(n_labels) >= FEWEST or len(raters) == 2:
        known = [(case.labels, case.counts) for case in cases]
        return quality_of_drawings(known, raters, n_classes)
    weight = np.ones(len(raters) + 1)
    if len(followed) == len(raters):
        # Whom it does not follow at all still speaks where nobody else does.
        weight[:-1] = np.maximum(followed, 1e-6)
    scores = [
        case_quality(
            case.labels,
            case.counts,
            left_out_vote(case.voices, weight, n_classes)[:, :-1],
            n_classes,
            is_mask=True,
        )
        for case in cases
    ]
    return quality_of_cases(np.array(scores), raters)


def class_quality_in_run(
    labels: Rows,
    answer: NDArray[np.integer],
    held_out: Sequence[bool],
    own: Counts | None,
    raters: Sequence[str],
) -> pd.DataFrame:
    """Return the quality of each rater of class labels.

    Args:
        labels: (n_cases, n_raters), -1 where missing.
        answer: of the network, (n_cases,).
        held_out: by case, whether the network was not trained on it.
        own: labels (n_raters, true, observed) by the network's matrices; None without any.
        raters: names.
    """
    n_classes = int(max(labels.max(initial=0), answer.max(initial=0))) + 1
    if np.median((labels != MISSING).sum(1)) > 1:
        return quality_of_class_labels(
            answers_from_rows(labels, np.ones(len(labels)), n_classes), raters
        )
    if own is not None:
        return quality_of_answers(np.trace(own, axis1=1, axis2=2), own.sum((1, 2)), raters)
    given = (labels != MISSING) & np.asarray(held_out, dtype=bool)[:, None]
    alike = given & (labels == answer[:, None])
    return quality_of_answers(alike.sum(0).astype(float), given.sum(0).astype(float), raters)
