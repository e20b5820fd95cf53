"""How good, how alike, how sure: every number is a pure function of arrays.

`*_score` is better the higher it is, `*_error` and `*_distance` the lower. Labels are class
indices, -1 means not labelled; confusion matrices are `cm[..., true, observed]`, rows sum to one.
"""

from multirater.metrics.agreement import cohen_kappa, fleiss_kappa, gwet_ac1, percent_agreement
from multirater.metrics.alpha import krippendorff_alpha
from multirater.metrics.bland_altman import BlandAltman, bland_altman
from multirater.metrics.bootstrap import Estimate, case_interval, item_interval
from multirater.metrics.calibration import calibration_error, log_loss_error
from multirater.metrics.confusion import (
    confusion_counts,
    confusion_frobenius_error,
    confusion_rates,
    confusion_rms_error,
    skill_score,
)
from multirater.metrics.distribution import energy_distance
from multirater.metrics.offset import outline_offsets
from multirater.metrics.overlap import (
    class_dice_scores,
    class_iou_scores,
    dice_score,
    iou_score,
    mean_iou_score,
    soft_dice_score,
)
from multirater.metrics.pairwise import pairwise_kappa, pairwise_scores
from multirater.metrics.per_class import one_against_rest, per_class
from multirater.metrics.surface import hausdorff_distance, surface_distance

__all__ = [
    "BlandAltman",
    "Estimate",
    "bland_altman",
    "calibration_error",
    "case_interval",
    "class_dice_scores",
    "class_iou_scores",
    "cohen_kappa",
    "confusion_counts",
    "confusion_frobenius_error",
    "confusion_rates",
    "confusion_rms_error",
    "dice_score",
    "energy_distance",
    "fleiss_kappa",
    "gwet_ac1",
    "hausdorff_distance",
    "iou_score",
    "item_interval",
    "krippendorff_alpha",
    "log_loss_error",
    "mean_iou_score",
    "one_against_rest",
    "outline_offsets",
    "pairwise_kappa",
    "pairwise_scores",
    "per_class",
    "percent_agreement",
    "skill_score",
    "soft_dice_score",
    "surface_distance",
]
