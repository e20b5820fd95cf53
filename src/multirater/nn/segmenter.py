"""Segmentation networks that learn from raters: what training and prediction need of them.

A segmenter gives the loss of a group of cases that the same raters labelled, and for new images
the probability of the truth and of what each rater would draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.errors import Fault, InputError
from multirater.nn.confusion import ConfusionHead
from multirater.nn.losses import Likelihood, columns_nll, mean_trace, plain_nll


@dataclass(frozen=True)
class RaterLoss:
    """Parts of the loss, each a scalar.

    Attributes:
        nll: of the raters' labels, in nats per label: what chooses the epoch, on held-out cases.
        trace: mean trace of the confusion matrices.
        truth: of a truth that is learned beside the raters, in nats per pixel.
    """

    nll: Tensor
    trace: Tensor
    truth: Tensor | float = 0.0


@dataclass(frozen=True)
class Labelled:
    """Labels of cases that the same raters labelled.

    Attributes:
        labels: (G, R, *space), -1 where missing.
        raters: (R,), positions in the data set's raters.
        truth: (G, *space), -1 where unknown; only for methods that are given it.
        class_weight: (L,), how much a label of each class counts; None for equal.
        with_confusion: False takes the labels for the truth, during warm-up.
        likelihood: marginal or joint.
    """

    labels: Tensor
    raters: Sequence[int]
    truth: Tensor
    class_weight: Tensor | None
    with_confusion: bool
    likelihood: Likelihood


@dataclass(frozen=True)
class Outputs:
    """What a segmenter says of images.

    Attributes:
        truth: probability (B, L, *space).
        drawn: probability of what each rater asked for would draw, (B, R, L, *space); None when
            the method knows nothing of raters.
        cm: confusion matrices (B, R, true, observed, *space); None when the method has none.
    """

    truth: Tensor
    drawn: Tensor | None = None
    cm: Tensor | None = None


class Segmenter(nn.Module):
    """What every method's network can do."""

    def features(self, image: Tensor) -> Tensor:
        """Return what the losses of all groups of a batch share, (B, ...)."""
        raise NotImplementedError

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the loss of a group, from the features of its cases."""
        raise NotImplementedError

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict for images (B, channels, *space)."""
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
        return bool(self.confusion_parameters())

    @property
    def followed(self) -> tuple[float, ...]:
        """How far each rater is followed, for methods that weigh raters; else empty."""
        return ()


def batch_loss(segmenter: Segmenter, image: Tensor, groups: Sequence[Labelled]) -> RaterLoss:
    """Return the mean loss over all labels of a batch, whoever gave them.

    Args:
        segmenter: the network.
        image: (B, channels, *space).
        groups: the labels of the first cases, then of the next, and so on: cases without labels
            come last. In this order the features are cut apart without a copy.
    """
    features = segmenter.features(image)
    sizes = [len(group.labels) for group in groups]
    parts = features.split([*sizes, len(features) - sum(sizes)])  # type: ignore[no-untyped-call]
    nll, trace, truth = features.new_zeros(()), features.new_zeros(()), features.new_zeros(())
    n_labels = sum(group.labels.shape[0] * group.labels.shape[1] for group in groups)
    for part, group, size in zip(parts, groups, sizes, strict=False):
        loss = segmenter.loss(part, group)
        share = size * group.labels.shape[1] / max(n_labels, 1)
        nll, trace = nll + loss.nll * share, trace + loss.trace * share
        truth = truth + loss.truth * (size / sum(sizes))
    if not groups:
        # A batch without labels still touches the network: every process takes the same steps.
        nll = features.sum() * 0.0
    return RaterLoss(nll, trace, truth)


class RaterSegmenter(Segmenter):
    """Backbone, truth head and rater head.

    Args:
        backbone: maps images (B, channels, *space) to features (B, n_features, *space).
        n_features: channels of the feature map.
        n_classes: classes, background included.
        ndim: 2 or 3.
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
        super().__init__()
        convolution = nn.Conv2d if ndim == 2 else nn.Conv3d
        self.backbone = backbone
        self.truth_head = convolution(n_features, n_classes, kernel_size=1)
        self.confusion = confusion

    def features(self, image: Tensor) -> Tensor:
        """Return the feature map (B, n_features, *space)."""
        return self.backbone(image)  # type: ignore[no-any-return]

    def log_truth(self, features: Tensor) -> Tensor:
        """Return the log probability of the truth, (B, L, *space)."""
        return functional.log_softmax(self.truth_head(features), dim=1)

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return likelihood of the labels and trace of the matrices."""
        log_truth = self.log_truth(features)
        labels, weight = labelled.labels, labelled.class_weight
        if self.confusion is None or not labelled.with_confusion:
            always_right = log_truth.new_tensor(float(log_truth.shape[1]))
            return RaterLoss(plain_nll(log_truth, labels, weight), always_right)
        columns = self.confusion.columns(features, labels, labelled.raters, labelled.truth)
        nll = columns_nll(log_truth, columns, labels, labelled.likelihood, weight)
        return RaterLoss(nll, mean_trace(columns.trace, labels))

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth and, through the confusion matrices, the raters."""
        features = self.features(image)
        truth = self.log_truth(features).exp()
        if not raters or self.confusion is None or not self.confusion.is_known:
            return Outputs(truth)
        cm = self.confusion(features, raters).exp()
        cm = cm.expand(len(image), *cm.shape[1:4], *image.shape[2:])
        return Outputs(truth, torch.einsum("bt...,brto...->bro...", truth, cm), cm)

    def confusion_parameters(self) -> list[nn.Parameter]:
        """Return the parameters of the rater head."""
        return [] if self.confusion is None else list(self.confusion.parameters())


class SeparateSegmenters(Segmenter):
    """One network per rater, trained on their labels alone; the truth is their mean.

    Args:
        networks: by position in the data set's raters, each without confusion matrices.
    """

    def __init__(self, networks: Sequence[RaterSegmenter]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def features(self, image: Tensor) -> Tensor:
        """Return the image: each network has features of its own."""
        return image

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the mean loss of the networks of the raters present."""
        parts = []
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
        assert isinstance(network, RaterSegmenter)
        return network.log_truth(network.features(image))
