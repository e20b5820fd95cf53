"""Raters who err in known ways: masks, class labels, coarse drawings.

Every simulator draws its random numbers first (`draw_*`), as a small record that can be stored as
JSON, and then applies them to a true label (`apply_*`); `simulate_*` does both. Same seed, same
labels.
"""

from multirater.simulate.classes import (
    cifar10_raters_cm,
    hammer_spammer_cm,
    pairwise_flipper_cm,
    simulate_class_labels,
)
from multirater.simulate.coarse import (
    COARSE_RATIOS,
    CoarseDrawing,
    Stroke,
    apply_coarse,
    draw_coarse,
    simulate_coarse,
)
from multirater.simulate.confusion import mean_confusion, true_confusion
from multirater.simulate.fractures import Cut
from multirater.simulate.masks import (
    MASK_KINDS,
    MaskError,
    MaskKind,
    apply_mask_error,
    draw_mask_error,
    simulate_mask,
)
from multirater.simulate.simulated_dataset import (
    FIVE,
    SimulatedRater,
    parse_rater,
    rater_cm,
    simulate_dataset,
)
from multirater.simulate.strength import mean_rater_dice, strength_for_dice
from multirater.simulate.supply import label_supply

__all__ = [
    "COARSE_RATIOS",
    "FIVE",
    "MASK_KINDS",
    "CoarseDrawing",
    "Cut",
    "MaskError",
    "MaskKind",
    "SimulatedRater",
    "Stroke",
    "apply_coarse",
    "apply_mask_error",
    "cifar10_raters_cm",
    "draw_coarse",
    "draw_mask_error",
    "hammer_spammer_cm",
    "label_supply",
    "mean_confusion",
    "mean_rater_dice",
    "pairwise_flipper_cm",
    "parse_rater",
    "rater_cm",
    "simulate_class_labels",
    "simulate_coarse",
    "simulate_dataset",
    "simulate_mask",
    "strength_for_dice",
    "true_confusion",
]
