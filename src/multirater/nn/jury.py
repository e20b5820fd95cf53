"""A network that learns every rater, and a truth that the trustworthy among them agree on.

Each rater is a head on shared features that predicts what this rater would draw. Where a rater has
not labelled an image, the head speaks for them: with one label per image there is still a full jury
for each. Weights say how far each rater is followed; `multirater.training.jury` finds them. The
truth head learns the verdict, the class with the most weight; where a case has several labels,
these alone settle it, by ballots.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.losses import drawn_nll, overlap_loss, plain_nll
from multirater.nn.rater_network import Labelled, Outputs, RaterLoss, TruthNetwork
from multirater.nn.raters import pointwise
from multirater.types import MISSING

LARGEST_JURY = 12
"""Raters whose heads are asked about an image they have not labelled: those with most weight."""

FEWEST_LABELS = 2
"""Labels of a case from which on they alone can settle it."""

_HEADS_AT_A_TIME = 3
"""Raters who are learned by a step where the truth leads: many would take most of the time."""

_LEAST_WEIGHT = 1e-3

_TRUTH_COUNTS, _LEADING_COUNTS = 2.0, 8.0
"""How much the truth's loss counts beside that of the raters: by a verdict that rests on their
heads, or while features are learned from all raters, and where the truth leads."""


class JuryNetwork(TruthNetwork):
    """Backbone, one head per rater, and a truth head that learns their weighted verdict.

    The heads are linear in the features: a common one, plus each rater's deviation from it.

    Args:
        backbone: maps images (B, channels, *space) to features (B, n_features, *space).
        n_features: channels of the feature map.
        n_raters: raters of the data set.
        n_classes: classes, background included.
        ndim: 2 or 3.
    """

    weight: Tensor
    predictable: Tensor
    standing: Tensor
    confusion: Tensor
    locality: Tensor
    disputed: Tensor
    ballots: Tensor
    prior: Tensor
    n_weighed: Tensor
    has_ballots: Tensor

    def __init__(
        self, backbone: nn.Module, *, n_features: int, n_raters: int, n_classes: int, ndim: int
    ) -> None:
        super().__init__(backbone, n_features=n_features, n_classes=n_classes, ndim=ndim)
        self.common_head = pointwise(n_features, n_classes, ndim)
        self.deviation = nn.Parameter(torch.zeros(n_raters, n_classes, n_features))
        self.offset = nn.Parameter(torch.zeros(n_raters, n_classes))
        self.register_buffer("weight", torch.full((n_raters,), 1 / n_raters))
        self.register_buffer("predictable", torch.ones(n_raters))
        self.register_buffer("standing", torch.ones(n_raters))
        self.register_buffer("confusion", torch.eye(n_classes).repeat(n_raters, 1, 1))
        self.register_buffer("locality", torch.ones(n_raters))
        self.register_buffer("disputed", torch.eye(n_classes).repeat(n_raters, 1, 1))
        self.register_buffer("ballots", torch.eye(n_classes).repeat(n_raters, 1, 1))
        self.register_buffer("prior", torch.zeros(n_classes))
        self.register_buffer("n_weighed", torch.tensor(0))
        self.register_buffer("has_ballots", torch.tensor(False))

    @property
    def is_weighed(self) -> bool:
        """Whether raters have been weighed."""
        return int(self.n_weighed) > 0

    @property
    def knows_raters(self) -> bool:
        """Always: a head for each."""
        return True

    @property
    def where_disputed(self) -> Tensor | None:
        """Matrices at disputed pixels, where labels alone settle cases."""
        return self.disputed if bool(self.has_ballots) else None

    @property
    def followed(self) -> tuple[float, ...]:
        """The weights of the jury; with ballots, how far a rater's label speaks for its class."""
        if not bool(self.has_ballots):
            return tuple(self.weight.tolist())
        own = self.ballots.diagonal(dim1=1, dim2=2)
        others = (self.ballots.sum(1) - own) / max(own.shape[1] - 1, 1)
        speaks = (own - others).mean(1).clamp(min=0)
        return tuple((speaks / speaks.sum().clamp(min=1e-12)).tolist())

    def log_drawn(self, features: Tensor, raters: Sequence[int]) -> Tensor:
        """Return log probabilities of what raters would draw, (B, R, L, *space)."""
        chosen = list(raters)
        own = torch.einsum("rlf,bf...->brl...", self.deviation[chosen], features)
        flat = (1, len(chosen), -1, *(1 for _ in features.shape[2:]))
        common = self.common_head(features)[:, None]
        return functional.log_softmax(common + own + self.offset[chosen].reshape(flat), dim=2)

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Likelihood of the labels under the raters' heads, and the truth head's own loss.

        Until raters are weighed, the truth head learns from all labels alike, without a say in the
        features.
        """
        assert not isinstance(labelled.raters, Tensor)
        labels, class_weight = labelled.labels, labelled.class_weight
        leads = self._truth_leads(labelled.raters, labelled.with_overlap)
        heads = self._heads(labelled.raters, leads)
        log_drawn = self.log_drawn(features, [labelled.raters[place] for place in heads])
        nll = drawn_nll(log_drawn, labels[:, heads], class_weight)
        overlap = nll.new_zeros(())
        if labelled.with_confusion and self.is_weighed:
            verdict = self.verdict(features.detach(), labels, labelled.raters)[:, None]
            log_truth = self.log_truth(features)
            truth = plain_nll(log_truth, verdict, class_weight)
            overlap = overlap_loss(log_truth, verdict) if labelled.with_overlap else overlap
        else:
            truth = plain_nll(self.log_truth(features.detach()), labels, class_weight)
        counts = _LEADING_COUNTS if leads else _TRUTH_COUNTS
        return RaterLoss(nll, nll.new_zeros(()), counts * truth, counts * overlap)

    def _truth_leads(self, raters: Sequence[int], with_overlap: bool) -> bool:
        """Whether heads matter little: labels settle the case, and enough is learned from raters.

        That is the case from the second weighing on, and at once where the truth learns by overlap:
        heads learn by likelihood alone, to which a thin object hardly matters.
        """
        return self._is_settled(raters) and (with_overlap or int(self.n_weighed) > 1)

    def _heads(self, raters: Sequence[int], truth_leads: bool) -> list[int]:
        """Return which of the raters present learn by a step: some, where the truth leads."""
        if not self.training or not truth_leads:
            return list(range(len(raters)))
        return torch.randperm(len(raters))[:_HEADS_AT_A_TIME].tolist()

    @torch.no_grad()
    def verdict(self, features: Tensor, labels: Tensor, raters: Sequence[int]) -> Tensor:
        """Return the truth as labels and raters have it, (B, *space), -1 where nobody knows.

        Args:
            features: (B, n_features, *space).
            labels: (B, R, *space), -1 where missing.
            raters: positions of those who gave them.
        """
        if self._is_settled(raters):
            return self._by_ballots(labels, raters)
        return self._by_jury(features, labels, raters)

    def _is_settled(self, raters: Sequence[int]) -> bool:
        """Whether labels alone settle the case."""
        return bool(self.has_ballots) and len(raters) >= FEWEST_LABELS

    def _by_ballots(self, labels: Tensor, raters: Sequence[int]) -> Tensor:
        """Settle cases by their labels alone; what all agree on stands."""
        flat = (1, -1, *(1 for _ in labels.shape[2:]))
        score = self.prior.reshape(flat).repeat(len(labels), 1, *labels.shape[2:])
        for position, rater in enumerate(raters):
            drawn = labels[:, position]
            counted = self.ballots[rater].T[drawn.clamp(min=0)].movedim(-1, 1)
            score = score + counted * (drawn != MISSING)[:, None]
        highest = labels.amax(1)
        lowest = labels.masked_fill(labels == MISSING, len(self.prior)).amin(1)
        settled = score.argmax(1)
        settled = torch.where(lowest == highest, highest, settled)
        return torch.where(highest == MISSING, highest, settled)

    def _by_jury(self, features: Tensor, labels: Tensor, raters: Sequence[int]) -> Tensor:
        """Take the class with the most weight.

        A rater who labelled the case speaks by the label, as far as this rater's labels follow
        from the image at all (compared with the best rater's), else by the head. Heads of raters
        who did not have a say as far as they are known to foresee the rater. They are one network:
        all together weigh as much as a label of the best rater; another's counts as far as it
        stands (`multirater.training.standing`).
        """
        jury = self._jury(raters)
        spoken = self.log_drawn(features, jury).exp()
        reliable = self.predictable / self.predictable.max()
        say = self.weight[jury].repeat(len(labels), 1)
        say = (say * self.predictable[jury]).reshape(*say.shape, *(1 for _ in labels.shape[2:]))
        say = say.expand(*say.shape[:2], *labels.shape[2:]).clone()
        for position, rater in enumerate(raters):
            drawn, place = labels[:, position], jury.index(rater)
            given = drawn != MISSING
            trust = (reliable[rater] * given)[:, None]
            observed = functional.one_hot(drawn.clamp(min=0), spoken.shape[2]).movedim(-1, 1)
            spoken[:, place] = trust * observed + (1 - trust) * spoken[:, place]
            say[:, place] = torch.where(given, self.standing[rater], say[:, place])
        return (say[:, :, None] * spoken).sum(1).argmax(1)

    def take_weights(
        self,
        weight: Tensor,
        predictable: Tensor,
        standing: Tensor,
        confusion: Tensor,
        locality: Tensor,
        disputed: Tensor,
        ballots: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        """Follow raters by new weights; the first time the truth head starts from their heads.

        Args:
            weight: (R,), sums to one.
            predictable: (R,), 0 to 1, how far a rater's head may speak for the rater.
            standing: (R,), 0 to 1, how far a rater's own label stands against all heads.
            confusion: (R, true, observed), over all pixels.
            locality: (R,), 0 to 1, how far a rater's matrix at a pixel is the head's.
            disputed: (R, true, observed), over the pixels on which raters disagree.
            ballots: what a label counts for each class, (R, class, label), and the classes
                without any label, (class,), where labels alone settle a case.
        """
        if not self.is_weighed:
            with torch.no_grad():
                mixed = torch.einsum("r,rlf->lf", weight, self.deviation)
                head = self.common_head
                self.truth_head.weight.copy_(head.weight + mixed.reshape(head.weight.shape))
                assert head.bias is not None
                assert self.truth_head.bias is not None
                self.truth_head.bias.copy_(head.bias + weight @ self.offset)
        self.weight.copy_(weight)
        self.predictable.copy_(predictable)
        self.standing.copy_(standing)
        self.confusion.copy_(confusion)
        self.locality.copy_(locality)
        self.disputed.copy_(disputed)
        if ballots is not None:
            self.ballots.copy_(ballots[0])
            self.prior.copy_(ballots[1])
        self.has_ballots.fill_(ballots is not None)
        self.n_weighed += 1

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict truth, raters, and confusion matrices.

        A rater's matrix at a pixel: the row of the class that is there is what the head says, as
        far as the rater's errors depend on the place; the rows of other classes, of which the image
        tells nothing, are the rater's overall ones.
        """
        features = self.features(image)
        truth = self.log_truth(features).exp()
        if not raters:
            return Outputs(truth)
        drawn = self.log_drawn(features, raters).exp()
        overall = self.confusion[list(raters)][None].reshape(
            1, len(raters), *self.confusion.shape[1:], *(1 for _ in image.shape[2:])
        )
        local = self.locality[list(raters)].reshape(1, -1, 1, 1, *(1 for _ in image.shape[2:]))
        by_head = local * truth[:, None, :, None]
        return Outputs(truth, drawn, by_head * drawn[:, :, None] + (1 - by_head) * overall)

    def _jury(self, present: Sequence[int]) -> list[int]:
        """Return the raters with most weight, and those who labelled the case."""
        best = self.weight.topk(min(LARGEST_JURY, len(self.weight)))
        heavy = best.indices[best.values >= _LEAST_WEIGHT].tolist()
        return sorted({*heavy, *present})
