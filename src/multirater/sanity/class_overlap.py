"""How much of each class of a rater lies in each class of the others, case by case."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from multirater.sanity.facts import StudyFacts
from multirater.types import MISSING

_MOST_AT_ONCE = 1 << 20
"""Labels that are looked at together, which bounds memory."""


def used_classes(facts: StudyFacts) -> NDArray[np.intp]:
    """Return the classes that anybody drew, and 0."""
    drawn = facts.pixels.sum((0, 1)) > 0
    drawn[0] = True
    return np.flatnonzero(drawn)


def positions(facts: StudyFacts, used: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the position of each class among those used, by rater, (n_raters, n_classes + 1).

    The last column is that of -1. Whoever renames classes of a rater changes a row.
    """
    position = np.full(facts.pixels.shape[2] + 1, MISSING, dtype=np.intp)
    position[used] = np.arange(len(used))
    return np.tile(position, (len(facts.raters), 1))


def case_overlaps(
    facts: StudyFacts, position: NDArray[np.intp]
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Compare each rater with the vote of the others, in every case that two of them labelled.

    Every label is looked at once, however many raters there are.

    Args:
        facts: the study.
        position: of the classes of each rater, see `positions`.

    Yields:
        Position of the case, and pixels by what a rater and the others call them,
        (n_raters, n_used, n_used).
    """
    n_raters, n_used = len(position), int(position.max()) + 1
    step = max(_MOST_AT_ONCE // n_raters, 1)
    for place in np.flatnonzero(facts.labelled.sum(1) > 1):
        case = facts.cases[place]
        rows = position[np.arange(n_raters), case.rows]
        overlap = np.zeros((n_raters, n_used, n_used))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            overlap += _overlap(rows[part], case.counts[part], n_used)
        yield int(place), overlap


def _overlap(
    rows: NDArray[np.intp], counts: NDArray[np.int64], n_classes: int
) -> NDArray[np.float64]:
    """Count pixels by rater, their class and that of the others, (n_raters, n, n)."""
    n_raters = rows.shape[1]
    others = votes_of_others(rows, n_classes)
    pattern, rater = np.nonzero((rows != MISSING) & (others != MISSING))
    cell = (rater * n_classes + rows[pattern, rater]) * n_classes + others[pattern, rater]
    found = np.bincount(cell, weights=counts[pattern], minlength=n_raters * n_classes**2)
    return found.reshape(n_raters, n_classes, n_classes).astype(np.float64)


def votes_of_others(rows: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
    """Return what most of the others say, for each rater; the lower class where two are even.

    Args:
        rows: classes (n_patterns, n_raters), -1 where missing.
        n_classes: of them.

    Returns:
        Classes (n_patterns, n_raters), -1 where nobody else says anything.

    Example:
        >>> votes_of_others(np.array([[2, 1, 1], [0, 3, -1], [-1, -1, 2]]), 4).tolist()
        [[1, 1, 1], [3, 0, 0], [2, 2, -1]]
    """
    n_patterns = len(rows)
    pattern, rater = np.nonzero(rows != MISSING)
    cell = pattern * n_classes + rows[pattern, rater]
    votes = np.bincount(cell, minlength=n_patterns * n_classes).reshape(n_patterns, n_classes)
    every = np.arange(n_patterns)
    first = votes.argmax(1)
    n_first = votes[every, first]
    votes[every, first] = -1
    second = votes.argmax(1)
    n_second = votes[every, second]
    # Without the vote of somebody who says the first, the second may win.
    without = np.where(n_first - 1 > n_second, first, second)
    even = n_first - 1 == n_second
    without[even] = np.minimum(first, second)[even]
    without[(n_first == 1) & (n_second == 0)] = MISSING
    return np.asarray(np.where(rows == first[:, None], without[:, None], first[:, None]))
