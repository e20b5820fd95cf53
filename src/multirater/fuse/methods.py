"""Fusion methods by the name the command line knows them by.

A new one is imported `as` itself, which makes it a name of `multirater.fuse`, and put into the
table; command line, data sets and contract tests take it from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from multirater.errors import Fault, InputError
from multirater.fuse.dawid_skene import dawid_skene as dawid_skene
from multirater.fuse.mace import mace as mace
from multirater.fuse.majority_vote import majority_vote as majority_vote
from multirater.fuse.mean import mean as mean
from multirater.fuse.one_coin import one_coin as one_coin
from multirater.fuse.problem import Inputs
from multirater.fuse.result import FusionResult
from multirater.fuse.spatial_staple import spatial_staple as spatial_staple
from multirater.fuse.staple import staple as staple
from multirater.fuse.weighted_vote import weighted_vote as weighted_vote
from multirater.words import did_you_mean

METHODS: dict[str, Callable[..., FusionResult]] = {
    "mean": mean,
    "majority-vote": majority_vote,
    "weighted-vote": weighted_vote,
    "staple": staple,
    "spatial-staple": spatial_staple,
    "dawid-skene": dawid_skene,
    "one-coin": one_coin,
    "mace": mace,
}

NEEDS_SPACE = frozenset({"spatial-staple"})
"""Methods that use where pixels lie, so that they work on one image at a time."""

ALWAYS_POOLED = frozenset({"weighted-vote"})
"""Methods that look at the raters over all cases, whatever is asked for."""

_LARGEST = 10**300
"""Below which whole numbers are numbers of any kind; infinities and what is none are not."""


def options_from_text(method: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Return options of a method as values, from what stands on a command line.

    Example:
        >>> options_from_text("one-coin", {"dirichlet": "0.5", "prior": "estimated"})
        {'dirichlet': 0.5, 'prior': 'estimated'}
    """
    known = signature(method_named(method)).parameters
    found: dict[str, Any] = {}
    for name, text in given.items():
        default = known[name].default if name in known else None
        if isinstance(default, bool):
            words = {"true": True, "false": False}
            found[name] = words.get(text.lower(), text)
        elif isinstance(default, int | float):
            found[name] = _number(text, type(default))
        else:
            found[name] = _number(text, float)
        if isinstance(default, bool | int | float) and isinstance(found[name], str):
            kind = {bool: "true or false", int: "a whole number"}.get(type(default), "a number")
            raise InputError(Fault(f"option {name} of {method} is {text!r}", expected=kind))
    return found


def _number(text: str, kind: Callable[[str], Any]) -> Any:
    """Return a finite number, or the text that is none."""
    try:
        value = kind(text)
    except ValueError:
        return text
    return value if abs(value) < _LARGEST else text


_GIVEN = ("labels", "n_classes", "inputs", "start", "prior_map")


def require_options(method: str, options: Mapping[str, Any]) -> None:
    """Refuse options that a method does not have."""
    # What comes with the labels is taken from the study, and so is how many classes there are.
    known = set(signature(METHODS[method]).parameters) - {*_GIVEN, *Inputs.__annotations__}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise InputError(
            Fault(
                f"{method} has no option {unknown[0].replace('_', '-')}",
                fix="leave it out, or choose another method",
            )
        )


def method_named(name: str) -> Callable[..., FusionResult]:
    """Return a fusion function by name."""
    if name not in METHODS:
        why = ": the vote is majority-vote" if name == "mode" else did_you_mean(name, METHODS)
        raise InputError(
            Fault(
                f"no fusion method {name!r}{why}",
                expected=f"one of {', '.join(METHODS)}",
            )
        )
    return METHODS[name]
