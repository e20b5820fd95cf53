"""What can be chosen of MrPrism: its ablations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from multirater.errors import Fault, InputError
from multirater.nn.prism.integration import Integration

MOST_RECURRENCES = 4


@dataclass(frozen=True)
class PrismOptions:
    """Options of the method `prism`.

    Attributes:
        integration: how ConP takes confidences in.
        calibration: what DivP learns of the raters' labels by.
        calibration_weight: of that loss; the paper's is 0.3.
        pixel_weight: of the cross-entropy that ConP is held to its label by, beside the structural
            similarity. The paper has none (0); but where a label is empty and the segmentation
            still far from it, similarity is flat, and the background stays undecided for long.
        recurrences: how often confidences are fed back; ConP runs once more than that.
        supervision: the label that ConP and DivP agree on: fused of the raters' labels
            (Algorithm 1), or of those that DivP says they would draw (eq. 8).
        shuffled: whether the confidences that the shuffle loss exchanges are taken as they are, or
            learn from it, too. The paper does not say.
        epoch: which is kept: that of the best held-out likelihood, or the last. By default the
            last where no loss trains that likelihood (`calibration=shuffle`): the best epoch would
            be one that the loss had hardly begun to shape.
        widths: of the networks: those of the plan (or `--channels`), or of the paper's Table 5.
    """

    integration: Integration = "attention"
    calibration: Literal["shuffle", "multi-head", "both"] = "multi-head"
    calibration_weight: float = 1.0
    pixel_weight: float = 1.0
    recurrences: int = 3
    supervision: Literal["fused", "self-fused"] = "fused"
    shuffled: Literal["fixed", "learning"] = "fixed"
    epoch: Literal["by-loss", "likelihood", "last"] = "by-loss"
    widths: Literal["plan", "table-5"] = "plan"

    def __post_init__(self) -> None:
        if not 0 <= self.recurrences <= MOST_RECURRENCES:
            raise InputError(
                Fault(f"option recurrences = {self.recurrences}", expected="a number from 0 to 4")
            )
        for name in ("calibration_weight", "pixel_weight"):
            if getattr(self, name) < 0:
                raise InputError(
                    Fault(f"option {name} = {getattr(self, name)}", expected="0 or more")
                )

    @property
    def keeps_last(self) -> bool:
        """Whether the last epoch is kept, whatever its likelihood.

        Example:
            >>> PrismOptions().keeps_last, PrismOptions(calibration="shuffle").keeps_last
            (False, True)
        """
        if self.epoch == "by-loss":
            return self.calibration == "shuffle"
        return self.epoch == "last"
