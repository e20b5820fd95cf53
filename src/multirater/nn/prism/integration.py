"""Three ways to bring rater confidences into segmentation features."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from multirater.nn.prism.tokens import AttentionBlock

Integration: TypeAlias = Literal["attention", "concatenation", "conv-lstm"]


class AttentionIntegration(nn.Module):
    """The confidences ask, the features answer (MrPrism, eq. 7).

    The answer is added to both. Added to the features alone, as the paper may be read, the
    confidences could only choose where to look; whom to follow hardly comes through.
    """

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        self.block = AttentionBlock(n_channels)

    def forward(self, features: Tensor, confidence: Tensor) -> Tensor:
        """Return features of the same shape (B, C, H, W)."""
        return self.block(confidence, features, onto=features + confidence)  # type: ignore[no-any-return]


class Concatenation(nn.Module):
    """Both side by side, mixed pixel by pixel."""

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        self.mix = nn.Conv2d(2 * n_channels, n_channels, 1)
        self.norm = nn.GroupNorm(1, n_channels)

    def forward(self, features: Tensor, confidence: Tensor) -> Tensor:
        """Return features of the same shape (B, C, H, W)."""
        mixed: Tensor = self.norm(self.mix(torch.cat([features, confidence], dim=1)))
        return features + mixed


class ConvLSTM(nn.Module):
    """One step of a convolutional LSTM: features are its state, confidences what it reads.

    As Ji 2021 brings raters' expertness into MRNet.
    """

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        self.gates = nn.Conv2d(2 * n_channels, 4 * n_channels, 3, padding=1)

    def forward(self, features: Tensor, confidence: Tensor) -> Tensor:
        """Return features of the same shape (B, C, H, W)."""
        gates: Tensor = self.gates(torch.cat([features, confidence], dim=1))
        entering, forgetting, leaving, new = gates.chunk(4, dim=1)
        # Biased towards keeping: an untrained cell hands the features through.
        state = torch.sigmoid(forgetting + 1) * features + torch.sigmoid(entering) * new.tanh()
        return torch.sigmoid(leaving + 1) * state


INTEGRATIONS: dict[Integration, type[nn.Module]] = {
    "attention": AttentionIntegration,
    "concatenation": Concatenation,
    "conv-lstm": ConvLSTM,
}
