"""Each rater in numbers, with intervals: the content of `raters.csv`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betaincinv

from multirater.fuse.case_draws import over_draws
from multirater.metrics.rater_columns import column_words

Array = NDArray[np.float64]

MOST_IN_TABLE = 128
"""Classes up to which a table on disk holds matrices: it has three columns for each entry."""


def rater_table(
    counts: Array,
    raters: Sequence[Hashable],
    classes: Sequence[Hashable],
    *,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Return skill, size, sensitivity, specificity and matrix of each rater, with intervals.

    The intervals come from drawing cases again: the pixels of one image are not independent. With
    one case there are none (NaN).

    Args:
        counts: expected counts (n_cases, n_raters, true, observed).
        raters: names.
        classes: names.
        level: of the intervals.
        seed: of the draws.

    Returns:
        One row per rater. Columns: `labels` (cases labelled), `skill` (mean diagonal), then per
        class but the first `size` (drawn over true: above 1 draws too much), `sensitivity` and
        `specificity` (with the class's name when there are more than two), then
        `cm[true,observed]`; each with `_low` and `_high`.
    """
    whole = _figures(counts.sum(0), classes)
    drawn = _figures(
        over_draws(len(counts), seed, lambda times: np.tensordot(times, counts, axes=1)), classes
    )
    tail = (1 - level) / 2
    columns: dict[str, Any] = {"labels": (counts.sum((2, 3)) > 0).sum(0)}
    for name, values in whole.items():
        low, high = _quantiles(drawn[name], tail, len(counts) > 1)
        columns |= {name: values, f"{name}_low": low, f"{name}_high": high}
    return pd.DataFrame(columns, index=pd.Index(list(raters), name="rater"))


def rater_table_of_tasks(
    counts: Array,
    raters: Sequence[Hashable],
    classes: Sequence[Hashable],
    *,
    level: float = 0.95,
    with_matrix: bool = True,
) -> pd.DataFrame:
    """Do the same for class labels, whose tasks are independent: intervals from the Beta posterior.

    Args:
        counts: expected counts (n_raters, true, observed).
        raters: names.
        classes: names.
        level: of the intervals.
        with_matrix: whether all entries of the matrices are columns; else their diagonals are.
    """
    tail = (1 - level) / 2
    columns: dict[str, Any] = {"labels": np.round(counts.sum((1, 2))).astype(int)}
    shares = _shares(counts, classes, with_first=len(classes) > 2, with_matrix=with_matrix)
    for name, (hits, total) in shares.items():
        low, high = betaincinv(hits + 0.5, total - hits + 0.5, [[tail], [1 - tail]])
        value = _ratio(hits, total)
        # At the ends of the scale the interval would leave the estimate outside.
        low, high = np.fmin(low, value), np.fmax(high, value)
        columns |= {name: value, f"{name}_low": low, f"{name}_high": high}
    table = pd.DataFrame(columns, index=pd.Index(list(raters), name="rater"))
    for place, (name, values) in enumerate(_skill(table, classes).items(), start=1):
        table.insert(place, name, values)
    return table


def _skill(table: pd.DataFrame, classes: Sequence[Hashable]) -> dict[str, Array]:
    """Mean recall, with an interval from those of the recalls.

    They are independent, so that their distances to the interval's ends add as squares do (Zou and
    Donner's MOVER).
    """
    names = [f"cm[{word},{word}]" for word in column_words(classes)]
    value, low, high = (
        table[[f"{name}{end}" for name in names]].to_numpy() for end in ("", "_low", "_high")
    )
    known = ~np.isnan(value)
    n_known = np.maximum(known.sum(1), 1)
    mean = np.where(known.any(1), np.where(known, value, 0).sum(1) / n_known, np.nan)
    below, above = (
        np.sqrt(np.where(known, distance**2, 0).sum(1)) / n_known
        for distance in (value - low, high - value)
    )
    return {"skill": mean, "skill_low": mean - below, "skill_high": mean + above}


def _figures(counts: Array, classes: Sequence[Hashable]) -> dict[str, Array]:
    """Turn counts (..., n_raters, true, observed) into named figures (..., n_raters)."""
    shares = {name: _ratio(*each) for name, each in _shares(counts, classes).items()}
    diagonal = np.stack([shares[f"cm[{word},{word}]"] for word in column_words(classes)])
    known = ~np.isnan(diagonal)
    skill = np.where(known, diagonal, 0).sum(0) / np.maximum(known.sum(0), 1)
    return {"skill": np.where(known.any(0), skill, np.nan), **_sizes(counts, classes), **shares}


def _sizes(counts: Array, classes: Sequence[Hashable]) -> dict[str, Array]:
    """How much is drawn of each class but the first, over what is true."""
    drawn, true = counts.sum(-2), counts.sum(-1)
    return {
        f"size{f' {name}' if len(classes) > 2 else ''}": _ratio(drawn[..., k], true[..., k])
        for k, name in list(enumerate(column_words(classes)))[1:]
    }


def _shares(
    counts: Array,
    classes: Sequence[Hashable],
    *,
    with_first: bool = False,
    with_matrix: bool = True,
) -> dict[str, tuple[Array, Array]]:
    """Name every share as hits and total; of masks the first class is the background."""
    found: dict[str, tuple[Array, Array]] = {}
    words = column_words(classes)
    by_true = counts.sum(-1)
    everything = by_true.sum(-1)
    for k, name in list(enumerate(words))[0 if with_first else 1 :]:
        suffix = f" {name}" if len(classes) > 2 else ""
        right = counts[..., k, k]
        others = everything - by_true[..., k]
        false_alarms = counts[..., :, k].sum(-1) - right
        found[f"sensitivity{suffix}"] = (right, by_true[..., k])
        found[f"specificity{suffix}"] = (others - false_alarms, others)
    for t, true in enumerate(words):
        for o, observed in enumerate(words) if with_matrix else ((t, true),):
            found[f"cm[{true},{observed}]"] = (counts[..., t, o], by_true[..., t])
    return found


def _ratio(hits: Array, total: Array) -> Array:
    return np.where(total > 0, hits / np.maximum(total, 1e-300), np.nan)


def _quantiles(drawn: Array, tail: float, several: bool) -> tuple[Array, Array]:
    """Quantiles over draws (n_draws, n_raters); draws without the class leave them."""
    n_raters = drawn.shape[1]
    low, high = np.full(n_raters, np.nan), np.full(n_raters, np.nan)
    for rater in range(n_raters if several else 0):
        known = drawn[~np.isnan(drawn[:, rater]), rater]
        if len(known):
            low[rater], high[rater] = np.quantile(known, [tail, 1 - tail])
    return low, high
