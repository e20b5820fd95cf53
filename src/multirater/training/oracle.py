"""The oracle for class labels (Tanno 2019): every rater's matrix is known beforehand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.nn.confusion import GivenConfusion
from multirater.nn.rater_network import ConfusionNetwork, RaterNetwork
from multirater.simulate.simulated_dataset import rater_cm
from multirater.training.class_answers import answers_of
from multirater.training.data import RaterData
from multirater.types import MISSING, Case

_UNSEEN = 0.01
"""Labels that every entry of a counted matrix is taken to have beside what was counted."""


def take_true_matrices(
    network: RaterNetwork, data: RaterData, _: Callable[[], RaterNetwork]
) -> None:
    """Give a network the raters' true matrices."""
    assert isinstance(network, ConfusionNetwork)
    assert isinstance(network.confusion, GivenConfusion)
    cases = [*data.training_cases, *data.held_out_cases]
    found = true_matrices(cases, data.dataset.raters, network.confusion.n_classes)
    network.confusion.take(torch.from_numpy(found).float())


def true_matrices(
    cases: Sequence[Case], raters: Sequence[str], n_classes: int
) -> NDArray[np.float64]:
    """Return (n_raters, true, observed): as raters were simulated, else counted from the truth.

    Args:
        cases: with truth.
        raters: of the data set.
        n_classes: of the data set.
    """
    told: dict[str, str] = {}
    for case in cases:
        told.update(case.simulated)
    if set(told) >= set(raters):
        return np.stack([_told_matrix(rater, told[rater], n_classes) for rater in raters])
    truth = np.array([_true_class(case) for case in cases])
    counts = np.full((len(raters), n_classes, n_classes), _UNSEEN)
    said = answers_of(cases, raters)
    true = truth[said.case]
    known = true != MISSING
    np.add.at(counts, (said.rater[known], true[known], said.label[known]), 1.0)
    return np.asarray(counts / counts.sum(2, keepdims=True))


def _told_matrix(rater: str, told: str, n_classes: int) -> NDArray[np.float64]:
    """Return the matrix that the column `simulated` tells of a rater."""
    try:
        said = json.loads(told)
        # Before a matrix is made: another number of classes may take all memory.
        if said.get("n_classes", n_classes) == n_classes:
            found = rater_cm(said)
            if found.shape == (n_classes, n_classes):
                return found
    except (ValueError, KeyError, TypeError, AttributeError, InputError):
        pass
    raise InputError(
        Fault(
            f"column simulated is {told!r:.80}",
            expected=f"what `simulate` writes, of {n_classes} classes",
            fix="remove the column: raters are then counted from the truth",
            rater=rater,
        )
    )


def _true_class(case: Case) -> int:
    truth = case.read_truth()
    if truth is None:
        raise InputError(
            Fault("has no truth to know raters by", fix="choose another method", case=case.name)
        )
    return int(truth.array)
