"""Fusion: one label per item from the labels of several raters.

Every method is a function of labels (n_raters, *space), -1 where missing, or of a table, and
returns a `FusionResult`. Here they warn of what puts the result in doubt; within the package
(`fuse.methods`, which lists them) they say it in the result alone.
"""

from typing import TYPE_CHECKING

from multirater.fuse import methods
from multirater.fuse.identifiability import Identifiability
from multirater.fuse.outspoken import outspoken
from multirater.fuse.result import FusionResult
from multirater.fuse.spatial_staple import local_confusion

if TYPE_CHECKING:
    from multirater.fuse.methods import *  # noqa: F403 - the methods by name, for type checkers

_SPEAKING = {method.__name__: outspoken(method) for method in methods.METHODS.values()}
globals().update(_SPEAKING)

__all__ = ["FusionResult", "Identifiability", "local_confusion", *_SPEAKING]
