"""Fuse the class labels of a data set: all cases at once, one row of a table each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.methods import METHODS, NEEDS_SPACE, method_named
from multirater.fuse.quality import with_quality
from multirater.fuse.rater_table import MOST_IN_TABLE, rater_table_of_tasks
from multirater.fusion.company import judged_estimates
from multirater.fusion.folder import FusedDataset
from multirater.fusion.study_quality import quality_of_study
from multirater.io.results.class_tables import write_class_tables
from multirater.io.survey import Survey
from multirater.trust import Finding
from multirater.types import MISSING, Case


@dataclass(frozen=True, eq=False)
class FusedClasses:
    """Class labels of many cases, fused.

    Attributes:
        label: (n_cases,).
        probability: (n_classes, n_cases).
        counts: expected answers (n_raters, true, observed).
        findings: what speaks against the result.
    """

    label: NDArray[np.int16]
    probability: NDArray[np.floating[Any]]
    counts: NDArray[np.float64]
    findings: tuple[Finding, ...] = ()


ClassFuser: TypeAlias = Callable[[Sequence[Case], NDArray[np.int64], Survey], FusedClasses]
"""Fuses the class labels (n_raters, n_cases) of cases."""


def fuse_classes(found: Survey, target: Path, method: str, fuser: ClassFuser) -> FusedDataset:
    """Fuse class labels by a fuser, and write the tables of the folder."""
    dataset, names = found.dataset, found.classes.names
    with_labels = [
        (case, part) for case, part in zip(dataset, found.cases, strict=True) if len(part.counts)
    ]
    answers = np.concatenate([part.rows for _, part in with_labels]).T
    result = fuser([case for case, _ in with_labels], answers, found)
    counted = rater_table_of_tasks(
        result.counts, dataset.raters, names, with_matrix=len(names) <= MOST_IN_TABLE
    )
    quality = quality_of_study(found)
    if method in METHODS and not any(case.gold is not None for case in dataset):
        counted = judged_estimates(counted, quality)  # nor does a network judge them
    raters = with_quality(counted, quality)
    by_case = [case.name for case, _ in with_labels]
    cases = write_class_tables(
        target,
        dataset,
        found.classes,
        method,
        dict(zip(by_case, result.probability.T, strict=True)),
        raters,
        {case: int(k) for case, k in zip(by_case, result.label, strict=True)},
    )
    return FusedDataset(target, raters, cases, result.findings)


def gold_classes(cases: Sequence[Case]) -> NDArray[np.int16] | None:
    """Return the classes that an expert decided on, (n_cases,), -1 where none; None for none."""
    if all(case.gold is None for case in cases):
        return None
    read = [case.read_gold() for case in cases]
    return np.array([MISSING if each is None else each.array for each in read], dtype=np.int16)


def by_method(
    cases: Sequence[Case],
    answers: NDArray[np.int64],
    found: Survey,
    *,
    method: str,
    options: Mapping[str, Any],
) -> FusedClasses:
    """Fuse class labels by a method of this package."""
    if method in NEEDS_SPACE:
        raise InputError(Fault(f"{method} needs masks", expected="another method"))
    names = found.classes.names
    gold = gold_classes(cases)
    known = {} if gold is None else {"gold": gold}
    result = method_named(method)(
        answers, len(names), raters=found.dataset.raters, classes=names, **options, **known
    )
    return FusedClasses(result.label, result.probability, result.counts, result.findings)
