"""The methods: the one place that maps a name to its parts."""

from __future__ import annotations

from dataclasses import dataclass

from multirater.errors import Fault, InputError
from multirater.nn.confusion import (
    ConfusionHead,
    GlobalConfusion,
    LowRankConfusion,
    PixelConfusion,
)
from multirater.train.config import TrainConfig
from multirater.train.targets import Prepare, as_they_are, fused, on_truth


@dataclass(frozen=True)
class Method:
    """What a method trains on, and whether it models the raters.

    Attributes:
        prepare: turns the data set into the one that is trained on.
        models_raters: whether there are confusion matrices.
        per_rater: whether every rater gets a network.
    """

    prepare: Prepare
    models_raters: bool = False
    per_rater: bool = False


METHODS: dict[str, Method] = {
    "cm": Method(as_they_are, models_raters=True),
    # Cross-entropy with the mean of the labels is the mean of the cross-entropies.
    "mean": Method(as_they_are),
    "mode": Method(fused("majority-vote")),
    "staple": Method(fused("staple")),
    "spatial-staple": Method(fused("spatial-staple")),
    "truth": Method(on_truth),
}


def training_method(name: str) -> Method:
    """Return a method by name."""
    if name not in METHODS:
        raise InputError(
            Fault(f"no training method {name!r}", expected=f"one of {', '.join(METHODS)}")
        )
    return METHODS[name]


def build_confusion(
    config: TrainConfig, method: Method, n_raters: int, n_classes: int
) -> ConfusionHead | None:
    """Build the confusion head that the settings ask for."""
    if not method.models_raters:
        return None
    if config.confusion == "global":
        return GlobalConfusion(n_raters, n_classes)
    if config.confusion == "low-rank":
        return LowRankConfusion(n_raters, n_classes, config.n_features, config.rank)
    return PixelConfusion(n_raters, n_classes, config.n_features)
