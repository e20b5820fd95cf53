"""Torch modules and losses to learn from raters who disagree, usable in any network."""

from multirater.nn.confusion import (
    ConfusionHead,
    GlobalConfusion,
    LowRankConfusion,
    PixelConfusion,
)
from multirater.nn.losses import rater_nll, trace_penalty

__all__ = [
    "ConfusionHead",
    "GlobalConfusion",
    "LowRankConfusion",
    "PixelConfusion",
    "rater_nll",
    "trace_penalty",
]
