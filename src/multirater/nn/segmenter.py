"""A segmentation network with a head for the truth and one for the raters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.confusion import ConfusionHead
from multirater.nn.losses import Likelihood, columns_nll, mean_trace
from multirater.types import MISSING


@dataclass(frozen=True)
class RaterLoss:
    """Parts of the loss, each a scalar: nats per label, and the mean trace."""

    nll: Tensor
    trace: Tensor


class RaterSegmenter(nn.Module):
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

    def forward(self, image: Tensor) -> Tensor:
        """Return the log probability of the truth, (B, L, *space)."""
        return self.log_truth(self.backbone(image))

    def log_truth(self, features: Tensor) -> Tensor:
        """Return the log probability of the truth from features."""
        return functional.log_softmax(self.truth_head(features), dim=1)

    def raters_loss(
        self,
        features: Tensor,
        labels: Tensor,
        raters: Sequence[int],
        likelihood: Likelihood,
        *,
        with_confusion: bool = True,
    ) -> RaterLoss:
        """Return likelihood and trace of labels (B, R, *space) that these raters drew.

        Args:
            features: of the cases, (B, n_features, *space).
            labels: -1 where missing.
            raters: positions in the data set's raters.
            likelihood: marginal or joint.
            with_confusion: False takes the labels for the truth, during warm-up.
        """
        log_truth = self.log_truth(features)
        if self.confusion is None or not with_confusion:
            always_right = log_truth.new_tensor(float(log_truth.shape[1]))
            return RaterLoss(plain_nll(log_truth, labels), always_right)
        columns = self.confusion.columns(features, labels, raters)
        return RaterLoss(
            columns_nll(log_truth, columns, labels, likelihood), mean_trace(columns.trace, labels)
        )


def plain_nll(log_truth: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy with every rater's label, in nats per label."""
    picked = log_truth.gather(1, labels.clamp(min=0))
    drawn = labels != MISSING
    return -picked.masked_fill(~drawn, 0.0).sum() / drawn.sum().clamp(min=1)
