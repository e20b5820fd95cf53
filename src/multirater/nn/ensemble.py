"""Several networks that answer together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from multirater.nn.rater_network import Outputs, RaterNetwork


class Ensemble(RaterNetwork):
    """The mean of what several trained networks of one method say; it is not trained itself.

    Args:
        networks: of the same method, raters and classes.
    """

    def __init__(self, networks: Sequence[RaterNetwork]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def _each(self, ask: Callable[[RaterNetwork], Outputs]) -> Outputs:
        return _mean([ask(network) for network in self.networks])  # type: ignore[arg-type]

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict for images (B, channels, *image space)."""
        return self._each(lambda network: network.outputs(image, raters))

    def steps(self, image: Tensor, raters: Sequence[int] = ()) -> list[Outputs]:
        """Predict step by step."""
        found = [network.steps(image, raters) for network in self.networks]  # type: ignore[operator]
        return [_mean(step) for step in zip(*found, strict=True)]

    def calibrated(self, image: Tensor, confidence: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict by given confidences in the raters."""
        return self._each(lambda network: network.calibrated(image, confidence, raters))

    @property
    def knows_raters(self) -> bool:
        """Whether the networks do."""
        return bool(self.networks[0].knows_raters)

    @property
    def matrices(self) -> Tensor | None:
        """The mean matrix of each rater, where networks have one that the image does not change."""
        found = [network.matrices for network in self.networks]
        return None if found[0] is None else torch.stack(found).mean(0)  # type: ignore[arg-type]

    @property
    def where_disputed(self) -> Tensor | None:
        """The mean matrix of each rater at disputed pixels, where all networks have one."""
        found = [network.where_disputed for network in self.networks]
        known = [each for each in found if isinstance(each, Tensor)]
        return torch.stack(known).mean(0) if len(known) == len(found) else None

    @property
    def followed(self) -> tuple[float, ...]:
        """How far each rater is followed, on average."""
        weights = [network.followed for network in self.networks]
        return tuple(sum(each) / len(each) for each in zip(*weights, strict=True))


def _mean(found: Sequence[Outputs]) -> Outputs:
    def of(name: str) -> Tensor | None:
        parts = [getattr(each, name) for each in found]
        return None if parts[0] is None else torch.stack(parts).mean(0)

    truth = of("truth")
    assert truth is not None
    return Outputs(truth, of("drawn"), of("cm"))
