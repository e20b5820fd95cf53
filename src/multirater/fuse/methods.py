"""Fusion methods by the name the command line knows them by."""

from __future__ import annotations

from collections.abc import Callable

from multirater.errors import Fault, InputError
from multirater.fuse.dawid_skene import dawid_skene
from multirater.fuse.mace import mace
from multirater.fuse.majority_vote import majority_vote
from multirater.fuse.mean import mean
from multirater.fuse.one_coin import one_coin
from multirater.fuse.result import FusionResult
from multirater.fuse.spatial_staple import spatial_staple
from multirater.fuse.staple import staple

METHODS: dict[str, Callable[..., FusionResult]] = {
    "mean": mean,
    "majority-vote": majority_vote,
    "staple": staple,
    "spatial-staple": spatial_staple,
    "dawid-skene": dawid_skene,
    "one-coin": one_coin,
    "mace": mace,
}

NEEDS_SPACE = frozenset({"spatial-staple"})
"""Methods that use where pixels lie, so that they work on one image at a time."""


def method_named(name: str) -> Callable[..., FusionResult]:
    """Return a fusion function by name."""
    if name not in METHODS:
        raise InputError(
            Fault(f"no fusion method {name!r}", expected=f"one of {', '.join(METHODS)}")
        )
    return METHODS[name]
