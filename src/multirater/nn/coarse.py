"""Learning from coarse drawings: what *is* class k, and what is *not* (Coarse, section 3).

Three branches share one truth p:

- masks: the label is taken for the truth;
- positive drawings: u = cm·p is what the rater takes the pixel for, and is what they draw;
- negative drawings: with confusion matrices of their own, u = cm·p and then v = Mᵀu, where the
  complementary transition M[taken for, said not to be] has a zero diagonal and rows that sum to
  one.

Each pixel that was drawn counts once, in whichever branch; undrawn pixels count in none.

Three choices keep the truth identifiable, where the paper relies on the trace alone; each can be
undone (`coarse_options.py`):

- Matrices are *dominant*: cm = (1 - b)·I + b·softmax(...), so that a rater is right with
  probability 1 - b at least. A drawing that speaks of one class only is explained perfectly by
  "this rater always says so", whatever the truth; with b below a half it cannot be.
- A drawing is *doubted* only where the network agrees with most of it, class by class, and the less
  the smaller it is. Else matrices may explain away what is hard to see or rarely drawn; the few
  pixels of a scribble are taken as they are.
- M is uniform off the diagonal, not learned: "not k" says that the truth is one of the others and
  no more. A learned M can explain "not 1" by "it is 2" everywhere, and would rather do so.

With two classes M swaps them: a negative drawing of one is a positive drawing of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from multirater.nn.coarse_options import LARGEST_ERROR, CoarseOptions
from multirater.nn.confusion import Columns
from multirater.nn.losses import label_weights
from multirater.nn.pixel_confusion import PixelConfusion
from multirater.nn.rater_network import ConfusionNetwork, Labelled, Outputs, RaterLoss
from multirater.nn.raters import Raters
from multirater.nn.transition import LearnedTransition
from multirater.types import MISSING

RaterKind: TypeAlias = Literal["mask", "positive", "negative"]

_BELIEVED, _DOUBTED = 0.5, 0.7
"""Share of a drawing that the network agrees with, up to which it is taken as it is, and from which
on its matrices hold."""

_SMALL = 0.025
"""Share of the image that a drawing covers whose matrices hold by half."""

_LEAST = 1e-6
_NEVER = -1e4


def said_not(log_columns: Tensor) -> Tensor:
    """Return the log probability of saying "not k", from that of taking the pixel for k.

    This is the product with `complementary_transition`, column k of cm·M.
    """
    n_classes = log_columns.shape[2]
    other = (-torch.expm1(log_columns)).clamp(min=_LEAST)
    return torch.log(other / (n_classes - 1))


class DominantConfusion(PixelConfusion):
    """One matrix per rater and pixel that is right with probability `1 - largest_error` at least.

    Args:
        n_raters: raters in the data set.
        n_classes: classes, background included.
        n_features: channels of the feature map.
        largest_error: b of cm = (1 - b)·I + b·softmax(...).
        diagonal: of the softmax to start with.
    """

    def __init__(
        self,
        n_raters: int,
        n_classes: int,
        n_features: int,
        largest_error: float = LARGEST_ERROR,
        diagonal: float = 0.95,
    ) -> None:
        super().__init__(n_raters, n_classes, n_features, diagonal)
        self.largest_error = largest_error

    def forward(self, features: Tensor, raters: Sequence[int] | None = None) -> Tensor:
        """Return log matrices (B, R, true, observed, *space)."""
        free = super().forward(features, raters).exp()
        identity = torch.eye(self.n_classes, dtype=free.dtype, device=free.device)
        identity = identity.reshape(*identity.shape, *([1] * (features.ndim - 2)))
        return torch.log((1 - self.largest_error) * identity + self.largest_error * free)

    def columns(
        self,
        features: Tensor,
        labels: Tensor,
        raters: Raters,
        truth: Tensor | None = None,
    ) -> Columns:
        """Return what the labels single out."""
        free = super().columns(features, labels, raters, truth)
        b = self.largest_error
        mixed = (1 - b) * _is_class(labels, self.n_classes) + b * free.log_likelihood.exp()
        drawn = (labels != MISSING)[:, :, None]
        likelihood = torch.where(drawn, mixed, torch.ones_like(mixed)).log()
        return Columns(likelihood, (1 - b) * self.n_classes + b * free.trace)


def doubt(agreed: Tensor, labels: Tensor, n_classes: int) -> Tensor:
    """Return how far matrices hold at each pixel, 0 (the drawing is taken as it is) to 1.

    Every class of every drawing is judged by itself, so that a step does not depend on which cases
    share a batch.

    Args:
        agreed: probability of what was drawn, were the rater always right, (B, R, *space).
        labels: (B, R, *space), -1 where nothing was drawn.
        n_classes: classes, background included.

    Example:
        >>> agreed, labels = torch.tensor([[[0.9, 0.6, 0.1]]]), torch.tensor([[[1, 1, 0]]])
        >>> doubt(agreed, labels, 2).round(decimals=1)
        tensor([[[1., 1., 0.]]])
    """
    is_class = _is_class(labels, n_classes)
    space = tuple(range(3, is_class.ndim))
    count = is_class.sum(space, keepdim=True)
    agreement = (agreed.detach()[:, :, None] * is_class).sum(space, keepdim=True)
    is_seen = (agreement / count.clamp(min=1) - _BELIEVED) / (_DOUBTED - _BELIEVED)
    is_large = count / (count + _SMALL * labels[0, 0].numel())
    held = is_seen.clamp(0.0, 1.0) * is_large
    return (held * is_class).sum(2)


def identity_columns(labels: Tensor, n_classes: int) -> Tensor:
    """Return log columns (B, R, L, *space) of raters who are always right."""
    return torch.where(_is_class(labels, n_classes), 0.0, _NEVER)


def _is_class(labels: Tensor, n_classes: int) -> Tensor:
    classes = torch.arange(n_classes, device=labels.device)
    return labels[:, :, None] == classes.reshape(-1, *([1] * (labels.ndim - 2)))


def _log_likelihood(log_truth: Tensor, columns: Tensor, is_negative: Tensor) -> Tensor:
    """Return the log probability of every label (B, R, *space); of missing ones anything."""
    columns = torch.where(is_negative[:, :, None], said_not(columns), columns)
    return torch.logsumexp(log_truth[:, None] + columns, dim=2)


class CoarseNetwork(ConfusionNetwork):
    """Backbone, truth head, and confusion matrices of drawings.

    The loss is the mean over all pixels of the label maps in a batch, drawn or not, so that every
    drawn pixel of a batch weighs the same, however many of them a case has.

    Args:
        backbone: maps images (B, channels, *space) to features (B, n_features, *space).
        n_features: channels of the feature map.
        n_classes: classes, background included.
        ndim: 2 or 3.
        kinds: of what each rater of the data set gives, by position.
        with_confusion: False takes drawings as they are, which is partial cross-entropy.
        options: what can be chosen.
    """

    def __init__(
        self,
        backbone: nn.Module,
        *,
        n_features: int,
        n_classes: int,
        ndim: int,
        kinds: Sequence[RaterKind],
        with_confusion: bool = True,
        options: CoarseOptions | None = None,
    ) -> None:
        super().__init__(
            backbone, n_features=n_features, n_classes=n_classes, ndim=ndim, confusion=None
        )
        self.kinds = tuple(kinds)
        self.options = options or CoarseOptions()
        # Made last, so that with and without matrices the same seed gives the same other weights.
        if with_confusion:
            self.confusion = DominantConfusion(
                len(kinds), n_classes, n_features, self.options.largest_error
            )
        self.transition: LearnedTransition | None = None
        if self.options.transition == "learned":
            self.transition = LearnedTransition(len(kinds), n_classes)

    def confusion_parameters(self) -> list[nn.Parameter]:
        """Return the parameters that describe raters, which learn at a rate of their own."""
        of_transition = [] if self.transition is None else list(self.transition.parameters())
        return super().confusion_parameters() + of_transition

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return likelihood of the labels and drawings, and trace of the drawings' matrices."""
        log_truth = self.log_truth(features).float()
        labelled = replace(labelled, labels=self._looked_at(labelled, log_truth.shape[1]))
        labels, raters = labelled.labels, labelled.raters
        columns = identity_columns(labels, log_truth.shape[1])
        is_negative = self._are(raters, ("negative",), labels)
        each = _log_likelihood(log_truth, columns, is_negative)
        trace = torch.zeros_like(each)
        is_coarse = self._are(raters, ("positive", "negative"), labels)
        held = torch.zeros_like(each)
        if self.confusion is not None and labelled.with_confusion and is_coarse.any():
            held = is_coarse.to(each.dtype).expand_as(each)
            if self.options.doubt:
                agreed = each.exp() * torch.where(is_negative, log_truth.shape[1] - 1, 1)
                held = doubt(agreed, labels, log_truth.shape[1]) * is_coarse
            learned = self.confusion.columns(features, labels, raters, labelled.truth)
            mixed = columns.exp().lerp(learned.log_likelihood.exp(), held[:, :, None])
            each = _log_likelihood(log_truth, mixed.clamp(min=_LEAST).log(), is_negative)
            trace = learned.trace * held * (labels != MISSING)
        if self.transition is not None:
            by_transition = self._by_transition(features, log_truth, labelled, held)
            each = torch.where(is_negative, by_transition, each)
        weight = self._weights(labelled, is_negative)
        return RaterLoss(-(each * weight).mean(), trace.mean())

    def _looked_at(self, labelled: Labelled, n_classes: int) -> Tensor:
        """Return the labels that count, with a class where undrawn pixels have one."""
        labels, raters = labelled.labels, labelled.raters
        if self.options.undrawn == "background":
            # Of two classes, what is not said to be "not 1" is not 0.
            filled: tuple[RaterKind, ...] = ("positive",)
            if n_classes == 2:
                filled = ("positive", "negative")
            is_filled = self._are(raters, filled, labels) & (labels == MISSING)
            labels = torch.where(is_filled, 0, labels)
        left: dict[str, tuple[RaterKind, ...]] = {
            "both": (),
            "positive": ("negative",),
            "negative": ("positive",),
        }
        kinds = left[self.options.drawings]
        return torch.where(self._are(raters, kinds, labels), MISSING, labels) if kinds else labels

    def _by_transition(
        self, features: Tensor, log_truth: Tensor, labelled: Labelled, held: Tensor
    ) -> Tensor:
        """Return the log probability of negative drawings by learned transitions (eq. 5).

        Args:
            features: of the cases.
            log_truth: (B, L, *space).
            labelled: the drawings.
            held: how far matrices hold, (B, R, *space).
        """
        assert self.transition is not None
        n_classes, raters = log_truth.shape[1], labelled.raters
        identity = torch.eye(n_classes, device=log_truth.device)
        cm = identity.reshape(1, 1, n_classes, n_classes, *([1] * (log_truth.ndim - 2)))
        if self.confusion is not None and labelled.with_confusion:
            free = self.confusion(features, [int(rater) for rater in raters]).exp()
            cm = cm.expand_as(free).lerp(free, held[:, :, None, None])
        said = self.transition.said_not(cm, labelled.labels, raters)
        return torch.logsumexp(log_truth[:, None] + said.clamp(min=_LEAST).log(), dim=2)

    def _are(self, raters: Raters, kinds: Sequence[RaterKind], labels: Tensor) -> Tensor:
        """Return which raters give one of these kinds, (1, R, 1, ...)."""
        found = torch.tensor([self.kinds[int(r)] in kinds for r in raters], device=labels.device)
        return found.reshape(1, -1, *([1] * (labels.ndim - 2)))

    def _weights(self, labelled: Labelled, is_negative: Tensor) -> Tensor:
        """Return how much each label counts; "not k" as the other class, if there is but one."""
        labels, balance = labelled.labels, labelled.class_weight
        weight = label_weights(labels, balance, torch.float32)
        others = None if balance is None or len(balance) > 2 else balance.flip(0)
        return torch.where(is_negative, label_weights(labels, others, torch.float32), weight)

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth, and what raters take each pixel for when they draw."""
        found = super().outputs(image, raters)
        if found.cm is None:
            return found
        identity = torch.eye(found.truth.shape[1], device=image.device)
        identity = identity.reshape(*identity.shape, *([1] * (image.ndim - 2)))
        is_mask = self._are(raters, ("mask",), found.truth[:, :1])[:, :, None, None]
        cm = torch.where(is_mask, identity, found.cm)
        return Outputs(found.truth, torch.einsum("bt...,brto...->bro...", found.truth, cm), cm)

    @property
    def knows_raters(self) -> bool:
        """Whether masks have confusion matrices: they have none, only drawings do."""
        return False
