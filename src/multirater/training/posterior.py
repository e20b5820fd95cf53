"""Network and raters together: the best label there is for a case that raters have labelled.

The network says what the image shows, p(t | x); the raters' labels say more, through the confusion
matrices the network learned: q(t) is proportional to p(t | x) times the product of cm[r, t, drawn].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.spatial_staple import expected_confusions
from multirater.fusion.case import FusedCase
from multirater.fusion.class_dataset import FusedClasses, gold_classes
from multirater.fusion.folder import FusedDataset
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io.survey import Survey
from multirater.training.class_evidence import truth_of
from multirater.training.disputed import is_disputed
from multirater.training.options import checked_options
from multirater.training.predictor import Predictor
from multirater.types import MISSING, Case, Classes, Dataset, LabelMap, Labels, Source
from multirater.words import listed

Real = TypeVar("Real", np.float32, np.float64)


def posterior(
    probability: NDArray[np.float32], confusion: NDArray[np.float32], labels: NDArray[np.int16]
) -> NDArray[np.float32]:
    """Combine network and labels, pixel by pixel.

    Args:
        probability: of the truth by the network, (n_classes, *space).
        confusion: (n_raters, true, observed, *space).
        labels: (n_raters, *space), -1 where missing.

    Returns:
        Class probabilities (n_classes, *space).
    """
    log_joint = np.log(np.maximum(probability, 1e-30)).astype(np.float64)
    for cm, drawn in zip(confusion, labels, strict=True):
        index = np.maximum(drawn, 0)[None, None].astype(np.int64)
        column = np.take_along_axis(cm, np.broadcast_to(index, (len(cm), 1, *drawn.shape)), 1)[:, 0]
        log_joint += np.where(drawn == MISSING, 0.0, np.log(np.maximum(column, 1e-30)))
    log_joint -= log_joint.max(0)
    joint = np.exp(log_joint)
    return np.asarray(joint / joint.sum(0), dtype=np.float32)


def class_posterior(
    truth: NDArray[np.float64],
    matrices: NDArray[np.float64],
    answers: Mapping[int, NDArray[np.int64]],
) -> NDArray[np.float64]:
    """Combine network and class labels, case by case.

    Args:
        truth: probability by the network, (n_cases, n_classes).
        matrices: (n_raters, true, observed).
        answers: class labels (n_cases,) of raters by position, -1 where missing.

    Returns:
        Class probabilities (n_cases, n_classes).

    Example:
        >>> truth, cm = np.array([[0.5, 0.5]]), np.array([[[0.9, 0.1], [0.3, 0.7]]])
        >>> class_posterior(truth, cm, {0: np.array([0])}).round(2).tolist()
        [[0.75, 0.25]]
    """
    log_joint = np.log(np.maximum(truth, 1e-30))
    for rater, said in answers.items():
        given = said != MISSING
        log_joint[given] += np.log(np.maximum(matrices[rater], 1e-30)).T[said[given]]
    joint = np.exp(log_joint - log_joint.max(1, keepdims=True))
    return np.asarray(joint / joint.sum(1, keepdims=True))


def settled(
    probability: NDArray[np.float32], matrices: NDArray[np.float32], labels: NDArray[np.int16]
) -> NDArray[np.float32]:
    """Combine network and labels where raters disagree; what all agree on stands.

    Args:
        probability: of the truth by the network, (n_classes, *space).
        matrices: of the disputed pixels, (n_raters, true, observed).
        labels: (n_raters, *space), -1 where missing.

    Returns:
        Class probabilities (n_classes, *space). The network's alone, where nobody labelled.
    """
    disputed, agreed = is_disputed(labels), labels.max(0)
    classes = np.arange(len(probability)).reshape(-1, *(1 for _ in agreed.shape))
    found = np.where(agreed == MISSING, probability, agreed == classes).astype(np.float32)
    local = np.broadcast_to(matrices[..., None], (*matrices.shape, int(disputed.sum())))
    found[:, disputed] = posterior(probability[:, disputed], local, labels[:, disputed])
    return found


@dataclass(frozen=True)
class LearnedOptions:
    """Options of the fusion `learned`.

    MrPrism's y_fuse (eq. 4) has a uniform prior and the labels as drawn; its y_self (eq. 5), which
    needs no label at all, a uniform prior and those that the network expects.

    Attributes:
        prior: what is believed of the truth before any label: what the network sees in the image,
            or every class as much as any other.
        labels: what raters drew, or, of the same raters, what the network expects them to draw.
    """

    prior: Literal["network", "uniform"] = "network"
    labels: Literal["drawn", "expected"] = "drawn"


class NetworkFuser:
    """Fuses a case with a trained network.

    Args:
        run: run folder.
        trust_code: whether the run may bring a backbone of its own, which is code that is run.
        options: what is fused, and with which prior.
    """

    def __init__(
        self,
        run: str | Path,
        *,
        trust_code: bool = False,
        options: LearnedOptions | None = None,
    ) -> None:
        self.predictor = Predictor(run, trust_code=trust_code)
        self.options = options or LearnedOptions()

    def __call__(self, case: Case, labels: Labels) -> FusedCase:
        """Fuse the labels of one case."""
        if case.image is None:
            raise InputError(Fault("has no image", fix="choose another method", case=case.name))
        known = self.predictor.data.raters
        self._require_known(labels, case)
        present = [
            number
            for number, rater in enumerate(labels.raters)
            if rater in known and (labels.array[number] != MISSING).any()
        ]
        positions = [known.index(labels.raters[number]) for number in present]
        (found,) = self.predictor.of_cases([case], lambda _: positions)
        predicted = found.prediction
        probability = self._prior(predicted.probability)
        drawn, disputed = labels.array[present], self.predictor.network.where_disputed
        if self.options.labels == "expected":
            expected = [predicted.rater_label(number) for number in range(len(present))]
            drawn = np.stack(expected) if expected else drawn
        if disputed is not None and len(present) > 1:
            matrices = disputed[positions].cpu().numpy()
            probability = settled(probability, matrices, drawn)
        elif predicted.confusion is not None:
            probability = posterior(probability, predicted.confusion, drawn)
        label = probability.argmax(0).astype(np.int16)
        counts = expected_confusions(labels.array, probability)
        return FusedCase(label, probability, counts, 0, True, 0)

    def _require_known(self, labels: Labels, case: Case) -> None:
        highest, n_classes = (
            int(labels.array.max(initial=MISSING)),
            len(self.predictor.data.classes),
        )
        if highest >= n_classes:
            raise InputError(
                Fault(
                    f"labels of class {highest}",
                    expected=f"0 to {n_classes - 1}, the classes that the network learned",
                    fix="leave the class out, or train on a study that has it",
                    case=case.name,
                )
            )

    def _prior(self, probability: NDArray[Real]) -> NDArray[Real]:
        """Return what is believed before any label, (n_classes, *space)."""
        if self.options.prior == "network":
            return probability
        return np.full_like(probability, 1 / len(probability))

    def of_classes(
        self, cases: Sequence[Case], answers: NDArray[np.int64], found: Survey
    ) -> FusedClasses:
        """Fuse the class labels (n_raters, n_cases) of all cases at once."""
        known, matrices = self.predictor.data.raters, self.predictor.network.matrices
        assert matrices is not None, "networks of class labels have one matrix per rater"
        truth = truth_of(self.predictor, cases)
        place = {rater: position for position, rater in enumerate(known)}
        of_known = {
            place[rater]: answers[row]
            for row, rater in enumerate(found.dataset.raters)
            if rater in place
        }
        of_raters = matrices.double().numpy()
        if self.options.labels == "expected":
            of_known = {rater: (truth @ of_raters[rater]).argmax(1) for rater in of_known}
        probability = class_posterior(self._prior(truth.T).T, of_raters, of_known).T
        gold = gold_classes(cases)
        if gold is not None:
            known = gold != MISSING
            probability[:, known] = np.eye(len(probability))[:, gold[known]]
        counts = expected_confusions(answers, probability)
        return FusedClasses(probability.argmax(0).astype(np.int16), probability, counts)


def fuse_by_network(
    run: str | Path,
    dataset: Dataset,
    folder: str | Path,
    *,
    probability: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    trust_code: bool = False,
    options: Mapping[str, Any] | None = None,
) -> FusedDataset:
    """Fuse a data set with a trained network: `multirater fuse --method learned --run RUN`.

    Raters the network does not know are left out; cases without labels get none.

    Args:
        run: run folder of a method with confusion matrices.
        dataset: images and labels.
        folder: target.
        probability: also write class probabilities.
        resume: go on with a run that was interrupted.
        overwrite: replace an earlier fusion.
        trust_code: whether the run may bring a backbone of its own, which is code that is run.
        options: of `LearnedOptions`, as values or words.
    """
    chosen = checked_options(LearnedOptions, options or {}, "learned")
    fuser = NetworkFuser(run, trust_code=trust_code, options=chosen)
    if dataset.kind != fuser.predictor.data.kind:
        raise InputError(
            Fault(
                f"labels that are {dataset.kind}",
                expected=f"{fuser.predictor.data.kind}, as in training",
                file=str(run),
            )
        )
    if not fuser.predictor.network.knows_raters:
        raise InputError(
            Fault(
                f"a network of method {fuser.predictor.config.method} knows no raters",
                expected="a run of a method with confusion matrices, such as auto or cm",
                file=str(run),
            )
        )
    fuser.predictor.data.require_features(dataset.features)
    if dataset.kind == "classes":
        dataset = _in_classes_of(dataset, fuser.predictor.data.as_classes())
    else:
        _require_same_order(dataset, fuser.predictor.data.as_classes(), run)
    return fuse_dataset(
        dataset,
        folder,
        method="learned",
        probability=probability,
        options={
            "run": str(Path(run).resolve().name),
            "weights": fuser.predictor.weights_digest(),
            **(options or {}),
        },
        resume=resume,
        overwrite=overwrite,
        fuser=fuser,
        class_fuser=fuser.of_classes,
    )


def _require_same_order(dataset: Dataset, classes: Classes, run: str | Path) -> None:
    """Refuse masks whose indices are other classes than the network's."""
    if dataset.classes is None or dataset.classes.are_indexed_as(classes):
        return
    raise InputError(
        Fault(
            f"the classes {listed(list(dataset.classes.names))}",
            expected=f"{listed(list(classes.names))}, in the order that the network learned",
            fix="put the rows of classes.csv into this order, with what stands in the masks under "
            "`value`",
            file=str(run),
        )
    )


def _in_classes_of(dataset: Dataset, classes: Classes) -> Dataset:
    """Return class labels counted as the network counts them: classes go by their names."""
    assert dataset.classes is not None
    unknown = [name for name in dataset.classes.names if name not in classes.names]
    if unknown:
        raise InputError(
            Fault(
                f"class {unknown[0]!r}, which the network does not know",
                expected=f"one of {listed(list(classes.names))}",
            )
        )
    place = np.array([classes.names.index(name) for name in dataset.classes.names])
    cases = tuple(
        replace(
            case,
            labels={rater: _moved(label, place) for rater, label in case.labels.items()},
            truth=None if case.truth is None else _moved(case.truth, place),
            gold=None if case.gold is None else _moved(case.gold, place),
        )
        for case in dataset
    )
    return replace(dataset, cases=cases, classes=classes)


def _moved(source: Source[LabelMap], place: NDArray[np.int64]) -> Source[LabelMap]:
    """Return a class label whose index k becomes place[k]."""
    return Source(partial(_read_moved, source, place), source.paths)


def _read_moved(source: Source[LabelMap], place: NDArray[np.int64]) -> LabelMap:
    label = source.read()
    moved = np.where(label.array == MISSING, MISSING, place[np.maximum(label.array, 0)])
    return replace(label, array=moved.astype(np.int16))
