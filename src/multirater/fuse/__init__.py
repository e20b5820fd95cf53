"""Fusion: one label per item from the labels of several raters.

Every method is a function of labels (n_raters, *space), -1 where missing, or of a table, and
returns a `FusionResult`. Here they warn of what puts the result in doubt; within the package
(`fuse.methods`) they say it in the result alone.
"""

from typing import TYPE_CHECKING

from multirater.fuse.identifiability import Identifiability
from multirater.fuse.methods import METHODS
from multirater.fuse.outspoken import outspoken
from multirater.fuse.result import FusionResult
from multirater.fuse.spatial_staple import local_confusion

if TYPE_CHECKING:
    from multirater.fuse.dawid_skene import dawid_skene
    from multirater.fuse.mace import mace
    from multirater.fuse.majority_vote import majority_vote
    from multirater.fuse.mean import mean
    from multirater.fuse.one_coin import one_coin
    from multirater.fuse.spatial_staple import spatial_staple
    from multirater.fuse.staple import staple
    from multirater.fuse.weighted_vote import weighted_vote

globals().update({name.replace("-", "_"): outspoken(method) for name, method in METHODS.items()})

__all__ = [
    "FusionResult",
    "Identifiability",
    "dawid_skene",
    "local_confusion",
    "mace",
    "majority_vote",
    "mean",
    "one_coin",
    "spatial_staple",
    "staple",
    "weighted_vote",
]
