"""ConP, the converging prism: a segmentation that follows given rater confidences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.prism.embedding import ConfidenceEmbedding
from multirater.nn.prism.integration import INTEGRATIONS, Integration
from multirater.nn.prism.widths import Widths


class Join(nn.Module):
    """The encoder's features beside the raised ones, one convolution, a residual.

    Args:
        n_channels: of either.
    """

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(2 * n_channels, n_channels, 3, padding=1, bias=False)
        self.norm = nn.InstanceNorm2d(n_channels, affine=True)

    def forward(self, raised: Tensor, skipped: Tensor) -> Tensor:
        """Join the raised features and the encoder's, both (B, C, H, W)."""
        joined = self.norm(self.convolution(torch.cat([raised, skipped], dim=1)))
        return functional.leaky_relu(joined + raised, 0.01)


class ConP(nn.Module):
    """A decoder into whose stages, all but the finest, confidences are brought.

    Args:
        widths: of the encoder, and of the embedding of confidences.
        n_raters: R.
        n_classes: L.
        integration: how confidences meet features.
    """

    def __init__(
        self, widths: Widths, *, n_raters: int, n_classes: int, integration: Integration
    ) -> None:
        super().__init__()
        coarsest_first = list(widths.channels[::-1])
        self.embedding = ConfidenceEmbedding(
            n_raters * n_classes**2, [widths.embedding(each) for each in widths.channels[1:]]
        )
        self.integrate = nn.ModuleList(
            INTEGRATIONS[integration](width) for width in coarsest_first[:-1]
        )
        self.deconvolutions = nn.ModuleList(
            nn.ConvTranspose2d(entering, leaving, 2, stride=2)
            for entering, leaving in pairwise(coarsest_first)
        )
        self.joins = nn.ModuleList(Join(width) for width in coarsest_first[1:])
        self.head = nn.Conv2d(widths.channels[0], n_classes, 1)

    def forward(self, pyramid: Sequence[Tensor], confidence: Tensor) -> Tensor:
        """Segment; return log probabilities (B, L, H, W).

        Args:
            pyramid: of the encoder, finest first.
            confidence: log-likelihood ratios (B or 1, R * true * drawn, H, W).
        """
        n_cases = len(pyramid[0])
        embedded = [each.expand(n_cases, -1, -1, -1) for each in self.embedding(confidence)]
        features = self.integrate[0](pyramid[-1], embedded[0])
        stages = zip(self.deconvolutions, self.joins, pyramid[-2::-1], strict=True)
        for number, (deconvolution, join, skipped) in enumerate(stages, start=1):
            raised = deconvolution(features)
            if number < len(embedded):
                raised = self.integrate[number](raised, embedded[number])
            features = join(raised, skipped)
        return functional.log_softmax(self.head(features), dim=1)
