"""Networks that learn from raters: what training and prediction need of them.

A network gives the loss of a group of cases, and for new images the probability of the truth and of
what each rater would say. Labels have a space: the pixels of an image, or none at all, `space ==
()`, when a label is one class for the whole image. All code here serves both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.errors import Fault, InputError
from multirater.nn.confusion import ConfusionHead, GlobalConfusion
from multirater.nn.losses import Likelihood, columns_nll, mean_trace, overlap_loss, plain_nll
from multirater.nn.raters import Raters, for_raters, pointwise
from multirater.types import MISSING


@dataclass(frozen=True)
class RaterLoss:
    """Parts of the loss, each a scalar.

    Attributes:
        nll: of the raters' labels, in nats per label: what chooses the epoch, on held-out cases.
        trace: mean trace of the confusion matrices.
        truth: of a truth that is learned beside the raters, in nats per pixel.
        overlap: one less the soft Dice of objects, where it is asked for.
    """

    nll: Tensor
    trace: Tensor
    truth: Tensor | float = 0.0
    overlap: Tensor | float = 0.0


@dataclass(frozen=True)
class Labelled:
    """Labels of a group of cases.

    Attributes:
        labels: (G, R, *space), -1 where missing.
        raters: who gave them, positions in the data set's raters: (R,), the same for all cases, or,
            of class labels, (G, R).
        truth: (G, *space), -1 where unknown; only for methods that are given it.
        class_weight: (L,), how much a label of each class counts; None for equal.
        with_confusion: False takes the labels for the truth, during warm-up.
        likelihood: marginal or joint.
        with_overlap: whether networks that take labels for the truth learn by overlap, too.
        hint: (G, L), log odds of the classes by a witness beside the raters of class labels, for
            networks with confusion matrices; None without one.
    """

    labels: Tensor
    raters: Raters
    truth: Tensor
    class_weight: Tensor | None
    with_confusion: bool
    likelihood: Likelihood
    with_overlap: bool = False
    hint: Tensor | None = None


@dataclass(frozen=True)
class Outputs:
    """What a network says of images.

    Attributes:
        truth: probability (B, L, *space).
        drawn: probability of what each rater asked for would draw, (B, R, L, *space); None when
            the method knows nothing of raters.
        cm: confusion matrices (B, R, true, observed, *space); None when the method has none.
    """

    truth: Tensor
    drawn: Tensor | None = None
    cm: Tensor | None = None


class RaterNetwork(nn.Module):
    """What every method's network can do."""

    def features(self, image: Tensor) -> Tensor:
        """Return what the losses of all groups of a batch share, (B, ...)."""
        raise NotImplementedError

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the loss of a group, from the features of its cases."""
        raise NotImplementedError

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict for images (B, channels, *image space)."""
        raise NotImplementedError

    def steps(self, image: Tensor, raters: Sequence[int] = ()) -> list[Outputs]:
        """Predict step by step, for methods that come to their answer by recurrence."""
        return [self.outputs(image, raters)]

    def calibrated(self, image: Tensor, confidence: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict by given confidences in the raters, (n_raters,), from 0 to 1."""
        raise InputError(
            Fault(
                "this network takes no confidences in raters",
                expected="a run of the method prism or mrnet",
            )
        )

    def confusion_parameters(self) -> list[nn.Parameter]:
        """Return the parameters that describe raters, which learn at a rate of their own."""
        return []

    @property
    def knows_raters(self) -> bool:
        """Whether the network has confusion matrices of raters."""
        return bool(self.confusion_parameters()) or self.matrices is not None

    @property
    def matrices(self) -> Tensor | None:
        """One matrix per rater, (n_raters, true, observed), where they do not depend on the image.

        None for networks whose matrices do, or that have none.
        """
        return None

    @property
    def where_disputed(self) -> Tensor | None:
        """Matrices (n_raters, true, observed) of the pixels on which raters disagree.

        For networks of cases that several raters labelled: what all agree on stands there, and
        these matrices settle the rest. None for all others.
        """
        return None

    @property
    def followed(self) -> tuple[float, ...]:
        """How far each rater is followed, for methods that weigh raters; else empty."""
        return ()


def batch_parts(features: Tensor, groups: Sequence[Labelled]) -> Iterator[tuple[Tensor, Labelled]]:
    """Yield each group of a batch with the features of its cases, which are cut without a copy.

    Args:
        features: of all cases, (B, ...).
        groups: the labels of the first cases, then of the next, and so on: cases without labels
            come last.
    """
    sizes = [len(group.labels) for group in groups]
    parts = features.split([*sizes, len(features) - sum(sizes)])  # type: ignore[no-untyped-call]
    yield from zip(parts, groups, strict=False)


def batch_loss(network: RaterNetwork, image: Tensor, groups: Sequence[Labelled]) -> RaterLoss:
    """Return the mean loss over all labels of a batch, whoever gave them.

    Args:
        network: the network.
        image: (B, channels, *image space).
        groups: the labels, in the order of `batch_parts`.
    """
    features = network.features(image)
    nll, trace, truth, overlap = (features.new_zeros(()) for _ in range(4))
    n_labels = sum(group.labels.shape[0] * group.labels.shape[1] for group in groups)
    n_cases = sum(len(group.labels) for group in groups)
    for part, group in batch_parts(features, groups):
        loss = network.loss(part, group)
        share = len(part) * group.labels.shape[1] / max(n_labels, 1)
        nll, trace = nll + loss.nll * share, trace + loss.trace * share
        truth = truth + loss.truth * (len(part) / n_cases)
        overlap = overlap + loss.overlap * (len(part) / n_cases)
    if not groups:
        # A batch without labels still touches the network: every process takes the same steps.
        nll = torch.stack([each.sum() for each in network.parameters()]).sum() * 0.0
    return RaterLoss(nll, trace, truth, overlap)


class BackboneNetwork(RaterNetwork):
    """A backbone, whose features all losses of a batch share.

    Args:
        backbone: maps images (B, channels, *image space) to features (B, n_features, *space).
    """

    def __init__(self, backbone: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone

    def features(self, image: Tensor) -> Tensor:
        """Return the features (B, n_features, *space)."""
        return self.backbone(image)  # type: ignore[no-any-return]


class TruthNetwork(BackboneNetwork):
    """Backbone and truth head.

    Args:
        backbone: maps images (B, channels, *image space) to features (B, n_features, *space).
        n_features: channels of the features.
        n_classes: classes, background included.
        ndim: axes of the labels' space: 0 for class labels, 2 or 3 for drawings.
    """

    def __init__(self, backbone: nn.Module, *, n_features: int, n_classes: int, ndim: int) -> None:
        super().__init__(backbone)
        self.truth_head = pointwise(n_features, n_classes, ndim)

    def log_truth(self, features: Tensor) -> Tensor:
        """Return the log probability of the truth, (B, L, *space)."""
        return functional.log_softmax(self.truth_head(features), dim=1)

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth; nothing is known of raters."""
        return Outputs(self.log_truth(self.features(image)).exp())


def through(matrices: Tensor, truth: Tensor, raters: Sequence[int]) -> Outputs:
    """Predict raters from the truth, by one confusion matrix each.

    Args:
        matrices: (n_raters, true, observed).
        truth: probability (B, L, *space).
        raters: those asked for.
    """
    if not raters:
        return Outputs(truth)
    cm = for_raters(matrices, raters, truth.ndim - 2)
    cm = cm.expand(len(truth), *cm.shape[1:4], *truth.shape[2:])
    return Outputs(truth, torch.einsum("bt...,brto...->bro...", truth, cm), cm)


class RaterSizes(TypedDict):
    """How large a network is that has something for each rater.

    Attributes:
        n_features: channels of the features.
        n_raters: raters of the data set.
        n_classes: classes, background included.
        ndim: axes of the labels' space: 0 for class labels, 2 or 3 for drawings.
    """

    n_features: int
    n_raters: int
    n_classes: int
    ndim: int


class MatrixNetwork(TruthNetwork):
    """Backbone, truth head, and one confusion matrix per rater, `matrices`, however it is found.

    Args:
        backbone: maps images (B, channels, *image space) to features (B, n_features, *space).
        sizes: by name, see `RaterSizes`.
    """

    def __init__(
        self, backbone: nn.Module, *, n_features: int, n_raters: int, n_classes: int, ndim: int
    ) -> None:
        super().__init__(backbone, n_features=n_features, n_classes=n_classes, ndim=ndim)
        self.n_raters, self.n_classes = n_raters, n_classes

    @property
    def matrices(self) -> Tensor:
        """One matrix per rater, (n_raters, true, observed)."""
        raise NotImplementedError

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth by the image, and raters through their matrices."""
        return through(self.matrices, self.log_truth(self.features(image)).exp(), raters)


class ConfusionNetwork(TruthNetwork):
    """Backbone, truth head and rater head.

    Args:
        backbone: maps images (B, channels, *image space) to features (B, n_features, *space).
        n_features: channels of the features.
        n_classes: classes, background included.
        ndim: axes of the labels' space: 0 for class labels, 2 or 3 for drawings.
        confusion: the raters; None when labels are taken for the truth.
    """

    def __init__(
        self,
        backbone: nn.Module,
        *,
        n_features: int,
        n_classes: int,
        ndim: int,
        confusion: ConfusionHead | None,
    ) -> None:
        super().__init__(backbone, n_features=n_features, n_classes=n_classes, ndim=ndim)
        self.confusion = confusion

    trace_per_image = False
    """Whether the trace counts once per image, not once per label (Tanno's listing)."""

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return likelihood of the labels and trace of the matrices."""
        log_truth = self.log_truth(features)
        labels, weight = labelled.labels, labelled.class_weight
        if self.confusion is None or not labelled.with_confusion:
            always_right = log_truth.new_tensor(float(log_truth.shape[1]))
            by_overlap = labelled.with_overlap and self.confusion is None
            overlap = overlap_loss(log_truth, labels) if by_overlap else 0.0
            return RaterLoss(plain_nll(log_truth, labels, weight), always_right, overlap=overlap)
        columns = self.confusion.columns(features, labels, labelled.raters, labelled.truth)
        if labelled.hint is not None:
            log_truth = log_truth + labelled.hint
        nll = columns_nll(log_truth, columns, labels, labelled.likelihood, weight)
        trace = mean_trace(columns.trace, labels)
        if self.trace_per_image:
            trace = trace / (labels != MISSING).sum(1).float().mean().clamp(min=1)
        return RaterLoss(nll, trace)

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth and, through the confusion matrices, the raters."""
        features = self.features(image)
        truth = self.log_truth(features).exp()
        if not raters or self.confusion is None or not self.confusion.is_known:
            return Outputs(truth)
        cm = self.confusion(features, raters).exp()
        cm = cm.expand(len(image), *cm.shape[1:4], *truth.shape[2:])
        return Outputs(truth, torch.einsum("bt...,brto...->bro...", truth, cm), cm)

    def confusion_parameters(self) -> list[nn.Parameter]:
        """Return the parameters of the rater head."""
        return [] if self.confusion is None else list(self.confusion.parameters())

    @property
    def matrices(self) -> Tensor | None:
        """Those of a global head."""
        if not isinstance(self.confusion, GlobalConfusion):
            return None
        return self.confusion.log_matrices(self.confusion.logits.detach()).exp()


class SeparateNetworks(RaterNetwork):
    """One network per rater, trained on their labels alone; the truth is their mean.

    Args:
        networks: by position in the data set's raters, each without confusion matrices.
    """

    def __init__(self, networks: Sequence[ConfusionNetwork]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def features(self, image: Tensor) -> Tensor:
        """Return the image: each network has features of its own."""
        return image

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the mean loss of the networks of the raters present."""
        parts = []
        assert not isinstance(labelled.raters, Tensor)
        for position, rater in enumerate(labelled.raters):
            log_truth = self._log_truth(rater, features)
            labels = labelled.labels[:, position : position + 1]
            parts.append(plain_nll(log_truth, labels, labelled.class_weight))
        nll = torch.stack(parts).mean()
        return RaterLoss(nll, nll.new_zeros(()))

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict each rater by their network."""
        each = [self._log_truth(rater, image).exp() for rater in range(len(self.networks))]
        truth = torch.stack(each).mean(0)
        return Outputs(truth, torch.stack([each[rater] for rater in raters], 1) if raters else None)

    def _log_truth(self, rater: int, image: Tensor) -> Tensor:
        network = self.networks[rater]
        assert isinstance(network, ConfusionNetwork)
        return network.log_truth(network.features(image))
