"""The result of an evaluation: from what was measured on each case to tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater import __version__
from multirater.evaluation.case_scores import (
    ALL,
    CALIBRATION,
    CM_RMSE,
    CONSENSUS,
    EACH,
    PREDICTED_CONSENSUS,
    VOTE,
    CaseScores,
    Key,
)
from multirater.evaluation.consensus import GROUPS, UNKNOWN, consensus_correlations, consensus_group
from multirater.evaluation.predictions import PredictedCase
from multirater.evaluation.sizes import size_table
from multirater.metrics import (
    calibration_error,
    case_interval,
    confusion_frobenius_error,
    confusion_rates,
    confusion_rms_error,
    item_interval,
)
from multirater.types import MISSING, Case
from multirater.words import counted

_NUMBERS = ["value", "low", "high", "n_cases"]

Row: TypeAlias = tuple[tuple[str, ...], float, float, float, int]
"""A key, value, both ends of its interval, and the number of cases."""

Columns: TypeAlias = Mapping[Key, NDArray[np.float64]]
"""Values (n_cases,) by measure and class."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good predictions are.

    Attributes:
        scores: one row per `measure` and `class`; columns `value`, `low`, `high` (the interval),
            `n_cases` behind the value, and `n_empty`: cases in which neither map holds the class,
            which count in no mean. The class `all` of an overlap is the mean over the foreground
            classes.
        raters: the same for each `rater`: the prediction against what the rater drew, the
            rater's predicted drawing and confusion matrix against the real ones.
        cases: one row per case; a column `Dice[tumour]` is the Dice of the class tumour, a column
            `Dice` that of all.
        groups: Dice by consensus level: one row per group of `consensus.GROUPS`, and `unknown`.
        notes: what was left out, and what to keep in mind.
        level: of the intervals.
        seed: of the draws behind the intervals.
        version: of multirater.
        sizes: area or volume of the prediction against the truth and each rater: bias (predicted
            minus theirs) and limits of agreement (`metrics.bland_altman`); empty for class labels.
    """

    scores: pd.DataFrame
    raters: pd.DataFrame
    cases: pd.DataFrame
    groups: pd.DataFrame
    notes: tuple[str, ...]
    level: float
    seed: int
    version: str = __version__
    sizes: pd.DataFrame = field(default_factory=pd.DataFrame)


@dataclass(frozen=True)
class Draws:
    """How cases are drawn again for intervals: their level, how many times, from which seed."""

    level: float
    n_resamples: int
    seed: int


@dataclass(frozen=True, eq=False)
class Summary:
    """What was measured on the cases, to be laid out as tables.

    Attributes:
        pairs: the cases of the reference, and what was predicted for them.
        found: what was measured on them, in the same order.
        cm: matrices [true, observed] by rater, from `raters.csv`.
        classes: names by index.
        draws: behind the intervals.
    """

    pairs: list[tuple[Case, PredictedCase]]
    found: list[CaseScores]
    cm: Mapping[str, NDArray[np.float64]]
    classes: tuple[str, ...]
    draws: Draws

    def evaluation(self, notes: Sequence[str]) -> Evaluation:
        """Make the tables; `notes` say what was left out before."""
        keys = _ordered(self.classes, (each.values for each in self.found))
        values = np.array([[each.values.get(key, np.nan) for key in keys] for each in self.found])
        scores = self._with_intervals(keys, values)
        column = {key: values[:, position] for position, key in enumerate(keys)}
        scores += self._correlations(column)
        scores += self._calibration()
        overall, per_rater = self._global_cms()
        groups = [consensus_group(level) for level in _levels(column, CONSENSUS, len(self.found))]
        table = _table([*scores, *overall], ["measure", "class"])
        n_empty = Counter(key for each in self.found for key in each.empty)
        return Evaluation(
            scores=table.assign(n_empty=[n_empty[key] for key in table.index]),
            raters=self._raters(per_rater),
            cases=self._cases(column, groups),
            groups=self._groups(column, groups),
            sizes=size_table(self.found, self.classes, level=self.draws.level),
            notes=(*notes, *self._open_note(), *_empty_note(n_empty), *self._cm_note(column)),
            level=self.draws.level,
            seed=self.draws.seed,
        )

    def _with_intervals(self, keys: Sequence[Any], values: NDArray[np.float64]) -> list[Row]:
        """One row per column of values (n_cases, n_keys)."""
        found = case_interval(np.asarray, values, **asdict(self.draws))
        n_cases = (~np.isnan(values)).sum(axis=0)
        several = n_cases > 1
        ends = zip(
            found.value, _where(several, found.low), _where(several, found.high), strict=True
        )
        return [
            (key, float(value), float(low), float(high), int(n))
            for key, (value, low, high), n in zip(keys, ends, n_cases, strict=True)
        ]

    def _open_note(self) -> list[str]:
        """Say which part of the reference the scores are not of."""
        parts = [each.unpredicted for each in self.found if each.unpredicted[0]]
        if not parts:
            return []
        n_open = sum(missed for missed, _ in parts)
        share = n_open / max(sum(each.unpredicted[1] for each in self.found), 1)
        return [
            f"{share:.2g} of the pixels that the reference labels are without a prediction, in "
            f"{counted(len(parts), 'case')}: scores are of the others alone"
        ]

    def _correlations(self, column: Columns) -> list[Row]:
        if (CONSENSUS, ALL) not in column or (PREDICTED_CONSENSUS, ALL) not in column:
            return []
        predicted, real = column[PREDICTED_CONSENSUS, ALL], column[CONSENSUS, ALL]
        n_cases = int((~np.isnan(predicted + real)).sum())
        found = consensus_correlations(predicted, real, **asdict(self.draws))
        return [
            ((f"{CONSENSUS} {name}", ALL), each.value, each.low, each.high, n_cases)
            for name, each in found.items()
        ]

    def _calibration(self) -> list[Row]:
        """How far the confidence in single classes is from how often they are true."""
        truths = [(case.read_truth(), predicted.probability) for case, predicted in self.pairs]
        known = [
            (int(truth.array), probability)
            for truth, probability in truths
            if probability is not None and truth is not None and truth.array.ndim == 0
        ]
        if not any(true != MISSING for true, _ in known):
            return []
        classes = np.array([true for true, _ in known])
        probabilities = np.array([probability for _, probability in known])

        def error(true: Any, item: Any, *, weights: Any = None) -> float:
            return calibration_error(true, probabilities[item], weights=weights)

        found = item_interval(error, classes, np.arange(len(known)), **asdict(self.draws))
        low, high = (found.low, found.high) if len(known) > 1 else (math.nan, math.nan)
        return [((CALIBRATION, ALL), found.value, low, high, int((classes != MISSING).sum()))]

    def _global_cms(self) -> tuple[list[Row], list[Row]]:
        """Errors of one matrix per rater: over all raters, and for each."""
        true: list[NDArray[np.float64]] = []
        estimated: list[NDArray[np.float64]] = []
        rows: list[Row] = []
        for rater in dict.fromkeys(rater for each in self.found for rater in each.counts):
            cases = [each for each in self.found if rater in each.counts]
            counts = np.sum([each.counts[rater] for each in cases], axis=0)
            guess = self._estimated_cm(rater, cases)
            if guess is None or not counts.any():
                continue
            true.append(confusion_rates(counts))
            estimated.append(guess)
            rows += _cm_errors((rater,), true[-1], guess, len(cases))
        if not rows:
            return [], []
        n_cases = sum(bool(each.counts) for each in self.found)
        return _cm_errors((), np.stack(true), np.stack(estimated), n_cases), rows

    def _estimated_cm(self, rater: str, cases: Sequence[CaseScores]) -> NDArray[np.float64] | None:
        if rater in self.cm:
            return self.cm[rater]
        with_maps = [each for each in cases if rater in each.cm_sums]
        if not with_maps:
            return None
        mean = confusion_rates(np.sum([each.cm_sums[rater] for each in with_maps], axis=0))
        return np.where(np.isnan(mean), 1 / len(self.classes), mean)

    def _raters(self, more: Sequence[Row]) -> pd.DataFrame:
        rows: list[Row] = []
        for rater in dict.fromkeys(rater for each in self.found for rater in each.raters):
            values = [each.raters[rater] for each in self.found if rater in each.raters]
            keys = _ordered(self.classes, values)
            array = np.array([[each.get(key, np.nan) for key in keys] for each in values])
            rows += self._with_intervals([(rater, *key) for key in keys], array)
            rows += [row for row in more if row[0][0] == rater]
        return _table(rows, ["rater", "measure", "class"])

    def _cases(self, column: Columns, groups: Sequence[str]) -> pd.DataFrame:
        facts: dict[str, Any] = {
            "case": [case.name for case, _ in self.pairs],
            "split": [case.split for case, _ in self.pairs],
            "raters": [len(case.labels) for case, _ in self.pairs],
            "group": groups,
        }
        for (measure, name), values in column.items():
            facts[measure if name == ALL else f"{measure}[{name}]"] = values
        return pd.DataFrame(facts).set_index("case")

    def _groups(self, column: Columns, groups: Sequence[str]) -> pd.DataFrame:
        measure = "Dice" if ("Dice", ALL) in column else f"Dice{VOTE}"
        dice = _levels(column, measure, len(groups))
        rows = []
        for name, (start, end) in {**GROUPS, UNKNOWN: (math.nan, math.nan)}.items():
            inside = dice[[group == name for group in groups]]
            value = low = high = math.nan
            if len(inside):
                ((_, value, low, high, _),) = self._with_intervals([name], inside[:, None])
            rows.append((name, start, end, len(inside), value, low, high))
        columns = ["group", "from", "to", "n_cases", measure, "low", "high"]
        return pd.DataFrame(rows, columns=columns).set_index("group")

    def _cm_note(self, column: Columns) -> list[str]:
        if (CM_RMSE, ALL) not in column or any(case.simulated for case, _ in self.pairs):
            return []
        return [
            f"{CM_RMSE}: no rater is marked as simulated, so that what they drew stands for their "
            "true confusion matrices"
        ]


def _empty_note(n_empty: Mapping[Key, int]) -> list[str]:
    measures = ("Dice", f"Dice{VOTE}", f"Dice{EACH}")
    key = next(((name, ALL) for name in measures if n_empty.get((name, ALL))), None)
    if key is None:
        return []
    return [
        f"{counted(n_empty[key], 'case')} with nothing drawn and nothing predicted: right, but in "
        f"no mean of {key[0]}"
    ]


def _cm_errors(
    key: tuple[str, ...], true: NDArray[np.float64], estimated: NDArray[np.float64], n_cases: int
) -> list[Row]:
    errors = {
        "global CM RMSE": confusion_rms_error(true, estimated),
        "global CM error": confusion_frobenius_error(true, estimated),
    }
    return [
        ((*key, name, ALL), error, math.nan, math.nan, n_cases) for name, error in errors.items()
    ]


def _ordered(classes: Sequence[str], values: Iterable[Mapping[Key, float]]) -> list[Key]:
    """All measures, first those that most cases start with; classes of a measure side by side."""
    every = [key for each in sorted(values, key=len, reverse=True) for key in each]
    measures = {measure: place for place, measure in enumerate(dict.fromkeys(m for m, _ in every))}
    names = {name: place for place, name in enumerate((ALL, *classes))}
    return sorted(set(every), key=lambda key: (measures[key[0]], names[key[1]]))


def _levels(column: Columns, measure: str, n_cases: int) -> NDArray[np.float64]:
    return column.get((measure, ALL), np.full(n_cases, np.nan))


def _where(several: NDArray[np.bool_], end: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(several, end, np.nan)


def _table(rows: Sequence[Row], index: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame([(*key, *numbers) for key, *numbers in rows], columns=[*index, *_NUMBERS])
    return frame.set_index(index)
