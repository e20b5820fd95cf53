"""Labels fused so that a diagnosis does best by them, which a network is then trained on.

The diagnosis of cases that are trained on weighs raters (`multirater.nn.diagnosis_first`); what it
has found says for any labelled case, with a diagnosis or not, whom to follow where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from multirater.errors import Fault, InputError
from multirater.nn.diagnosis_first import DiagnosisNetwork, ExpertnessNetwork, fused_labels
from multirater.progress import say
from multirater.training.data import named_splits
from multirater.training.normalisation import normalise
from multirater.training.resampling import resize_labels, resize_maps
from multirater.training.targets import require_labels
from multirater.types import MISSING, Case, Dataset, Image, LabelMap, Source
from multirater.words import listed, percent

RATER = "diagnosis-first"
_SIDE = {2: 64, 3: 32}
"""Size at most, per axis, at which a diagnosis is told."""

_CASES_PER_STEP = 16
_RATE = 3e-3
_RATE_OF_RATERS = 3e-2
"""Of the one number per rater, which hardly moves at the rate of a network."""


@dataclass(frozen=True)
class DiagnosisOptions:
    """Options of the method `diagnosis-first`.

    Attributes:
        steps: in which expertness and diagnosis are learned, before the segmentation is.
    """

    steps: int = 400

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise InputError(Fault(f"option steps = {self.steps}", expected="1 or more"))


def on_diagnosis_first(dataset: Dataset, *, steps: int) -> Dataset:
    """Train on the labels of raters, fused so that a diagnosis does best by them."""
    require_labels(dataset)
    training, held_out = named_splits(dataset)
    with_diagnosis = _diagnosed(training)
    names = sorted({case.diagnosis for case in with_diagnosis})
    # Numbers of its own: what a run draws does not depend on what was fitted before it.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        size = _size(with_diagnosis[0])
        shown = [_shown(case, dataset.raters, size) for case in with_diagnosis]
        n_classes = _n_classes(dataset, shown)
        wanted = torch.tensor([names.index(case.diagnosis) for case in with_diagnosis])
        expertness, share = _fitted(shown, wanted, n_classes, len(names), steps)
    maps = {
        case.name: _expertness_of(_shown(case, dataset.raters, size), expertness)
        for case in training + held_out
    }
    _tell(maps, training, dataset.raters, share)
    cases = tuple(
        replace(
            case,
            labels={
                RATER: Source(partial(_fused, case, dataset.raters, maps[case.name], n_classes))
            }
            if case.name in maps
            else {},
        )
        for case in dataset
    )
    return replace(dataset, cases=cases, raters=(RATER,))


def _diagnosed(training: Sequence[Case]) -> list[Case]:
    """Return the cases with a diagnosis, of which there must be two kinds."""
    found = [case for case in training if case.diagnosis]
    names = sorted({case.diagnosis for case in found})
    if len(names) > 1:
        return found
    what = "no case to train on has a diagnosis"
    if names:
        what = f"all cases to train on have the diagnosis {names[0]!r}"
    raise InputError(
        Fault(
            what,
            expected="a column `diagnosis` in manifest.csv, with two diagnoses or more",
            fix="add it, or choose another method",
        )
    )


def _n_classes(dataset: Dataset, shown: Sequence[_Shown]) -> int:
    """Return how many classes there are: as declared, or as drawn."""
    if dataset.classes is not None:
        return len(dataset.classes)
    return max(2, 1 + max(int(each.labels.max()) for each in shown))


@dataclass(frozen=True, eq=False)
class _Shown:
    """A case as the diagnosis sees it: image (C, *side) and labels of all raters (R, *side)."""

    image: NDArray[np.float32]
    labels: NDArray[np.int16]


def _size(case: Case) -> tuple[int, ...]:
    """Return the size at which all cases are shown, by one of them."""
    space = _image(case).space
    return tuple(min(side, _SIDE[len(space)]) for side in space)


def _image(case: Case) -> Image:
    image = case.read_image()
    if image is None:
        raise InputError(Fault("has no image", fix="training needs images", case=case.name))
    return image


def _shown(case: Case, raters: Sequence[str], size: Sequence[int]) -> _Shown:
    image = _image(case)
    labels = case.read_labels(raters).array
    return _Shown(normalise(resize_maps(image.array, size)), resize_labels(labels, size))


def _fitted(
    shown: Sequence[_Shown], wanted: Tensor, n_classes: int, n_diagnoses: int, steps: int
) -> tuple[ExpertnessNetwork, float]:
    """Return what tells expertness, and the share of the diagnoses that came out right."""
    image = torch.from_numpy(np.stack([each.image for each in shown]))
    labels = torch.from_numpy(np.stack([each.labels for each in shown]).astype(np.int64))
    ndim, sizes = labels.ndim - 2, (image.shape[1], labels.shape[1])
    expertness = ExpertnessNetwork(*sizes, n_classes, ndim)
    diagnosis = DiagnosisNetwork(image.shape[1], n_classes, n_diagnoses, ndim)
    # A rare diagnosis counts as much as a common one.
    weight = len(wanted) / (n_diagnoses * torch.bincount(wanted, minlength=n_diagnoses).float())
    groups: list[dict[str, Any]] = [
        {"params": [*expertness.look.parameters(), *diagnosis.parameters()]},
        {"params": [expertness.always], "lr": _RATE_OF_RATERS},
    ]
    optimizer = torch.optim.Adam(groups, lr=_RATE, weight_decay=1e-4)
    right = 0.0
    for step in range(steps):
        taken = torch.randperm(len(wanted))[:_CASES_PER_STEP]
        mirrored = [axis + 2 for axis in range(ndim) if torch.rand(()) < 0.5]
        pictures, drawn = image[taken].flip(mirrored), labels[taken].flip(mirrored)
        fused = fused_labels(expertness(pictures, drawn), drawn, n_classes)
        said = diagnosis(pictures, fused)
        optimizer.zero_grad()
        loss = functional.cross_entropy(said, wanted[taken], weight)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if step >= steps * 3 // 4:
            right += float((said.argmax(1) == wanted[taken]).float().mean())
    return expertness.eval(), right / (steps - steps * 3 // 4)


def _expertness_of(shown: _Shown, network: ExpertnessNetwork) -> NDArray[np.float32]:
    """Return the expertness of all raters on the grid, (R, *grid)."""
    labels = torch.from_numpy(shown.labels.astype(np.int64))
    with torch.no_grad():
        found = network(torch.from_numpy(shown.image)[None], labels[None])[0]
    return np.asarray(found.numpy())


def _tell(
    maps: Mapping[str, NDArray[np.float32]],
    training: Sequence[Case],
    raters: Sequence[str],
    share: float,
) -> None:
    """Say whom the diagnosis follows, in the mean over the cases that are trained on."""
    weights = []
    for case in training:
        present = np.array([rater in case.labels for rater in raters])
        logits = np.where(present[:, None], maps[case.name].reshape(len(raters), -1), -np.inf)
        each = np.exp(logits - logits.max(0))
        weights.append((each / each.sum(0)).mean(1))
    mean = np.mean(weights, axis=0)
    said = [f"{rater} {percent(weight)}" for rater, weight in zip(raters, mean, strict=True)]
    say(
        f"of the diagnoses {percent(share)} came out right as they were learned; "
        f"weight of the raters: {listed(said, most=8)}"
    )


def _fused(
    case: Case, raters: Sequence[str], expertness: NDArray[np.float32], n_classes: int
) -> LabelMap:
    """Return the class of most weight at every pixel; -1 where nobody labelled it."""
    labels = case.read_labels(raters)
    drawn = torch.from_numpy(labels.array.astype(np.int64))[None]
    logits = torch.from_numpy(expertness)[None]
    fused = fused_labels(logits, drawn, n_classes)[0].argmax(0).numpy()
    array = np.where((labels.array == MISSING).all(0), MISSING, fused).astype(np.int16)
    return LabelMap(array, labels.geometry, f"fused by {RATER}")
