"""Features of any unit brought to one scale inside the network that sees them."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Standardise(nn.Module):
    """Subtract each feature's mean and divide by its deviation, both learned in training.

    Mean and variance are those of all cases seen so far, not of the batch, so that a batch of one
    serves as well; they are part of the weights. A feature that never varies becomes 0.

    Args:
        n_features: length of the vectors.

    Example:
        >>> layer = Standardise(1)
        >>> layer(torch.tensor([[10.0], [30.0]])).tolist()
        [[-1.0], [1.0]]
        >>> layer.eval()(torch.tensor([[40.0]])).tolist()
        [[2.0]]
    """

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.n_seen: Tensor
        self.mean: Tensor
        self.variance: Tensor
        self.register_buffer("n_seen", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(n_features))
        self.register_buffer("variance", torch.zeros(n_features))

    def forward(self, features: Tensor) -> Tensor:
        """Return features (B, n_features) on one scale; in training, learn from them first."""
        if self.training:
            self._learn(features.detach())
        # Below the precision of the numbers a deviation is nothing but rounding.
        varies = self.variance > (1e-6 * self.mean) ** 2
        deviation = torch.where(varies, self.variance, torch.ones_like(self.variance)).sqrt()
        return (features - self.mean) / deviation

    def _learn(self, batch: Tensor) -> None:
        """Join the batch to the cases seen before (Chan's rule, which loses no digits)."""
        n_new = len(batch)
        total = self.n_seen + n_new
        new_mean, new_variance = batch.mean(0), batch.var(0, correction=0)
        shift, share = new_mean - self.mean, n_new / total
        self.variance += share * (new_variance - self.variance + (1 - share) * shift**2)
        self.mean += share * shift
        self.n_seen.copy_(total)
