"""What fusion gives back."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater import __version__
from multirater.fuse.identifiability import Identifiability
from multirater.fuse.predict import predict_proba
from multirater.trust import Finding

UNFINISHED = "not-converged"
"""Code of the finding that a method ended before it had settled."""


def unfinished(method: str, n_iter: int) -> Finding:
    """Say that a method reached its limit of steps."""
    text = f"{method} stopped after {n_iter} iterations before it converged: raise max_iter"
    return Finding("caution", text, UNFINISHED, {"iterations": n_iter})


@dataclass(frozen=True, eq=False)
class FusionResult:
    """One label per item, and what the labels say about each rater.

    Attributes:
        label: fused label: int16 (*space), -1 where nobody labelled; a list of them, one per case,
            for pooled input; a Series indexed by task for a table.
        probability: float32 (n_classes, *space); a list of them; a DataFrame (task x class).
        cm: (n_raters, n_classes, n_classes) as [rater, true, observed]; rows sum to one. A row of
            a class that never occurs is uniform: nothing is known about it.
        counts: expected number of items behind each entry of `cm`.
        prior: (n_classes,), class probabilities before any answer.
        raters: names in the order of `cm`.
        classes: names in the order of class indices.
        log_likelihood: one value per iteration, never decreasing (with a Dirichlet prior its log
            density is included); empty for methods without iterations.
        n_iter: number of iterations.
        converged: False when the limit was reached first.
        n_ties: items whose two most probable classes are equally probable; the lower index won.
        identifiability: how far the result can be trusted.
        method: name of the method.
        weight: (n_raters,), what the vote of each rater counts; None when it was no vote.
        version: version of multirater that made it.
    """

    label: Any
    probability: Any
    cm: NDArray[np.float64]
    counts: NDArray[np.float64]
    prior: NDArray[np.float64]
    raters: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]
    log_likelihood: NDArray[np.float64]
    n_iter: int
    converged: bool
    n_ties: int
    identifiability: Identifiability
    method: str
    weight: NDArray[np.float64] | None = None
    version: str = field(default=__version__)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What speaks against the result; nothing where nothing does."""
        found = self.identifiability.findings()
        if self.converged:
            return found
        return (unfinished(self.method, self.n_iter), *found)

    @property
    def skill(self) -> NDArray[np.float64]:
        """Mean diagonal of each rater's confusion matrix, (n_raters,)."""
        return np.asarray(np.diagonal(self.cm, axis1=1, axis2=2).mean(1))

    def predict_proba(self, labels: Any, *, rater_axis: int = 0, pooled: bool = False) -> Any:
        """Return class probabilities of new items, with the raters as they are known by now.

        Args:
            labels: same form as the input of the fusion, with the same classes. In a table the
                answers of raters that were not seen before are left out, with a warning; an array
                holds the raters of the fusion, in the same order.
            rater_axis: the array axis that holds the raters.
            pooled: whether `labels` is a sequence of arrays.

        Returns:
            Probabilities in the form of `probability`.
        """
        return predict_proba(self, labels, rater_axis=rater_axis, pooled=pooled)
