"""MrPrism as a network that learns from raters (Algorithm 1).

Each recurrence: ConP segments by the confidences, DivP tells new confidences from the
segmentation. ConP learns to agree with the label that the confidences it was given make of the
raters' labels; DivP, to give confidences whose fused label agrees with ConP, and to say what
raters draw. Neither sends gradients into the other, nor into an earlier recurrence.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from multirater.errors import Fault, InputError
from multirater.nn.losses import drawn_nll
from multirater.nn.posterior import one_hot
from multirater.nn.prism.conp import ConP
from multirater.nn.prism.divp import DivP
from multirater.nn.prism.encoder import Encoder
from multirater.nn.prism.fusion import drawn_by, fuse, thresholded
from multirater.nn.prism.losses import dissimilarity, shuffle_loss
from multirater.nn.prism.options import PrismOptions
from multirater.nn.prism.start import EQUAL, likelihood, random_start
from multirater.nn.prism.widths import planned, table_5
from multirater.nn.rater_network import Labelled, Outputs, RaterLoss, RaterNetwork


class PrismNetwork(RaterNetwork):
    """Encoder, ConP and DivP.

    Args:
        n_channels: of the image.
        n_raters: of the data set.
        n_classes: classes, background included.
        ndim: 2; volumes go through slice by slice.
        channels: of the encoder, per stage; not looked at with `widths=table-5`.
        options: what can be chosen.
    """

    next_draw: Tensor

    def __init__(
        self,
        *,
        n_channels: int,
        n_raters: int,
        n_classes: int,
        ndim: int,
        channels: Sequence[int],
        options: PrismOptions | None = None,
    ) -> None:
        if ndim != 2:
            raise InputError(
                Fault(
                    f"prism on {ndim}-dimensional images",
                    expected="2 dimensions",
                    fix="train on slices: --view slices",
                )
            )
        super().__init__()
        self.n_raters, self.n_classes = n_raters, n_classes
        self.options = options or PrismOptions()
        is_printed = self.options.widths == "table-5"
        widths = table_5(n_classes) if is_printed else planned(channels)
        self.multiple = 2 ** (len(widths.channels) - 1)
        self.encoder = Encoder(n_channels, widths.channels)
        self.conp = ConP(
            widths,
            n_raters=n_raters,
            n_classes=n_classes,
            integration=self.options.integration,
        )
        self.divp = DivP(n_raters, n_classes, widths)
        # What is drawn follows from this number, kept with the weights: processes that share a
        # batch draw the same, and a resumed run draws what an unbroken one would have drawn.
        self.register_buffer("next_draw", torch.randint(2**31, ()))

    @property
    def knows_raters(self) -> bool:
        """Always: DivP has a head for each."""
        return True

    def features(self, image: Tensor) -> Tensor:
        """Return the image: the features are a pyramid, which ConP and this class share."""
        return image

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Recurrence and calibration losses; the likelihood is only measured.

        The likelihood is that of the raters' labels under the last DivP: what chooses the epoch.
        """
        votes = one_hot(labelled.labels, self.n_classes)
        generator = self._generator()
        start = self._start(features, generator)
        wanted = fuse(self._of(start, labelled), votes).exp()
        pyramid, confidence, losses = self._pyramid(features), start, []
        for _ in range(self.options.recurrences + 1):
            log_truth = self._segment(pyramid, confidence, features)
            confidence = self.divp(log_truth.detach().exp())
            log_drawn = drawn_by(log_truth.detach(), self._of(confidence, labelled))
            agreed = self._agreed(confidence, log_drawn, votes, labelled)
            losses += [
                self._distance_to_label(log_truth, wanted.detach(), votes),
                _disagreement(agreed, log_truth.detach().exp(), votes),
                self.options.calibration_weight
                * self._calibration_loss(confidence, log_drawn, votes, labelled, generator),
            ]
            confidence, wanted = confidence.detach(), agreed
        nll = drawn_nll(log_drawn.detach(), labelled.labels, labelled.class_weight)
        return RaterLoss(nll, nll.new_zeros(()), torch.stack(losses).sum())

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict by confidences that have calibrated themselves."""
        confidence, pyramid = self._equal_start(image), self._pyramid(image)
        log_truth = self._segment(pyramid, confidence, image)
        for _ in range(self.options.recurrences):
            log_truth = self._segment(pyramid, self.divp(log_truth.exp()), image)
        return self._outputs(log_truth, raters)

    def steps(self, image: Tensor, raters: Sequence[int] = ()) -> list[Outputs]:
        """Return what is predicted after each recurrence, from the equal start on."""
        confidence, pyramid = self._equal_start(image), self._pyramid(image)
        found = []
        for _ in range(self.options.recurrences + 1):
            log_truth = self._segment(pyramid, confidence, image)
            confidence = self.divp(log_truth.exp())
            found.append(self._outputs(log_truth, raters))
        return found

    def calibrated(self, image: Tensor, confidence: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict by given confidences (R,), 0 to 1, or maps of them (B, R, *space)."""
        if confidence.ndim == 1:
            confidence = confidence[None, :, None, None].expand(1, -1, *image.shape[2:])
        log_likelihood = likelihood(confidence, self.n_classes)
        log_truth = self._segment(self._pyramid(image), log_likelihood, image)
        return self._outputs(log_truth, raters)

    def _generator(self) -> torch.Generator:
        generator = torch.Generator().manual_seed(int(self.next_draw))
        if self.training:
            self.next_draw += 1
        return generator

    def _start(self, image: Tensor, generator: torch.Generator) -> Tensor:
        """Return log-likelihoods to start from: random in training, equal for all otherwise."""
        if not self.training:
            return self._equal_start(image)
        drawn = random_start(self.n_raters, image.shape[2:], generator)
        return likelihood(drawn.to(image.device), self.n_classes)

    def _equal_start(self, image: Tensor) -> Tensor:
        equal = image.new_full((1, self.n_raters, *image.shape[2:]), EQUAL)
        return likelihood(equal, self.n_classes)

    def _of(self, confidence: Tensor, labelled: Labelled) -> Tensor:
        """Return the confidences in the raters who are present."""
        return confidence[:, list(labelled.raters)]

    def _pyramid(self, image: Tensor) -> list[Tensor]:
        return self.encoder(functional.pad(image, self._missing(image)))  # type: ignore[no-any-return]

    def _segment(self, pyramid: list[Tensor], confidence: Tensor, image: Tensor) -> Tensor:
        """Run ConP; return log probabilities (B, L, *space of the image)."""
        # What counts is how much more likely a label is under one truth than under others.
        evidence = (confidence - confidence.mean(2, keepdim=True)).flatten(1, 3)
        maps = functional.pad(evidence, self._missing(image), mode="replicate")
        found: Tensor = self.conp(pyramid, maps)
        return found[..., : image.shape[2], : image.shape[3]].float()

    def _missing(self, image: Tensor) -> list[int]:
        """Return what is to be added after each axis, the last first, for `functional.pad`."""
        # Instance norm needs more than one pixel at the coarsest stage.
        wanted = [max(-(-size // self.multiple), 2) * self.multiple for size in image.shape[2:]]
        down, across = (want - have for want, have in zip(wanted, image.shape[2:], strict=True))
        return [0, across, 0, down]

    def _distance_to_label(self, log_truth: Tensor, wanted: Tensor, votes: Tensor) -> Tensor:
        """Return how far ConP's segmentation is from the label it should agree with."""
        structure = _disagreement(log_truth.exp(), wanted, votes)
        is_labelled = _is_labelled(votes)
        divergence = functional.kl_div(log_truth, wanted, reduction="none") * is_labelled
        pixels = divergence.sum() / is_labelled.sum().clamp(min=1)
        return structure + self.options.pixel_weight * pixels

    def _outputs(self, log_truth: Tensor, raters: Sequence[int]) -> Outputs:
        truth = log_truth.exp()
        if not raters:
            return Outputs(truth)
        confidence = self.divp(truth)[:, list(raters)]
        return Outputs(truth, drawn_by(log_truth, confidence).exp(), confidence.exp())

    def _agreed(
        self, confidence: Tensor, log_drawn: Tensor, votes: Tensor, labelled: Labelled
    ) -> Tensor:
        """Return the fused label: of what raters drew, or of what DivP says they draw."""
        of_present = self._of(confidence, labelled)
        if self.options.supervision == "self-fused":
            votes = thresholded(log_drawn.exp()).detach()
        return fuse(of_present, votes).exp()

    def _calibration_loss(
        self,
        confidence: Tensor,
        log_drawn: Tensor,
        votes: Tensor,
        labelled: Labelled,
        generator: torch.Generator,
    ) -> Tensor:
        total = log_drawn.new_zeros(())
        if self.options.calibration != "multi-head":
            total = total + shuffle_loss(
                confidence,
                log_drawn.exp(),
                votes,
                labelled.raters,
                generator,
                confidences_learn=self.options.shuffled == "learning",
            )
        if self.options.calibration != "shuffle":
            total = total + drawn_nll(log_drawn, labelled.labels, labelled.class_weight)
        return total


def _disagreement(found: Tensor, wanted: Tensor, votes: Tensor) -> Tensor:
    """Compare where somebody labelled; elsewhere nothing is wanted of what was found."""
    return dissimilarity(found, torch.where(_is_labelled(votes), wanted, found.detach()))


def _is_labelled(votes: Tensor) -> Tensor:
    """Return where anybody labelled, (B, 1, H, W)."""
    return votes.sum((1, 2), keepdim=True)[:, 0] > 0
