"""Learning from raters whose labels are stacked in one map: each value is a pattern of all labels.

Frameworks that know one label map per image, such as nnU-Net, crop, turn and resample stacks as any
label. `multirater export --to nnunet` writes them; here they become labels of raters again, and the
truth is learned behind them. Shapes: B cases, R raters, L classes, space of any dimension.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.confusion import Columns, columns_of_table
from multirater.nn.losses import overlap_loss, plain_nll
from multirater.nn.posterior import expected_counts, log_posterior, soft_nll, votes
from multirater.types import MISSING

_LEAST = 1e-6
"""No entry of a matrix is smaller: one label must not rule a class out for ever."""


class StackedLabels(nn.Module):
    """Turns stacks into the labels of raters, and into their vote.

    Args:
        patterns: (n_patterns, R), the label of each rater, -1 where missing.
        n_classes: background included.

    Example:
        >>> stacked = StackedLabels([[0, 0], [1, -1], [1, 0]], n_classes=2)
        >>> stacked.labels(torch.tensor([[[0, 1]]])).tolist()
        [[[0, 1], [0, -1]]]
        >>> stacked.vote(torch.tensor([[[0, 1, 2]]])).tolist()
        [[[0, 1, 0]]]
    """

    patterns: Tensor
    voted: Tensor

    def __init__(self, patterns: Sequence[Sequence[int]], n_classes: int) -> None:
        super().__init__()
        known = torch.tensor(patterns, dtype=torch.long)
        self.n_classes = n_classes
        self.register_buffer("patterns", known)
        self.register_buffer("voted", votes(known[:, :, None], n_classes)[..., 0].argmax(1))

    @property
    def n_raters(self) -> int:
        """Raters in a stack."""
        return int(self.patterns.shape[1])

    def labels(self, stacks: Tensor) -> Tensor:
        """Return class indices (B, R, *space), -1 where missing, of stacks (B, 1, *space)."""
        return self.patterns[stacks[:, 0].long()].movedim(-1, 1)

    def vote(self, stacks: Tensor) -> Tensor:
        """Return the class that most raters gave, (B, 1, *space); the lowest of a tie."""
        return self.voted[stacks.long()]


class StackedRaterLoss(nn.Module):
    """Cross-entropy and Dice with the truth behind stacked labels, by EM.

    First every label counts as the truth. After `take_counts` each rater has a confusion matrix,
    and the network learns the posterior of the truth: what it says itself, times what the matrices
    say of all labels. A rater's matrix is counted against the network and the *other* raters, so
    that nobody is judged by their own say, and one label per image is enough.

    Args:
        patterns: see `StackedLabels`.
        n_classes: background included.
    """

    cm: Tensor
    counts: Tensor
    is_counted: Tensor

    def __init__(self, patterns: Sequence[Sequence[int]], n_classes: int) -> None:
        super().__init__()
        self.stacked = StackedLabels(patterns, n_classes)
        shape = (self.stacked.n_raters, n_classes, n_classes)
        self.register_buffer("cm", torch.eye(n_classes).expand(shape).clone())
        self.register_buffer("counts", torch.zeros(shape))
        self.register_buffer("is_counted", torch.tensor(False))
        self.is_counting = False

    def forward(self, logits: Tensor, stacks: Tensor) -> Tensor:
        """Return the loss of logits (B, L, *space), given stacks (B, 1, *space).

        Where `is_counting` is set, labels are counted, once: of several outputs the first.
        """
        if self.is_counting:
            self.is_counting = False
            self.count(logits, stacks)
        labels = self.stacked.labels(stacks)
        log_truth = functional.log_softmax(logits.float(), dim=1)
        if not bool(self.is_counted):
            return plain_nll(log_truth, labels) + overlap_loss(log_truth, labels)
        with torch.no_grad():
            posterior = log_posterior(log_truth, self._columns(labels)).exp()
            verdict = posterior.argmax(1, keepdim=True)
            verdict[(labels == MISSING).all(1, keepdim=True)] = MISSING
        return soft_nll(log_truth, posterior, labels, None) + overlap_loss(log_truth, verdict)

    @torch.no_grad()
    def count(self, logits: Tensor, stacks: Tensor) -> None:
        """Add to what raters said of each true class, as the network and the others know it."""
        labels = self.stacked.labels(stacks)
        log_truth = functional.log_softmax(logits.float(), dim=1)
        columns = self._columns(labels) if bool(self.is_counted) else self._trusting(labels)
        everybody = columns.log_likelihood.sum(1)
        for rater in range(self.stacked.n_raters):
            others = everybody - columns.log_likelihood[:, rater]
            posterior = functional.softmax(log_truth + others, dim=1)
            own = labels[:, rater : rater + 1]
            self.counts += expected_counts(posterior, own, [rater], self.stacked.n_raters)

    @torch.no_grad()
    def take_counts(self) -> None:
        """Make matrices of what was counted, and begin anew."""
        # A class that was never true keeps the row of the identity.
        filled = self.counts + _LEAST * torch.eye(self.cm.shape[-1], device=self.cm.device)
        self.cm.copy_(filled / filled.sum(-1, keepdim=True))
        self.counts.zero_()
        self.is_counted.fill_(True)

    def _columns(self, labels: Tensor) -> Columns:
        everybody = range(self.stacked.n_raters)
        return columns_of_table(self.cm.clamp(min=_LEAST).log(), labels, everybody)

    def _trusting(self, labels: Tensor) -> Columns:
        """Return what is said before any was counted: raters are right nine times of ten."""
        n_classes = self.stacked.n_classes
        right = 0.9 * torch.eye(n_classes, device=labels.device) + 0.1 / n_classes
        everybody = range(self.stacked.n_raters)
        return columns_of_table(right.log().expand_as(self.cm), labels, everybody)
