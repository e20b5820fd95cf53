"""Torch modules and losses to learn from raters who disagree, usable in any network."""

from multirater.extras import extra

with extra():
    from multirater.nn.confusion import ConfusionHead, GlobalConfusion, RaterConfusion
    from multirater.nn.losses import plain_nll, rater_nll, trace_penalty
    from multirater.nn.pixel_confusion import LowRankConfusion, PixelConfusion

__all__ = [
    "ConfusionHead",
    "GlobalConfusion",
    "LowRankConfusion",
    "PixelConfusion",
    "RaterConfusion",
    "plain_nll",
    "rater_nll",
    "trace_penalty",
]
