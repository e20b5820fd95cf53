"""Whether a fused label is nothing but an intersection, a union, or one rater's drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.trust import Finding
from multirater.types import MISSING
from multirater.words import counted

INTERSECTION, UNION = "the intersection of all drawings", "the union of all drawings"

_SHAPES = {INTERSECTION, UNION}

_MOST = 0.9
"""Share of the cases from which on a likeness is said."""


def likeness(labels: NDArray[Any], label: NDArray[Any], raters: Sequence[str]) -> list[str] | None:
    """Say what the label of one case equals, pixel by pixel.

    Args:
        labels: of the raters, (n_raters, *space), -1 where missing.
        label: fused, (*space).
        raters: names.

    Returns:
        `INTERSECTION`, `UNION` (of drawings of one class) and names of raters, as many as hold;
        None where fewer than two raters labelled the case, or all alike.

    Example:
        >>> drawn = np.array([[0, 1, 1, 0], [0, 0, 1, 1]])
        >>> likeness(drawn, np.array([0, 0, 1, 0]), ["anna", "bert"])
        ['the intersection of all drawings']
    """
    present = [r for r in range(len(raters)) if (labels[r] != MISSING).any()]
    drawn = labels[present]
    if len(present) < 2 or (drawn == drawn[0]).all():
        return None
    found = []
    if max(int(drawn.max()), int(label.max())) < 2:
        inside = drawn == 1
        found += [INTERSECTION] if np.array_equal(inside.all(0), label == 1) else []
        found += [UNION] if np.array_equal(inside.any(0), label == 1) else []
    return found + [raters[r] for r in present if np.array_equal(labels[r], label)]


def likeness_findings(found: Sequence[Sequence[str] | None], n_raters: int) -> list[Finding]:
    """Say what fused labels equal in nearly all cases in which raters differ; the plainest alone.

    Args:
        found: by case, as `likeness` says.
        n_raters: of the data set.

    Example:
        >>> likeness_findings([["anna"], ["anna"], None], 3)[0].text[:49]
        'the fused label follows rater anna: it is their l'
    """
    judged = [each for each in found if each is not None]
    names = dict.fromkeys(name for each in judged for name in each)
    for name in sorted(names, key=lambda name: name not in (INTERSECTION, UNION)):
        n = sum(name in each for each in judged)
        if n < _MOST * len(judged):
            continue
        all_of = "" if n == len(judged) else f"{n} of "
        where = f"{all_of}{counted(len(judged), 'case')} in which raters differ"
        numbers = {"alike": n, "judged": len(judged)}
        if name in (INTERSECTION, UNION):
            of_two = " by two raters" if n_raters == 2 else ""
            text = (
                f"the fused label is {name}{of_two}, pixel by pixel, in {where}: it shows what "
                f"{'all' if name == INTERSECTION else 'any'} of them drew, not who is right"
            )
            code = "intersection" if name == INTERSECTION else "union"
            return [Finding("caution", text, code, numbers)]
        text = (
            f"the fused label follows rater {name}: it is their label, pixel by pixel, in {where}"
        )
        shared = sum(name in each and len({*each} - _SHAPES) > 1 for each in judged)
        if shared >= n / 2:
            # Several who drew the same are no single voice against the rest.
            text = f"{text}, and that of another rater in {shared} of them"
            return [Finding("caution", text, "same-as-rater", numbers, raters=(name,))]
        text = f"{text}; compare with majority vote"
        return [Finding("problem", text, "same-as-rater", numbers, raters=(name,))]
    return []
