"""What a trained network says of the cases of a study, labelled or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.survey import Survey
from multirater.training.class_evidence import truth_of
from multirater.training.predictor import Predictor
from multirater.types import Case

_LEAST = 1e-3
"""Nothing is impossible, however sure a network is."""


def class_beliefs(
    run: str | Path, found: Survey, *, trust_code: bool = False
) -> NDArray[np.float64]:
    """Return class probabilities of every case, (n_cases, n_classes), by the study's classes.

    Args:
        run: run folder.
        found: study of class labels, surveyed.
        trust_code: whether the run may bring a backbone of its own, which is code that is run.
    """
    predictor, place = _opened(run, found, trust_code)
    predictor.data.require_features(found.dataset.features)
    known = truth_of(predictor, found.dataset.cases)[:, place] + _LEAST
    return np.asarray(known / known.sum(1, keepdims=True), dtype=float)


def drawing_beliefs(
    run: str | Path, found: Survey, *, trust_code: bool = False
) -> Callable[[Case], NDArray[np.float32]]:
    """Return a function from a case to class probabilities (n_classes, *space) of its pixels.

    Args:
        run: run folder.
        found: study of drawings, surveyed.
        trust_code: whether the run may bring a backbone of its own, which is code that is run.
    """
    predictor, place = _opened(run, found, trust_code)

    def of_case(case: Case) -> NDArray[np.float32]:
        (seen,) = predictor.of_cases([case], lambda _: ())
        known = seen.prediction.probability[place] + np.float32(_LEAST)
        return np.asarray(known / known.sum(0), dtype=np.float32)

    return of_case


def _opened(run: str | Path, found: Survey, trust_code: bool) -> tuple[Predictor, list[int]]:
    """Open a run, and find where it keeps the classes of the study."""
    predictor = Predictor(run, trust_code=trust_code)
    if predictor.data.kind != found.dataset.kind:
        raise InputError(
            Fault(
                f"labels that are {found.dataset.kind}",
                expected=f"{predictor.data.kind}, as in training",
                file=str(run),
            )
        )
    names = list(predictor.data.classes)
    unknown = [name for name in found.classes.names if name not in names]
    if unknown:
        raise InputError(
            Fault(
                f"class {unknown[0]!r}, which the network does not know",
                expected=f"one of {', '.join(names)}",
                file=str(run),
            )
        )
    return predictor, [names.index(name) for name in found.classes.names]
