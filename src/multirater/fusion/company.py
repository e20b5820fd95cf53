"""Whom others judge: a rater who labels a case alone agrees with themself, which says nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.fuse.methods import METHODS, NEEDS_SPACE
from multirater.trust import Finding
from multirater.words import counted

Counts = NDArray[np.float64]
"""Expected counts (n_cases, n_raters, true, observed)."""

_MODELS_NOBODY = frozenset({"mean", "majority-vote"})
"""Methods to which raters of other cases say nothing of this one."""


def judged_counts(counts: Counts, decided: Sequence[bool], *, pooled: bool) -> Counts:
    """Return counts without those that only hold a rater against themself.

    Args:
        counts: of all cases.
        decided: whether an expert decided some of a case, which judges a rater who is alone there.
        pooled: whether raters are known from all cases together. What a rater labelled alone then
            stays if they share any case; else all cases of one rater go.

    Example:
        >>> alone = np.zeros((2, 2, 2, 2))
        >>> alone[0, 0], alone[1, 1] = np.eye(2), np.eye(2)
        >>> judged_counts(alone, [False, False], pooled=True).sum()
        np.float64(0.0)
    """
    kept = is_judged(counts, decided)[None, :] if pooled else _has_company(counts)[:, None]
    return np.where(kept[:, :, None, None], counts, 0.0)


def is_judged(counts: Counts, decided: Sequence[bool]) -> NDArray[np.bool_]:
    """Whether another rater, or an expert, has a say in any case of a rater, (n_raters,)."""
    judged = _has_company(counts) | np.asarray(decided, dtype=bool)
    return np.asarray((_took_part(counts) & judged[:, None]).any(0))


def judged_estimates(table: pd.DataFrame, quality: pd.DataFrame) -> pd.DataFrame:
    """Return what is estimated of raters of class labels, and nothing of those who are alone.

    Args:
        table: a row for each rater, the number of `labels` and estimates.
        quality: of the same raters, unknown (NaN) of whoever shares no task with another.

    Example:
        >>> table = pd.DataFrame({"labels": [3, 3], "sensitivity": [0.9, 1.0]}, index=["a", "b"])
        >>> quality = pd.DataFrame({"quality": [0.8, np.nan]}, index=["a", "b"])
        >>> judged_estimates(table, quality)["sensitivity"].tolist()
        [0.9, nan]
    """
    alone = quality["quality"].reindex(table.index).isna()
    estimates = table.drop(columns="labels")
    known = np.where(alone.to_numpy()[:, None], np.nan, estimates.to_numpy(dtype=float))
    judged = pd.DataFrame(known, index=table.index, columns=estimates.columns)
    return pd.concat([table["labels"], judged], axis=1)


def alone_findings(
    counts: Counts, decided: Sequence[bool], method: str, *, pooled: bool
) -> list[Finding]:
    """Say of how many cases the label stands as it is and says nothing of its rater.

    Args:
        counts: of all cases.
        decided: as above.
        method: that fuses; whether pooling would help is said of those that learn of raters.
        pooled: whether it is pooled already: then only cases of raters who share none count.
    """
    alone = ~_has_company(counts)
    is_known = (_took_part(counts) & is_judged(counts, decided)).any(1)
    if pooled:
        alone &= ~is_known
    n_alone = int(alone.sum())
    if not n_alone:
        return []
    text = (
        f"{counted(n_alone, 'case')} labelled by one rater: the label stands as it is, and "
        "says nothing about the rater"
    )
    can_pool = method in METHODS and method not in NEEDS_SPACE | _MODELS_NOBODY
    if can_pool and (alone & is_known).any():
        text += " (--pooled learns from other cases)"
    elif (alone & ~is_known).any():
        text += "; who shares no case with another cannot be judged"
    return [Finding("caution", text, "alone", {"alone": n_alone})]


def _took_part(counts: Counts) -> NDArray[np.bool_]:
    """Whether a rater labelled a case, (n_cases, n_raters)."""
    return np.asarray(counts.sum((2, 3)) > 0)


def _has_company(counts: Counts) -> NDArray[np.bool_]:
    """Whether a case was labelled by two raters or more, (n_cases,)."""
    return np.asarray(_took_part(counts).sum(1) >= 2)
