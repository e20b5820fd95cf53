"""What is known of a study: a belief about every case, and about every rater.

A row is what one belief is about: a case of class labels, or the pixels of a drawing that all
raters labelled alike. A case has one row or more; what a wrong row costs is its weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_HOPE = 2.0
"""Standard deviations by which a rater may be better than they seem, and is tried out for."""

_SURELY = 0.999
"""Nobody is hoped to be better than this."""


@dataclass(frozen=True, eq=False)
class RaterBelief:
    """What is known of raters.

    Attributes:
        cm: expected confusion matrices (n_raters, true, observed).
        known: (n_raters,), how many labels tell about each: those beside which others speak.
        skill: (n_raters,), chance that a label is right, of cases as they come; of drawings, Dice.
        noise: (n_raters,), standard deviation of what one label says of skill.
    """

    cm: Array
    known: Array
    skill: Array
    noise: Array

    def doubt(self, more: Array | float = 0.0) -> Array:
        """Return the standard deviation of skill, (n_raters,), once `more` labels are known."""
        return np.asarray(self.noise / np.sqrt(self.known + more + 2))

    def hope(self, more: Array | float = 0.0) -> Array:
        """Return the share of errors that each may not make after all, (n_raters,)."""
        best = np.minimum(self.skill + _HOPE * self.doubt(more), _SURELY)
        return np.asarray(np.clip((best - self.skill) / np.maximum(1 - self.skill, 1e-9), 0, 1))

    def hopeful_cm(self) -> Array:
        """Return matrices of raters as good as they may be."""
        share = self.hope()[:, None, None]
        return np.asarray((1 - share) * self.cm + share * np.eye(self.cm.shape[1]))


@dataclass(frozen=True, eq=False)
class Belief:
    """What is known of cases and raters.

    Attributes:
        probability: of the classes of each row, (n_rows, n_classes).
        weight: (n_rows,), what it costs to have the row wrong.
        start: (n_cases + 1,), where the rows of each case begin.
        given: (n_cases, n_raters), who labelled what.
        raters: what is known of raters.
    """

    probability: Array
    weight: Array
    start: NDArray[np.int64]
    given: NDArray[np.bool_]
    raters: RaterBelief

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.start) - 1

    def of_cases(self, values: Array) -> Array:
        """Sum values of rows, (n_rows, ...), over the rows of each case."""
        return np.asarray(np.add.reduceat(values, self.start[:-1], axis=0))

    def uncertainty(self) -> Array:
        """Return the uncertainty of each case, (n_cases,)."""
        return self.of_cases(self.weight * disorder(self.probability))


def disorder(probability: Array) -> Array:
    """Return the chance that a label drawn from each belief is wrong, 1 - sum of squares.

    Example:
        >>> disorder(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
        [0.5, 0.0]
    """
    return np.asarray(1 - np.einsum("it,it->i", probability, probability))
