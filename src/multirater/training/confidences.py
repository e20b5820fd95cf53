"""Confidences in raters that a user states, for methods that follow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from multirater.errors import Fault, InputError
from multirater.words import listed


def confidence_vector(confidences: Mapping[str, float], raters: Sequence[str]) -> Tensor:
    """Return confidences (n_raters,) in the order of the raters; 0 for those not named.

    Example:
        >>> confidence_vector({"bert": 0.8}, ["anna", "bert"])
        tensor([0.0000, 0.8000])
    """
    unknown = [name for name in confidences if name not in raters]
    if unknown:
        raise InputError(
            Fault(f"confidence in {unknown[0]!r}", expected=f"one of {listed(list(raters))}")
        )
    wrong = {name: value for name, value in confidences.items() if not 0 <= value <= 1}
    if wrong or not any(confidences.values()):
        name, value = next(iter((wrong or confidences).items()))
        raise InputError(
            Fault(f"confidence {value:g} in {name}", expected="0 to 1, and more than 0 in somebody")
        )
    return torch.tensor([float(confidences.get(rater, 0.0)) for rater in raters])
