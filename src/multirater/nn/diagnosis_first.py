"""Diagnosis first (Wu 2022): raters weigh as much as a diagnosis profits from their labels.

For every case a map of expertness per rater is made; labels are fused by them; and a diagnosis
network sees the image through the fused label alone. Both learn to make the diagnosis right, so
that weight goes to whoever draws what matters for it. Where the paper has a generator that keeps
high frequencies out of the maps, here they live on a coarse grid.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.posterior import one_hot
from multirater.nn.raters import convolution, pointwise
from multirater.types import MISSING

GRID = 4
"""Places per axis at which a rater's expertness may differ."""

_WIDTH = 16


class ExpertnessNetwork(nn.Module):
    """Says how far each rater is to be followed, here and there in an image.

    One network looks at every rater's label beside the image and the mean of all labels; what it
    cannot see, that one rater is always better than another, is a number per rater.

    Args:
        n_channels: of the images.
        n_raters: of the data set.
        n_classes: classes, background included.
        ndim: 2 or 3.
    """

    def __init__(self, n_channels: int, n_raters: int, n_classes: int, ndim: int) -> None:
        super().__init__()
        self.n_classes, self.ndim = n_classes, ndim
        self.always = nn.Parameter(torch.zeros(n_raters))
        self.look = nn.Sequential(
            *_halving(n_channels + 2 * (n_classes - 1), _WIDTH, ndim),
            *_halving(_WIDTH, _WIDTH, ndim),
            nn.AdaptiveAvgPool2d(GRID) if ndim == 2 else nn.AdaptiveAvgPool3d(GRID),
            pointwise(_WIDTH, 1, ndim),
        )

    def forward(self, image: Tensor, labels: Tensor) -> Tensor:
        """Return expertness on the grid, (B, R, *grid), of images (B, C, *space) and labels.

        Args:
            image: (B, C, *space).
            labels: of all raters, (B, R, *space), -1 where missing.
        """
        drawn = one_hot(labels, self.n_classes)[:, :, 1:]
        present = (labels != MISSING).float().sum(1)[:, None, None].clamp(min=1)
        mean = (drawn.sum(1, keepdim=True) / present).expand_as(drawn)
        pictures = image[:, None].expand(-1, labels.shape[1], *image.shape[1:])
        seen = torch.cat([pictures, drawn, mean], dim=2).flatten(0, 1)
        found: Tensor = self.look(seen).reshape(*labels.shape[:2], *([GRID] * self.ndim))
        return found + self.always.reshape(1, -1, *([1] * self.ndim))


class DiagnosisNetwork(nn.Module):
    """Tells the diagnosis from an image seen through a label.

    Args:
        n_channels: of the images.
        n_classes: classes, background included.
        n_diagnoses: that are told apart.
        ndim: 2 or 3.
    """

    def __init__(self, n_channels: int, n_classes: int, n_diagnoses: int, ndim: int) -> None:
        super().__init__()
        n_objects = n_classes - 1
        self.look = nn.Sequential(
            *_halving(n_objects * (1 + n_channels), _WIDTH, ndim),
            *_halving(_WIDTH, 2 * _WIDTH, ndim),
            *_halving(2 * _WIDTH, 2 * _WIDTH, ndim),
        )
        self.decide = nn.Sequential(
            nn.Linear(2 * _WIDTH, _WIDTH), nn.LeakyReLU(0.01), nn.Linear(_WIDTH, n_diagnoses)
        )

    def forward(self, image: Tensor, fused: Tensor) -> Tensor:
        """Return logits (B, n_diagnoses) of images (B, C, *space) and labels (B, L, *space)."""
        objects = fused[:, 1:]
        within = (objects[:, :, None] * image[:, None]).flatten(1, 2)
        maps = self.look(torch.cat([objects, within], dim=1))
        return self.decide(maps.flatten(2).mean(2))  # type: ignore[no-any-return]


def fused_labels(expertness: Tensor, labels: Tensor, n_classes: int) -> Tensor:
    """Return the raters' labels, each weighed by its share of the expertness, (B, L, *space).

    Where a rater said nothing the others share the weight; where nobody did, all classes are 0.

    Args:
        expertness: logits on the grid, (B, R, *grid).
        labels: (B, R, *space), -1 where missing.
        n_classes: L.

    Example:
        >>> labels = torch.tensor([0, 1, -1]).reshape(1, 3, 1, 1)
        >>> logits = torch.tensor([3.0, 1.0, 9.0]).log().reshape(1, 3, 1, 1)
        >>> [round(share, 3) for share in fused_labels(logits, labels, 2).flatten().tolist()]
        [0.75, 0.25]
    """
    mode = "bilinear" if labels.ndim == 4 else "trilinear"
    fine = functional.interpolate(expertness, size=labels.shape[2:], mode=mode, align_corners=False)
    weight = torch.softmax(fine.masked_fill(labels == MISSING, -1e9), dim=1)
    return (one_hot(labels, n_classes) * weight[:, :, None]).sum(1)


def _halving(n_inputs: int, n_outputs: int, ndim: int) -> list[nn.Module]:
    return [convolution(ndim)(n_inputs, n_outputs, 3, stride=2, padding=1), nn.LeakyReLU(0.01)]
