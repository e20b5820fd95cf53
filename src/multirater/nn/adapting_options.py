"""Options of methods that adapt to images without labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from multirater.errors import Fault, InputError

Target: TypeAlias = Literal["unseen", "unlabelled"]


@dataclass(frozen=True)
class AdaptingOptions:
    """Options of methods that adapt to images without labels.

    Attributes:
        target: images that are adapted to: all that are not trained on (`unseen`), or only those of
            cases without labels (`unlabelled`), which leaves those of the split `test` alone.
        adversarial_weight: of what the network learns from discriminators; with 0 it adapts to
            nothing, and needs no images to adapt to.
    """

    target: Target = "unseen"
    adversarial_weight: float = 0.01

    def __post_init__(self) -> None:
        if self.adversarial_weight < 0:
            raise InputError(
                Fault(
                    f"option adversarial_weight = {self.adversarial_weight}", expected="0 or more"
                )
            )
