"""How far the raters of a data set agree: overlaps, coefficients, groups and sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater import metrics
from multirater.dataset_groups import group_agreement
from multirater.dataset_sizes import compare_sizes
from multirater.errors import Fault, InputError
from multirater.io.survey import Survey, survey
from multirater.metrics.known import mean_of_known
from multirater.metrics.overlap import Overlap
from multirater.progress import track
from multirater.types import MISSING, Dataset
from multirater.words import counted

Level = Literal["nominal", "ordinal", "interval"]
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
            different), `ordinal` or `interval`.
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
    draws = {"level": level, "n_resamples": n_resamples, "seed": seed}
    pooled = _Pooled.of(found)
    measures: dict[str, Callable[..., float]] = {
        "percent agreement": metrics.percent_agreement,
        "Fleiss kappa": metrics.fleiss_kappa,
        f"Krippendorff alpha ({scale})": partial(metrics.krippendorff_alpha, level=scale),
        # With the number of categories given, a draw of cases without one of them still counts it.
        "Gwet AC1": partial(metrics.gwet_ac1, n_classes=len(found.classes)),
    }
    scores: dict[str, NDArray[np.float64]] = {}
    if found.dataset.kind == "masks":
        scores = {name: np.stack(_pair_scores(found, each)) for name, each in _OVERLAPS.items()}
    estimates = _overlaps(found, scores, draws) if scores else {}
    for name, measure in track(measures.items(), "measuring agreement", len(measures)):
        estimates |= _coefficients(name, measure, pooled, found.classes.names, draws)
    several_cases = len(np.unique(pooled.cases)) > 1
    pairs = _pairs(found, pooled, scores)
    return Agreement(
        _table(estimates, several_cases),
        pairs,
        level,
        group_agreement(found, scores.get("Dice"), draws),
        compare_sizes(found, level=level) if scores else pd.DataFrame(),
        _notes(pairs),
    )


@dataclass(frozen=True, eq=False)
class _Pooled:
    """Patterns of all cases side by side: labels (n_raters, n), how many pixels, which case."""

    labels: NDArray[np.int64]
    weights: NDArray[np.int64]
    cases: NDArray[np.int64]

    @staticmethod
    def of(found: Survey) -> _Pooled:
        return _Pooled(
            np.concatenate([case.rows for case in found.cases]).T,
            np.concatenate([case.counts for case in found.cases]),
            np.repeat(np.arange(len(found.cases)), [len(case.rows) for case in found.cases]),
        )

    @cached_property
    def ratings(self) -> NDArray[np.int64]:
        """Labels without saying whose, (most labels of an item, n): of a crowd few rate an item."""
        most = int((self.labels != MISSING).sum(0).max(initial=0))
        return np.sort(self.labels, axis=0)[len(self.labels) - max(most, 1) :]


Estimates: TypeAlias = dict[tuple[str, str], metrics.Estimate[Any]]
"""By measure and class."""


def _coefficients(
    name: str,
    measure: Callable[..., float],
    pooled: _Pooled,
    classes: tuple[str, ...],
    draws: dict[str, Any],
) -> Estimates:
    def estimate(of: Callable[..., float], labels: NDArray[Any]) -> metrics.Estimate[Any]:
        return metrics.item_interval(
            of, labels, weights=pooled.weights, groups=pooled.cases, **draws
        )

    labels = pooled.ratings
    estimates = {(name, "all"): estimate(measure, labels)}
    if len(classes) > 2:
        takes_classes = isinstance(measure, partial) and "n_classes" in measure.keywords
        binary = partial(measure, n_classes=2) if takes_classes else measure
        estimates |= {
            (name, label): estimate(binary, metrics.one_against_rest(labels, k))
            for k, label in enumerate(classes)
        }
    return estimates


def _overlaps(
    found: Survey, scores: dict[str, NDArray[np.float64]], draws: dict[str, Any]
) -> Estimates:
    names = found.classes.names
    foregrounds: dict[str, int | None] = {"all": None}
    if len(names) > 2:
        foregrounds |= {name: k for k, name in enumerate(names) if k > 0}
    estimates: Estimates = {}
    for measure, score in _OVERLAPS.items():
        for label, foreground in foregrounds.items():
            of_class = scores[measure]
            if foreground is not None:
                of_class = np.stack(_pair_scores(found, score, foreground))
            means = [_mean_of_pairs(each) for each in of_class]
            estimates[f"mean {measure} of pairs", label] = metrics.case_interval(
                float, means, **draws
            )
    return estimates


def _pair_scores(
    found: Survey, score: Overlap, foreground: int | None = None
) -> list[NDArray[np.float64]]:
    """Scores (n_raters, n_raters) of every case that has labels."""
    return [
        metrics.pairwise_scores(
            case.rows.T, score=score, foreground=foreground, weights=case.counts, empty=np.nan
        )
        for case in found.cases
        if len(case.rows)
    ]


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


def _pairs(found: Survey, pooled: _Pooled, scores: dict[str, NDArray[np.float64]]) -> pd.DataFrame:
    """Compare every two raters who share a case."""
    raters = found.dataset.raters
    drawn = np.stack([(case.rows != MISSING).any(0) for case in found.cases])
    nothing = drawn & ~np.stack([(case.rows > 0).any(0) for case in found.cases])
    # Products of floats are much faster than those of integers, and exact for such counts.
    shared, empty = (each.T.astype(float) @ each.astype(float) for each in (drawn, nothing))
    kappa = metrics.pairwise_kappa(pooled.labels, weights=pooled.weights)
    means = {name: mean_of_known(each, 0) for name, each in scores.items()}
    rows = []
    for a, b in zip(*np.nonzero(np.triu(shared, k=1)), strict=True):
        row: dict[str, Any] = {"rater a": raters[a], "rater b": raters[b]}
        row |= {name: float(each[a, b]) for name, each in means.items()}
        row |= {"Cohen kappa": float(kappa[a, b]), "cases": int(shared[a, b])}
        rows.append(row | {"empty": int(empty[a, b])})
    columns = ["rater a", "rater b", *scores, "Cohen kappa", "cases"]
    return pd.DataFrame(rows, columns=[*columns, "empty"] if scores else columns)


def _notes(pairs: pd.DataFrame) -> tuple[str, ...]:
    n_empty = int(pairs["empty"].sum()) if "empty" in pairs else 0
    if not n_empty:
        return ()
    n_all = int(pairs["cases"].sum())
    return (
        f"{counted(n_empty, 'pair')} of masks of one case, of {n_all:,}, are both empty: they "
        "agree that there is nothing, and count in no mean of Dice and IoU",
    )
