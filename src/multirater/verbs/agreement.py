"""How far the raters of a data set agree: overlaps, coefficients, groups and sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater import metrics
from multirater.dataset_groups import group_agreement, group_columns
from multirater.dataset_sizes import compare_sizes
from multirater.errors import Fault, InputError
from multirater.io.survey import Survey, survey
from multirater.metrics.known import ratio_or_nan
from multirater.metrics.overlap import Overlap
from multirater.metrics.pairwise import kappas_of_tables, pair_tables
from multirater.metrics.rater_columns import row_words
from multirater.metrics.rating_counts import RatingCounts, Ratings
from multirater.progress import track
from multirater.sanity.mixed_axes import said_of_axes
from multirater.types import MISSING, Dataset
from multirater.words import counted, listed

Level = Literal["nominal", "ordinal", "interval"]
_MOST_TOGETHER = 1 << 12
"""Raters times classes of whose pairs tables are kept: 128 MB at most."""

_OVERLAPS: dict[str, Overlap] = {"Dice": "dice", "IoU": "iou"}


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement among raters.

    Attributes:
        coefficients: one row per measure and class (`all`, or one class against the rest), with
            columns `value`, `low` and `high`, the ends of the interval.
        pairs: one row per two raters: mean Dice and IoU over the cases both labelled (masks only),
            Cohen's kappa over all their pixels, the number of cases, and of how many both drew
            nothing (`empty`): those are in no mean of Dice and IoU.
        level: of the intervals.
        groups: agreement within and between groups of raters (`raters.csv`), see `dataset_groups`;
            empty without groups, as for class labels without.
        sizes: areas or volumes of every two raters, and of raters and truth, with bias and limits
            of agreement, see `dataset_sizes`; empty for class labels.
        notes: what to keep in mind.
    """

    coefficients: pd.DataFrame
    pairs: pd.DataFrame
    level: float
    groups: pd.DataFrame = field(default_factory=pd.DataFrame)
    sizes: pd.DataFrame = field(default_factory=pd.DataFrame)
    notes: tuple[str, ...] = ()


def agreement(
    dataset: Dataset | Survey,
    *,
    scale: Level = "nominal",
    level: float = 0.95,
    n_resamples: int = 200,
    seed: int = 0,
    workers: int = 1,
) -> Agreement:
    """Measure how far raters agree, over all classes and for each class against the rest.

    Dice and IoU are computed per case and pair of raters and averaged; two raters who both drew
    nothing are counted apart and are in no mean. The coefficients are computed over all pixels.
    Intervals come from drawing whole cases again, because the pixels of one image are not
    independent; with a single case there is none.

    Args:
        dataset: as opened by `read_dataset`, or its survey.
        scale: how far apart classes are for Krippendorff's alpha: `nominal` (different is
            different), `ordinal` (in the order of the classes) or `interval` (by the numbers that
            they are called).
        level: of the intervals.
        n_resamples: how many times cases are drawn again.
        seed: of the draws.
        workers: number of processes that read.
    """
    found = survey(dataset, workers=workers) if isinstance(dataset, Dataset) else dataset
    n_raters = len(found.dataset.raters)
    if n_raters < 2:
        raise InputError(
            Fault(
                f"{counted(n_raters, 'rater')} of masks or classes",
                expected="at least two, to compare them; coarse drawings do not count",
            )
        )
    draws: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "seed": seed}
    pooled = _Pooled.of(found)
    measures: dict[str, Callable[..., float]] = {
        "percent agreement": metrics.percent_agreement,
        "Fleiss kappa": metrics.fleiss_kappa,
        f"Krippendorff alpha ({scale})": partial(
            metrics.krippendorff_alpha, level=scale, values=_numbers(found.classes.names)
        ),
        # With the number of categories given, a draw of cases without one of them still counts it.
        "Gwet AC1": partial(metrics.gwet_ac1, n_classes=len(found.classes)),
    }
    scores = _PairScores.of(found) if found.dataset.kind == "masks" else _PairScores()
    estimates: Estimates = {
        (f"mean {measure} of pairs", label): metrics.case_interval(float, values, **draws)
        for (measure, label), values in scores.of_cases.items()
    }
    for name, measure in track(measures.items(), "measuring agreement", len(measures)):
        estimates |= _coefficients(name, measure, pooled, row_words(found.classes.names), draws)
    several_cases = len(np.unique(pooled.cases)) > 1
    pairs = _pairs(found, scores)
    return Agreement(
        _table(estimates, several_cases),
        pairs,
        level,
        group_agreement(found, scores.dice, draws),
        compare_sizes(found, level=level) if scores.of_pairs else pd.DataFrame(),
        (
            *filter(None, [said_of_axes(found.cases)]),
            *_scale_note(found.classes.names, scale),
            *_notes(pairs),
        ),
    )


def _numbers(classes: Sequence[str]) -> list[float] | None:
    """Return the numbers that classes are called; None where one is called something else."""
    try:
        found = [float(name) for name in classes]
    except ValueError:
        return None
    return found if np.isfinite(found).all() and len(set(found)) == len(found) else None


def _scale_note(classes: Sequence[str], scale: Level) -> Iterator[str]:
    """Say how far classes are taken to be apart where their names do not tell."""
    if scale == "nominal" or len(classes) < 3 or _numbers(classes) is not None:
        return
    apart = ", each one apart from the next" if scale == "interval" else ""
    yield (
        f"The {scale} scale takes the classes in the order {listed(list(classes), most=8)}{apart}; "
        "classes.csv can put them into another."
    )


@dataclass(frozen=True, eq=False)
class _Pooled:
    """What was said of the pixels of all cases, without saying who said it.

    Coefficients ask no more, and with many raters far fewer columns differ than label patterns.

    Attributes:
        ratings: how many raters chose each class, of n columns; of class labels the labels
            themselves (most labels of a case, n), -1 where there are fewer.
        weights: (n,), how many pixels each column stands for.
        cases: (n,), the case it belongs to.
    """

    ratings: NDArray[np.integer[Any]] | RatingCounts
    weights: NDArray[np.float64]
    cases: NDArray[np.int64]

    @staticmethod
    def of(found: Survey) -> _Pooled:
        if found.dataset.kind == "classes":  # a case has one pattern
            labels = np.concatenate([case.rows for case in found.cases]).T
            most = max(int((labels != MISSING).sum(0).max(initial=0)), 1)
            cases = np.repeat(
                np.arange(len(found.cases)), [len(each.counts) for each in found.cases]
            )
            ratings = np.sort(labels, axis=0)[len(labels) - most :]
            return _Pooled(ratings, np.ones(len(cases)), cases)
        merged = [_merged(case.rows, case.counts, len(found.classes)) for case in found.cases]
        counts = np.concatenate([each for each, _ in merged]).T.astype(float, order="C")
        weights = np.concatenate([each for _, each in merged])
        return _Pooled(
            RatingCounts(counts, weights, np.arange(len(counts))),
            weights,
            np.repeat(np.arange(len(merged)), [len(each) for _, each in merged]),
        )


def _merged(
    rows: NDArray[np.integer[Any]], pixels: NDArray[np.int64], n_classes: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count labels by class, (n, n_classes), and pixels (n,) with these counts, of one case."""
    counts = np.stack([(rows == k).sum(1) for k in range(n_classes)], axis=1)
    base = rows.shape[1] + 1
    if base**n_classes < 1 << 62:  # one number per row is far quicker to sort than rows are
        code = counts @ base ** np.arange(n_classes, dtype=np.int64)
        _, first, member = np.unique(code, return_index=True, return_inverse=True)
    else:
        _, first, member = np.unique(counts, axis=0, return_index=True, return_inverse=True)
    n_pixels = np.bincount(member.ravel(), weights=pixels, minlength=len(first))
    return counts[first], n_pixels.astype(np.float64)


Estimates: TypeAlias = dict[tuple[str, str], metrics.Estimate[Any]]
"""By measure and class."""


def _coefficients(
    name: str,
    measure: Callable[..., float],
    pooled: _Pooled,
    classes: tuple[str, ...],
    draws: dict[str, Any],
) -> Estimates:
    def estimate(of: Callable[..., float], labels: Ratings) -> metrics.Estimate[Any]:
        return metrics.item_interval(
            of, labels, weights=pooled.weights, groups=pooled.cases, **draws
        )

    labels = pooled.ratings
    estimates = {(name, "all"): estimate(measure, labels)}
    if len(classes) > 2:
        takes_classes = isinstance(measure, partial) and "n_classes" in measure.keywords
        binary = partial(measure, n_classes=2) if takes_classes else measure
        estimates |= {
            (name, label): estimate(binary, _against_rest(labels, k))
            for k, label in enumerate(classes)
        }
    return estimates


def _against_rest(labels: NDArray[Any] | RatingCounts, k: int) -> Ratings:
    if isinstance(labels, RatingCounts):
        return labels.against_rest(k)
    return metrics.one_against_rest(labels, k)


@dataclass(frozen=True, eq=False)
class _PairScores:
    """Overlap of every two raters of masks.

    Attributes:
        of_cases: by measure and class (`all`), the mean over pairs of each case with labels.
        of_pairs: by measure, the mean over cases, (n_raters, n_raters).
        kappa: Cohen's, over all pixels, (n_raters, n_raters); None where it was not found out.
        dice: of all cases and pairs, (n_cases, n_raters, n_raters), where groups are compared.
    """

    of_cases: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    of_pairs: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    kappa: NDArray[np.float64] | None = None
    dice: NDArray[np.float64] | None = None

    @staticmethod
    def of(found: Survey) -> _PairScores:
        names, n_raters = row_words(found.classes.names), len(found.dataset.raters)
        classes: dict[str, int | None] = {"all": None}
        if len(names) > 2:
            classes |= {name: k for k, name in enumerate(names) if k > 0}
        of_cases: dict[tuple[str, str], list[float]] = {
            (measure, label): [] for measure in _OVERLAPS for label in classes
        }
        sums = {measure: _Mean(n_raters) for measure in _OVERLAPS}
        # Kappa asks for the tables of all cases together; if those are too large, it counts anew.
        n_classes = len(names) if n_raters * len(names) <= _MOST_TOGETHER else None
        side = n_classes or 0
        together = np.zeros((n_raters, n_raters, side, side))
        # With many raters the pairs of all cases are more than all the rest of a study.
        has_groups = bool(group_columns(found.dataset.raters, found.dataset.rater_info))
        dice = []
        for case in found.cases:
            if not len(case.counts):
                continue
            tables = pair_tables(case.rows.T, weights=case.counts, n_classes=n_classes)
            if n_classes:
                together[np.ix_(tables.present, tables.present)] += tables.counts
            for (measure, label), means in of_cases.items():
                scores = tables.overlaps(_OVERLAPS[measure], classes[label], empty=np.nan)
                means.append(_mean_of_pairs(scores))
                if label == "all":
                    sums[measure].add(scores)
                    if measure == "Dice" and has_groups:
                        dice.append(scores)
        of_pairs = {measure: each.mean() for measure, each in sums.items()}
        none = np.empty((0, n_raters, n_raters))
        kappa = kappas_of_tables(together) if n_classes else None
        return _PairScores(of_cases, of_pairs, kappa, np.stack(dice) if dice else none)


class _Mean:
    """Mean of known values, one matrix after the other."""

    def __init__(self, side: int) -> None:
        self._sum, self._n = np.zeros((side, side)), np.zeros((side, side))

    def add(self, values: NDArray[np.float64]) -> None:
        known = ~np.isnan(values)
        self._sum[known] += values[known]
        self._n += known

    def mean(self) -> NDArray[np.float64]:
        return ratio_or_nan(self._sum, self._n)


def _mean_of_pairs(scores: NDArray[np.float64]) -> float:
    above = scores[np.triu_indices(len(scores), k=1)]
    known = above[~np.isnan(above)]
    return float(known.mean()) if len(known) else float("nan")


def _table(estimates: Estimates, several_cases: bool) -> pd.DataFrame:
    """Lay the estimates out; a single case gives no interval."""
    rows = [
        {
            "measure": measure,
            "class": label,
            "value": float(estimate.value),
            "low": float(estimate.low) if several_cases else np.nan,
            "high": float(estimate.high) if several_cases else np.nan,
        }
        for (measure, label), estimate in estimates.items()
    ]
    return pd.DataFrame(rows).set_index(["measure", "class"])


def _pairs(found: Survey, scores: _PairScores) -> pd.DataFrame:
    """Compare every two raters who share a case."""
    raters = found.dataset.raters
    highest = np.stack([case.rows.max(0, initial=MISSING) for case in found.cases])
    drawn, nothing = highest != MISSING, highest == 0
    # Products of floats are much faster than those of integers, and exact for such counts.
    shared, empty = (each.T.astype(float) @ each.astype(float) for each in (drawn, nothing))
    means, kappa = scores.of_pairs, scores.kappa
    if kappa is None:
        rows, pixels = zip(*((case.rows, case.counts) for case in found.cases), strict=True)
        kappa = metrics.pairwise_kappa(np.concatenate(rows).T, weights=np.concatenate(pixels))
    lines = []
    for a, b in zip(*np.nonzero(np.triu(shared, k=1)), strict=True):
        row: dict[str, Any] = {"rater a": raters[a], "rater b": raters[b]}
        row |= {name: float(each[a, b]) for name, each in means.items()}
        row |= {"Cohen kappa": float(kappa[a, b]), "cases": int(shared[a, b])}
        lines.append(row | {"empty": int(empty[a, b])})
    columns = ["rater a", "rater b", *means, "Cohen kappa", "cases"]
    return pd.DataFrame(lines, columns=[*columns, "empty"] if means else columns)


def _notes(pairs: pd.DataFrame) -> tuple[str, ...]:
    n_empty = int(pairs["empty"].sum()) if "empty" in pairs else 0
    if not n_empty:
        return ()
    n_all = int(pairs["cases"].sum())
    return (
        f"{counted(n_empty, 'pair')} of masks of one case, of {n_all:,}, are both empty: they "
        "agree that there is nothing, and count in no mean of Dice and IoU",
    )
