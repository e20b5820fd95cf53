"""Predictions against what is known: one table of results.

Predictions are a data set whose only rater is a network or a fusion; the reference is the data set
with the raters' labels and, where it is known, the truth. Nothing has to be complete: what cannot
be measured is not in the table.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from multirater.errors import Fault, InputError, MultiraterWarning
from multirater.evaluation.case_scores import ScoreJob, score_case
from multirater.evaluation.predictions import (
    DatasetLike,
    PredictedCase,
    Predictions,
    open_dataset,
    open_predictions,
)
from multirater.evaluation.result import Draws, Evaluation, Summary
from multirater.io.contradictions import Understood, contradictions
from multirater.metrics.rater_columns import row_words
from multirater.parallel import map_parallel
from multirater.types import MISSING, Case, Classes, Dataset

__all__ = ["Evaluation", "evaluate", "evaluate_many"]

_SHOWN = 3
"""How many names an error message lists."""


def evaluate(
    predictions: DatasetLike,
    reference: DatasetLike | None = None,
    *,
    rater_predictions: DatasetLike | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
    workers: int = 1,
) -> Evaluation:
    """Compare predictions with the truth and with the raters.

    Every measure is taken per case and averaged over cases, with an interval from drawing cases
    again (`metrics.case_interval`); a single case gives no interval. Measures:

    - `Dice`, `IoU`: against the truth, over the cases in which either holds the class (`n_empty`
      counts the others); `mIoU`, the mean IoU with the background included; for
      labels that are classes of whole images `accuracy`.
      `… with majority vote` when no case has a truth; `… with raters`, the mean over the raters
      of a case.
    - `soft Dice`, where there are class probabilities: Dice at thresholds 0.1, 0.3, 0.5, 0.7 and
      0.9, averaged (MrPrism), against the truth; `… with mean of raters` against the share of
      raters who drew a class.
    - `log loss` (nats) and `calibration error`, for classes of whole images whose probabilities
      are known (`cases.csv`): surprise at the true class, and how far confidence and accuracy are
      apart (`metrics.calibration_error`; its interval comes from drawing cases again).
    - `… of predicted raters`: what each rater is predicted to draw against what they drew.
    - `energy distance (Dice)`, `energy distance (IoU)`: between the set of raters' labels and the
      set of predicted raters' labels. When the predictions know the raters by name, the predicted
      raters are those who labelled the case; else all of them (samples).
    - `consensus`, `predicted consensus`: mean IoU of every two raters of a case, and the
      correlation of the two over cases, `consensus Pearson` and `consensus Spearman`.
    - `CM RMSE`: predicted confusion matrices (maps, or the one of `raters.csv` at every pixel)
      against the true ones, which are known where a rater errs in a set way: in the row of the
      true class, all weight on what was drawn (`simulate.true_confusion`).
    - `global CM RMSE`, `global CM error` (Frobenius, Tanno 2019): one matrix per rater, from
      `raters.csv` or the mean of the maps over the pixels of each true class, against the shares
      counted from truth and labels.

    Args:
        predictions: folder written by `multirater predict` or `multirater fuse`, or its data set.
        reference: data set with labels of raters, truth, or both; the truth that the predictions'
            table names when not given. Cases are matched by name, classes too.
        rater_predictions: data set with what each rater is predicted to draw; the folder
            `raters/` of the predictions when not given.
        level: of the intervals.
        n_resamples: how many times cases are drawn again.
        seed: same seed, same intervals.
        workers: number of processes.

    Raises:
        InputError: no case in common, nothing to compare with, other classes, or with the faults
            of all cases.

    Example:
        >>> import numpy as np
        >>> from multirater import dataset_from_arrays
        >>> truth = np.array([[[0, 1, 1]], [[0, 0, 1]]])
        >>> data = dataset_from_arrays(truth[:, None], truths=truth, raters=["anna"])
        >>> drawn = np.array([[[0, 1, 0]], [[0, 0, 1]]])
        >>> network = dataset_from_arrays(drawn[:, None], raters=["network"])
        >>> round(float(evaluate(network, data).scores.loc[("Dice", "all"), "value"]), 3)
        0.833
    """
    predicted = open_dataset(predictions)
    known = _truth_alone(predicted) if reference is None else open_dataset(reference)
    drawn = None if rater_predictions is None else open_dataset(rater_predictions)
    classes = shared_classes(predicted, known)
    opened = open_predictions(predicted, drawn, classes, known.raters)
    draws = Draws(level, n_resamples, seed)
    return evaluate_opened(opened, known, classes, draws, workers=workers)


def evaluate_opened(
    opened: Predictions, reference: Dataset, classes: Classes, draws: Draws, *, workers: int = 1
) -> Evaluation:
    """Do what `evaluate` does, with predictions that are open already.

    Args:
        opened: of the classes and raters of the reference.
        reference: data set with labels of raters, truth, or both.
        classes: of the reference.
        draws: behind the intervals.
        workers: number of processes.
    """
    pairs, notes = _paired(reference, opened)
    names = row_words(classes.names)
    job = ScoreJob(
        names,
        by_vote=all(case.truth is None for case, _ in pairs),
        match_raters=any(set(case.raters) & set(reference.raters) for _, case in pairs),
        cm=opened.cm,
    )
    found = list(
        map_parallel(partial(score_case, job=job), pairs, label="evaluating", workers=workers)
    )
    faults = [fault for each in found for fault in each.faults]
    if reference.classes is None:
        faults += contradictions(
            [
                Understood(case, each.rules, each.highest)
                for (case, _), each in zip(pairs, found, strict=True)
            ]
        )
    if faults:
        raise InputError(faults)
    return Summary(pairs, found, opened.cm, names, draws).evaluation(notes)


def evaluate_many(
    predictions: Mapping[str, Sequence[DatasetLike]],
    reference: DatasetLike | None = None,
    *,
    workers: int = 1,
) -> pd.DataFrame:
    """Compare methods, each trained with several seeds.

    Args:
        predictions: by method, one prediction per seed.
        reference: as in `evaluate`.
        workers: number of processes.

    Returns:
        One row per `method`, `measure` and `class`; columns `mean` and `std` over seeds (n - 1 in
        the denominator; NaN for one seed), `n_seeds`, and `n_cases`, the fewest behind a value.

    Example:
        evaluate_many({"cm": ["cm-0", "cm-1"], "mode": ["mode-0", "mode-1"]}, "data")
    """
    known = None if reference is None else open_dataset(reference)
    # The spread over seeds takes the place of intervals: one draw is as good as many.
    return mean_over_seeds(
        {
            method: [evaluate(each, known, n_resamples=1, workers=workers) for each in seeds]
            for method, seeds in predictions.items()
        }
    )


def mean_over_seeds(evaluations: Mapping[str, Sequence[Evaluation]]) -> pd.DataFrame:
    """Return the table of `evaluate_many` from evaluations that are there already."""
    parts = [
        each.scores.assign(method=method) for method, seeds in evaluations.items() for each in seeds
    ]
    if not parts:
        raise InputError(Fault("no predictions", expected="at least one method with one seed"))
    every = pd.concat(parts)
    if every.loc[:, "n_cases"].groupby(level=["measure", "class"]).nunique().max() > 1:
        warnings.warn(
            "the predictions cover different cases: their means do not compare",
            MultiraterWarning,
            stacklevel=2,
        )
    groups = every.set_index("method", append=True).groupby(
        level=["method", "measure", "class"], sort=False
    )
    return groups.agg(
        mean=("value", "mean"),
        std=("value", "std"),
        n_seeds=("value", "size"),
        n_cases=("n_cases", "min"),
    )


def _truth_alone(predicted: Dataset) -> Dataset:
    """Return the predictions' own table as reference: truth, but nobody else's labels."""
    if any(case.truth is not None for case in predicted):
        cases = tuple(replace(case, labels={}) for case in predicted)
        return replace(predicted, cases=cases, raters=())
    raise InputError(
        Fault(
            "the predictions' table names no truth",
            expected="a reference to compare with",
            fix="name the data set with labels or truth (--reference)",
            file=str(predicted.folder or ""),
        )
    )


def shared_classes(predicted: Dataset, reference: Dataset) -> Classes:
    """Return the classes that predictions and reference are compared in, by name."""
    if predicted.kind != reference.kind:
        raise InputError(
            Fault(
                f"predictions that are {predicted.kind}",
                expected=f"{reference.kind}, as the labels of the reference",
            )
        )
    _require_coding(predicted, reference)
    declared = reference.classes or predicted.classes
    if declared is not None:
        return declared
    maps = [
        label
        for dataset in (predicted, reference)
        for case in dataset
        for label in [case.read_truth(), *(case.read_label(rater) for rater in case.labels)]
        if label is not None
    ]
    highest = max((int(label.array.max(initial=MISSING)) for label in maps), default=MISSING)
    return Classes.numbered(max(highest + 1, 2))


def _require_coding(predicted: Dataset, reference: Dataset) -> None:
    """Refuse files whose values nobody declares, beside ones in which 0 is not the background."""
    for told, silent in ((predicted, reference), (reference, predicted)):
        if told.classes is None or silent.classes is not None or silent.folder is None:
            continue
        background = told.classes.items[0]
        if told.kind == "masks" and background.value not in (None, 0):
            raise InputError(
                Fault(
                    f"no classes.csv, where {background.name} is {background.value} in the masks "
                    "that these are compared with",
                    expected="a classes.csv that tells what the values stand for",
                    fix="copy it here if these masks have the same values",
                    file=str(silent.folder),
                )
            )


def _paired(
    reference: Dataset, predictions: Predictions
) -> tuple[list[tuple[Case, PredictedCase]], list[str]]:
    """Pair cases by name, and say which are left out."""
    predicted = predictions.cases
    common = [case for case in reference if case.name in predicted]
    if not common:
        raise InputError(
            Fault(
                f"no predicted case is in the reference: {_listed(predicted)}",
                expected=f"cases such as {_listed(case.name for case in reference)}",
                fix="name the data set that the predictions were made for",
                file=str(reference.folder or ""),
            )
        )
    usable = [case for case in common if case.truth is not None or case.labels]
    if not usable:
        raise InputError(
            Fault(
                "has neither truth nor labels for the predicted cases",
                expected="something to compare the predictions with",
                file=str(reference.folder or ""),
            )
        )
    counts = {
        "of the reference without a prediction": len(reference) - len(common),
        "predicted that the reference does not have": len(predicted) - len(common),
        "with neither truth nor labels": len(common) - len(usable),
    }
    notes = [f"left out: {n} {_cases_word(n)} {what}" for what, n in counts.items() if n]
    return [(case, predicted[case.name]) for case in usable], notes


def _cases_word(n: int) -> str:
    return "case" if n == 1 else "cases"


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:_SHOWN]) + (", ..." if len(every) > _SHOWN else "") or "none"
