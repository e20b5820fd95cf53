"""Training on what an expert decided.

A decided case is taken as though every rater who labelled it had come round to the decision: that
is what the network learns there, by any method. Raters themselves are still judged by what they
drew, as `describe_run` reads it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from multirater.training.drawn_targets import kind_of
from multirater.types import MISSING, Case, Dataset, LabelMap, Source


def held_to_gold(dataset: Dataset) -> Dataset:
    """Return a data set in which the gold label of a case stands in for every label of it.

    Coarse drawings stay what they are, and so do pixels that were not decided.

    Args:
        dataset: as prepared by the method.
    """
    if all(case.gold is None for case in dataset):
        return dataset
    return replace(dataset, cases=tuple(map(_of_case, dataset)))


def _of_case(case: Case) -> Case:
    if case.gold is None:
        return case
    gold = case.gold
    labels = {
        rater: Source(partial(_read, source, gold), source.paths)
        if kind_of(rater) == "mask"
        else source
        for rater, source in case.labels.items()
    }
    return replace(case, labels=labels)


def _read(source: Source[LabelMap], gold: Source[LabelMap]) -> LabelMap:
    drawn, decided = source.read(), gold.read().array
    return replace(drawn, array=np.where(decided == MISSING, drawn.array, decided))
