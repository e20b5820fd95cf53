"""The record of a plan. No torch: it can be read and changed anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from multirater.training.budget import USUAL_MEMORY
from multirater.training.fingerprint import Fingerprint
from multirater.training.normalisation import OWN, Normalisation

PlanView = Literal["2d", "slices", "3d", "whole"]


@dataclass(frozen=True)
class Plan:
    """How a study is trained on. Frozen; change a field with `dataclasses.replace`.

    Attributes:
        view: `2d` images, `slices` of volumes, `3d` patches, or `whole` images of class labels.
        spacing: millimetres per array axis that images and labels are brought to as they are
            read; empty when every image keeps its own grid. In `slices` the first axis keeps its.
        space: size that images of class labels are brought to; empty when they have one already.
        normalisation: of intensities.
        patch: size of what is cut from an image; empty for whole images.
        channels: per stage of the U-Net.
        strides: per stage and axis: how much coarser than the stage before.
        kernels: per stage and axis.
        n_features: channels that the heads see.
        batch_size: patches per step.
        epochs: after each the held-out cases are looked at.
        steps_per_epoch: steps of one; 0 for one pass over the cases.
        rare_share: share of the patches that hold a rare class or disputed pixels.
        overlap_weight: of one less the soft Dice beside cross-entropy, for methods that take fused
            labels for the truth.
        augment: whether patches are changed at random.
        mirror: whether mirroring is among the changes.
        memory: budget in bytes, of all that the run holds at a time.
        reasons: of the decisions, in words.
        fingerprint: of the study.
    """

    view: PlanView
    normalisation: Normalisation = OWN
    spacing: tuple[float, ...] = ()
    space: tuple[int, ...] = ()
    patch: tuple[int, ...] = ()
    channels: tuple[int, ...] = ()
    strides: tuple[tuple[int, ...], ...] = ()
    kernels: tuple[tuple[int, ...], ...] = ()
    n_features: int = 32
    batch_size: int = 16
    epochs: int = 20
    steps_per_epoch: int = 0
    rare_share: float = 0.0
    overlap_weight: float = 0.0
    augment: bool = False
    mirror: bool = True
    memory: int = USUAL_MEMORY
    reasons: dict[str, str] = field(default_factory=dict)
    fingerprint: Fingerprint | None = None

    def as_text(self) -> str:
        """Say the decisions and their reasons, a line each."""
        return "\n".join(f"  {name}: {why}" for name, why in self.reasons.items())
