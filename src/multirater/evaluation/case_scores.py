"""Everything that is measured on one case: its prediction against what is known of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.evaluation.cm_errors import (
    row_sums,
    squared_cm_error,
    squared_cm_error_of_counts,
)
from multirater.evaluation.consensus import consensus_level
from multirater.evaluation.predictions import PredictedCase
from multirater.evaluation.soft_scores import soft_scores
from multirater.fuse.majority_vote import majority_vote
from multirater.io.formats.grid import is_default, size_text, size_unit
from multirater.metrics import confusion_counts, energy_distance
from multirater.metrics.calibration import log_loss_error
from multirater.metrics.overlap import Overlap, mean_iou_of_counts, overlap_of_counts
from multirater.patterns import encode_patterns
from multirater.types import MISSING, Case, Geometry, LabelMap
from multirater.words import listed

ALL = "all"
"""Stands for all classes: of an overlap, the mean over those but the first that occur."""

OVERLAPS: dict[str, Overlap] = {"Dice": "dice", "IoU": "iou"}
MEAN_IOU = "mIoU"
VOTE, EACH, DRAWN = " with majority vote", " with raters", " of predicted raters"
DRAWN_BY_ONE = " of predicted rater"
CM_RMSE = "CM RMSE"
LOG_LOSS, CALIBRATION = "log loss", "calibration error"
TRUTH = "(truth)"
CONSENSUS, PREDICTED_CONSENSUS = "consensus", "predicted consensus"

Key: TypeAlias = tuple[str, str]
"""A measure and a class."""

Arrays: TypeAlias = dict[str, NDArray[np.int16]]
"""Label maps (*space) by rater."""


@dataclass(frozen=True, eq=False)
class ScoreJob:
    """What holds for all cases; sent to every process.

    Attributes:
        classes: names by index.
        by_vote: compare with the majority vote, because no case has a truth.
        match_raters: of the predicted raters, compare those with each other who labelled the case;
            all of them when the predictions know none of the raters by name (samples).
        cm: matrices [true, observed] by rater, for raters without maps.
    """

    classes: tuple[str, ...]
    by_vote: bool
    match_raters: bool
    cm: Mapping[str, NDArray[np.float64]]


@dataclass(eq=False)
class CaseScores:
    """What was measured on a case.

    Attributes:
        name: of the case.
        values: by measure and class.
        raters: the same for each rater who labelled the case.
        counts: pixels [true, observed] of each rater, where the truth is known.
        cm_sums: sums over the same pixels of the predicted matrices' rows of the true class.
        empty: measures and classes without a value because neither map holds the class.
        sizes: by the truth and the raters, pixels of each class (2, n_classes) that they labelled:
            as predicted, and as they did.
        unit: size of a pixel and its unit.
        unpredicted: pixels that the truth or a rater labelled and the prediction leaves open, and
            all that they labelled.
        rules: by which values of the reference's files were understood, and the highest index.
        faults: why the case could not be measured.
    """

    name: str
    values: dict[Key, float] = field(default_factory=dict)
    raters: dict[str, dict[Key, float]] = field(default_factory=dict)
    counts: dict[str, NDArray[Any]] = field(default_factory=dict)
    cm_sums: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    empty: set[Key] = field(default_factory=set)
    sizes: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    unit: tuple[float, str] = (1.0, "px")
    unpredicted: tuple[int, int] = (0, 0)
    rules: tuple[str, ...] = ()
    highest: int = MISSING
    faults: tuple[Fault, ...] = ()

    def add(self, values: Mapping[Key, float]) -> None:
        """Take in what was compared; among known values an unknown one stands for an empty pair."""
        self.values.update(values)
        unknown = {key for key, value in values.items() if math.isnan(value)}
        if len(unknown) < len(values):
            self.empty |= unknown


def score_case(pair: tuple[Case, PredictedCase], job: ScoreJob) -> CaseScores:
    """Measure one case; what is wrong with it comes back as faults, for all to be told at once.

    Args:
        pair: the case of the reference, and what was predicted for it.
        job: what holds for all cases.
    """
    case, predicted = pair
    try:
        return _score(case, predicted, job)
    except InputError as error:
        return CaseScores(case.name, faults=error.at(case=case.name).faults)


def _score(case: Case, predicted: PredictedCase, job: ScoreJob) -> CaseScores:
    label = predicted.label.read()
    truth = case.read_truth()
    labels = {rater: case.read_label(rater) for rater in case.labels}
    drawn = {rater: source.read() for rater, source in predicted.raters.items()}
    for others in ({"(truth)": truth} if truth is not None else {}, labels, drawn):
        _require_fit(label, others)
        _require_known(others, job.classes)
    _require_known({"(prediction)": label}, job.classes)
    real = {rater: each.array for rater, each in labels.items()}
    true = None if truth is None else truth.array
    seen = _Seen.of(label.array, true, real, {rater: each.array for rater, each in drawn.items()})
    found = CaseScores(case.name)
    if label.array.ndim:
        found.sizes = _sizes(seen, len(job.classes))
        found.unit = size_unit(label.geometry, label.array.shape)
    if seen.truth is not None:
        found.add(compare(seen.truth, seen.label, job.classes, weights=seen.weights))
        if predicted.probability is not None and label.array.ndim == 0:
            loss = log_loss_error(seen.truth[None], predicted.probability[None])
            found.values[LOG_LOSS, ALL] = float(loss[0])
    if real and job.by_vote:
        vote = np.asarray(majority_vote(_stacked(seen.real), len(job.classes)).label)
        voted = compare(vote, seen.label, job.classes, weights=seen.weights)
        found.add(_named(voted, VOTE))
    _against_raters(found, seen, job)
    if predicted.soft is not None:
        soft = predicted.read_probability(predicted.soft, label.array.shape)
        found.values.update(soft_scores(soft, true, list(real.values()), job.classes))
    if label.array.ndim:
        _as_sets(found, seen, job.match_raters)
    if true is not None:
        _confusion(found, seen, true, real, predicted, job)
    found.unpredicted = _unpredicted(seen)
    if found.unpredicted[0]:
        found.empty.clear()  # where something may be, nobody looked
    known = [*labels.values(), *([] if truth is None else [truth])]
    found.rules = tuple(sorted({each.rule for each in known}))
    found.highest = max((int(each.array.max(initial=MISSING)) for each in known), default=MISSING)
    return found


def _unpredicted(seen: _Seen) -> tuple[int, int]:
    """Count pixels that the reference labels: those without a prediction, and all."""
    known = [*seen.real.values(), *([] if seen.truth is None else [seen.truth])]
    if seen.weights is None or not known:
        return 0, 0
    labelled = np.any([each != MISSING for each in known], axis=0)
    open_ = labelled & (seen.label == MISSING)
    return int(seen.weights[open_].sum()), int(seen.weights[labelled].sum())


@dataclass(frozen=True, eq=False)
class _Seen:
    """All maps of a case, pixels that are alike in all of them taken together.

    Attributes:
        label: the predicted truth, (n_patterns,); () for a class of a whole image.
        truth: the same, where it is known.
        real: what raters drew.
        guessed: what they are predicted to draw.
        weights: pixels that carry each pattern; None for classes of whole images.
    """

    label: NDArray[Any]
    truth: NDArray[Any] | None
    real: Arrays
    guessed: Arrays
    weights: NDArray[Any] | None

    @staticmethod
    def of(label: NDArray[Any], truth: NDArray[Any] | None, real: Arrays, guessed: Arrays) -> _Seen:
        if not label.ndim:
            return _Seen(label, truth, real, guessed, None)
        known = [] if truth is None else [truth]
        found = encode_patterns([label, *known, *real.values(), *guessed.values()])
        columns = iter(found.rows.T.astype(np.int16))
        return _Seen(
            next(columns),
            None if truth is None else next(columns),
            {rater: next(columns) for rater in real},
            {rater: next(columns) for rater in guessed},
            found.counts,
        )


def compare(
    reference: NDArray[Any],
    predicted: NDArray[Any],
    classes: Sequence[str],
    *,
    weights: NDArray[Any] | None = None,
) -> dict[Key, float]:
    """Dice and IoU of each class and in all, and mIoU; for class labels, whether they are the same.

    Args:
        reference: class indices (*space), -1 where not labelled.
        predicted: same shape and rule.
        classes: names by index.
        weights: (*space), how many pixels each entry stands for.

    Returns:
        By measure and class. NaN for a class that neither map holds: that they agree on nothing
        says little of how well they agree on something, and is counted apart. `mIoU` is the mean
        IoU with the background included. All are NaN where no pixel is labelled in both.

    Example:
        >>> found = compare(np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0]), ["background", "a"])
        >>> round(found["Dice", "all"], 3), round(found["IoU", "background"], 3)
        (0.667, 0.667)
    """
    counts = confusion_counts(reference, predicted, len(classes), weights=weights)
    if reference.ndim == 0:
        return {("accuracy", ALL): float(np.trace(counts)) if counts.any() else math.nan}
    wanted: dict[str, int | None] = {ALL: None} | {name: k for k, name in enumerate(classes)}
    overlaps = {
        (measure, name): overlap_of_counts(counts, score, foreground, empty=math.nan)
        for measure, score in OVERLAPS.items()
        for name, foreground in wanted.items()
    }
    return overlaps | {(MEAN_IOU, ALL): mean_iou_of_counts(counts)}


def _against_raters(found: CaseScores, seen: _Seen, job: ScoreJob) -> None:
    """Compare the prediction, and the prediction of each rater, with what the rater drew."""
    each = {
        rater: compare(drawing, seen.label, job.classes, weights=seen.weights)
        for rater, drawing in seen.real.items()
    }
    own = {
        rater: compare(seen.real[rater], guess, job.classes, weights=seen.weights)
        for rater, guess in seen.guessed.items()
        if rater in seen.real
    }
    for rater, values in each.items():
        found.raters[rater] = values | _named(own.get(rater, {}), DRAWN_BY_ONE)
    found.add(_named(_mean(each.values()), EACH))
    found.add(_named(_mean(own.values()), DRAWN))


def _as_sets(found: CaseScores, seen: _Seen, match_raters: bool) -> None:
    """Compare raters and predicted raters as sets: their distance, and how far each agrees."""
    real, guessed, weights = seen.real, seen.guessed, seen.weights
    if match_raters:
        guessed = {rater: guess for rater, guess in guessed.items() if rater in real}
    for name, arrays in ((CONSENSUS, real), (PREDICTED_CONSENSUS, guessed)):
        if arrays:
            found.values[name, ALL] = consensus_level(_stacked(arrays), weights=weights)
    if real and guessed:
        for measure, distance in OVERLAPS.items():
            value = energy_distance(
                _stacked(real), _stacked(guessed), distance=distance, weights=weights
            )
            found.values[f"energy distance ({measure})", ALL] = value


def _confusion(
    found: CaseScores,
    seen: _Seen,
    truth: NDArray[Any],
    real: Arrays,
    predicted: PredictedCase,
    job: ScoreJob,
) -> None:
    """Compare each rater's predicted confusion matrices with what the rater made of the truth."""
    assert seen.truth is not None
    total, n_entries = 0.0, 0
    for rater, label in real.items():
        found.counts[rater] = confusion_counts(
            seen.truth, seen.real[rater], len(job.classes), weights=seen.weights
        )
        if truth.ndim == 0:
            continue  # of a single answer the true matrix is not known
        try:
            cm = _predicted_cm(rater, truth.shape, predicted, job)
            if cm is None:
                continue
            squares, n = (
                squared_cm_error_of_counts(found.counts[rater], cm)
                if cm.ndim == 2
                else squared_cm_error(truth, label, cm)
            )
        except InputError as error:
            raise error.at(rater=rater, file=predicted.confusion.get(rater)) from None
        if n:
            found.raters[rater][CM_RMSE, ALL] = math.sqrt(squares / n)
            total, n_entries = total + squares, n_entries + n
        if rater in predicted.confusion:
            found.cm_sums[rater] = row_sums(truth, label, cm)
    if n_entries:
        found.values[CM_RMSE, ALL] = math.sqrt(total / n_entries)


def _require_known(labels: Mapping[str, LabelMap], classes: Sequence[str]) -> None:
    """Refuse classes that neither predictions nor reference declare."""
    for who, label in labels.items():
        highest = int(label.array.max(initial=MISSING))
        if highest >= len(classes):
            raise InputError(
                Fault(
                    f"class {highest}",
                    expected=f"0 to {len(classes) - 1}: {listed(list(classes), most=8)}",
                    fix="add it to classes.csv of the reference",
                    rater=who,
                )
            )


def _predicted_cm(
    rater: str, space: tuple[int, ...], predicted: PredictedCase, job: ScoreJob
) -> NDArray[Any] | None:
    if rater in predicted.confusion:
        return predicted.read_confusion(rater, space)
    return job.cm.get(rater)


def _sizes(seen: _Seen, n_classes: int) -> dict[str, NDArray[np.int64]]:
    """Pixels of each class where the truth, or a rater, labelled: of the prediction, and theirs."""
    known = {} if seen.truth is None else {TRUTH: seen.truth}
    weights = np.ones(len(seen.label)) if seen.weights is None else seen.weights
    found = {}
    for who, array in (known | seen.real).items():
        both = (array != MISSING) & (seen.label != MISSING)
        found[who] = np.stack(
            [
                np.bincount(each[both], weights[both], n_classes).astype(np.int64)
                for each in (seen.label, array)
            ]
        )
    return found


def _stacked(arrays: Arrays) -> NDArray[np.int16]:
    return np.stack(list(arrays.values()))


def _named(values: Mapping[Key, float], suffix: str) -> dict[Key, float]:
    return {(f"{measure}{suffix}", name): value for (measure, name), value in values.items()}


def _mean(of: Iterable[Mapping[Key, float]]) -> dict[Key, float]:
    """Mean of each value over raters, without empty pairs and those who share no pixel."""
    each = list(of)
    known = {
        key: [values[key] for values in each if not math.isnan(values[key])]
        for key in (each[0] if each else ())
    }
    return {key: sum(some) / len(some) if some else math.nan for key, some in known.items()}


def _require_fit(label: LabelMap, others: Mapping[str, LabelMap]) -> None:
    for rater, other in others.items():
        if other.array.shape != label.array.shape:
            found, expected = (f"size {size_text(each.array.shape)}" for each in (other, label))
        elif not _same_place(other.geometry, label.geometry):
            found, expected = str(other.geometry), str(label.geometry)
        else:
            continue
        raise InputError(
            Fault(
                f"label has {found}",
                expected=f"{expected}, as the prediction",
                fix="predict on the images that the labels were drawn on",
                rater=rater,
            )
        )


def _same_place(one: Geometry, other: Geometry) -> bool:
    """Whether two grids agree; a format that says nothing about the world agrees with all."""
    return is_default(one) or is_default(other) or one.is_close(other)
