"""From what a pixel is taken for to what it is said not to be: complementary transitions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.raters import Raters
from multirater.types import MISSING


def complementary_transition(n_classes: int) -> Tensor:
    """Return M (taken for, said not to be): zero diagonal, rows sum to one, uniform elsewhere.

    Example:
        >>> complementary_transition(3)
        tensor([[0.0000, 0.5000, 0.5000],
                [0.5000, 0.0000, 0.5000],
                [0.5000, 0.5000, 0.0000]])
    """
    return (1 - torch.eye(n_classes)) / (n_classes - 1)


class LearnedTransition(nn.Module):
    """One transition per rater, zero on the diagonal, which starts as the uniform one.

    Args:
        n_raters: raters in the data set.
        n_classes: classes, background included.
    """

    def __init__(self, n_raters: int, n_classes: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(n_raters, n_classes, n_classes))

    def forward(self, raters: Raters) -> Tensor:
        """Return the transitions of raters, (R, taken for, said not to be)."""
        logits = self.logits[[int(rater) for rater in raters]]
        itself = torch.eye(logits.shape[1], dtype=torch.bool, device=logits.device)
        return functional.softmax(logits.masked_fill(itself, -torch.inf), dim=2)

    def said_not(self, cm: Tensor, labels: Tensor, raters: Raters) -> Tensor:
        """Return the probability of saying "not k", (B, R, true, *space): column k of cm·M.

        Args:
            cm: (B, R, true, taken for, *space).
            labels: k, (B, R, *space), -1 where nothing was drawn: anything is returned there.
            raters: who drew, (R,).
        """
        told = torch.where(labels == MISSING, 0, labels)
        columns = self(raters).movedim(2, 1)  # (R, said not to be, taken for)
        each = torch.stack([columns[r][told[:, r]] for r in range(labels.shape[1])], dim=1)
        return (cm * each.movedim(-1, 2)[:, :, None]).sum(3)
