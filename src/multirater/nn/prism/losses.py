"""What ConP and DivP learn from: each other's last word, and the raters' labels."""

from __future__ import annotations

import torch
from torch import Tensor

from multirater.nn.prism.fusion import fuse, thresholded
from multirater.nn.raters import Raters

WINDOW = 11
"""Side of the window that structures are compared in, unless the image is smaller."""

N_SHUFFLES = 3


def dissimilarity(found: Tensor, wanted: Tensor) -> Tensor:
    """Return one minus the structural similarity (SSIM) of probability maps (B, L, H, W).

    0 when they are the same. The paper's public code adds the similarity itself to what it
    minimises.
    """
    from monai.losses.ssim_loss import SSIMLoss

    space = found.shape[2:]
    window = [min(WINDOW, size - (size + 1) % 2) for size in space]
    with torch.autocast(found.device.type, enabled=False):
        loss = SSIMLoss(len(space), win_size=window)
        return loss(found.float(), wanted.float())  # type: ignore[no-any-return]


def shuffle_loss(
    confidence: Tensor,
    drawn: Tensor,
    votes: Tensor,
    raters: Raters,
    generator: torch.Generator,
    *,
    confidences_learn: bool = False,
) -> Tensor:
    """Return by how much fusing predicted labels departs from fusing the real ones (eq. 10).

    Whatever the confidences, the two should give the same. They are tried with those of other
    raters, so that a rater's label and the confidence in it cannot be traded for each other. By
    default confidences are taken as they are, and what is learned is what raters draw: where they
    learn, too, having no confidence in anybody makes the two the same at once.

    Args:
        confidence: log-likelihoods of all raters (B, R, true, drawn, H, W).
        drawn: probability of what the present raters draw, (B, P, L, H, W).
        votes: what they drew, (B, P, L, H, W), zero where missing.
        raters: (P,), positions of those present.
        generator: draws the other raters.
        confidences_learn: whether gradients reach the confidences that are exchanged.
    """
    exchanged = confidence if confidences_learn else confidence.detach()
    labelled = votes.sum(2, keepdim=True)
    predicted = thresholded(drawn) * labelled
    n_pixels = labelled.any(1).sum().clamp(min=1)
    losses = []
    for _ in range(N_SHUFFLES):
        others = torch.randperm(confidence.shape[1], generator=generator)[list(raters)]
        shuffled = exchanged[:, others]
        wanted = fuse(shuffled, votes).exp()
        per_pixel = -(wanted * fuse(shuffled, predicted)).sum(1)
        losses.append((per_pixel * labelled.any(1)[:, 0]).sum() / n_pixels)
    return torch.stack(losses).mean()
