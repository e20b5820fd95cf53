"""Plans in files: what `multirater plan -o` writes and `train --plan` reads, checked. No torch."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.training.fingerprint import Fingerprint
from multirater.training.normalisation import Normalisation
from multirater.training.plan import Plan
from multirater.training.plan.room import PROCESS_BYTES

_WIDEST = 8192
"""Channels of a stage that a network may have."""

_AGAIN = "make the plan again"


def write_plan(plan: Plan, path: Path, *, overwrite: bool = False) -> None:
    """Write a plan as JSON."""
    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_text(plan_json(plan) + "\n", encoding="utf-8")


def plan_json(plan: Plan) -> str:
    """Return a plan as text that `read_plan` understands."""
    return json.dumps(asdict(plan), indent=2)


def read_plan(path: Path) -> Plan:
    """Read a plan, and check every value: people edit them.

    Raises:
        InputError: no JSON, unknown or missing fields, values that cannot be.
    """
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(Fault(error.strerror or str(error), file=str(path))) from None
    except (ValueError, RecursionError) as error:
        raise InputError(Fault(f"is no JSON: {error}", file=str(path))) from None
    try:
        plan = _from_json(stored)
        if plan.fingerprint is None:
            raise InputError(
                Fault("fingerprint is null", expected="that of the study it is for", fix=_AGAIN)
            )
        check_plan(plan)
    except InputError as error:
        raise error.at(file=path) from None
    return plan


def _from_json(stored: Any) -> Plan:
    if not isinstance(stored, dict):
        raise InputError(Fault("is no plan", expected="what `multirater plan DATA -o` writes"))
    known = {each.name for each in fields(Plan)}
    unknown = sorted(set(stored) - known)
    missing = sorted(known - set(stored))
    if unknown or missing:
        what = f"unknown field {unknown[0]!r}" if unknown else f"no field {missing[0]!r}"
        raise InputError(Fault(what, expected="the fields that `multirater plan DATA -o` writes"))
    values = {name: _tuples(value) for name, value in stored.items()}
    try:
        values["normalisation"] = Normalisation(**values["normalisation"])
        if values["fingerprint"] is not None:
            values["fingerprint"] = Fingerprint(**values["fingerprint"])
    except TypeError:
        raise InputError(
            Fault("fingerprint or normalisation cannot be understood", fix=_AGAIN)
        ) from None
    return Plan(**values)


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    return {k: _tuples(v) for k, v in value.items()} if isinstance(value, dict) else value


def check_plan(plan: Plan) -> None:
    """Refuse values that cannot be."""
    n_axes = {"2d": 2, "slices": 2, "3d": 3, "whole": None}.get(str(plan.view), -1)
    checks: list[tuple[str, bool, str]] = [
        ("view", n_axes != -1, "2d, slices, 3d or whole"),
        ("patch", _are_sizes(plan.patch, n_axes), f"{n_axes} whole numbers above 0, or none"),
        ("space", _is_space(plan), "one size per axis of images with class labels, or none"),
        (
            "spacing",
            _are_positive(plan.spacing) and _are_per_axis(plan, n_axes),
            "millimetres above 0 per axis of the images, or none",
        ),
        ("batch_size", _is_count(plan.batch_size, 2**16), "a whole number, 1 to 65536"),
        ("epochs", _is_count(plan.epochs, 10**6), "a whole number, 1 to a million"),
        ("n_features", _is_count(plan.n_features, _WIDEST), f"a whole number, 1 to {_WIDEST}"),
        ("memory", _is_memory(plan), f"bytes, at least the {PROCESS_BYTES} of the process itself"),
        (
            "steps_per_epoch",
            plan.steps_per_epoch == 0 or _is_count(plan.steps_per_epoch, 10**7),
            "a whole number, 0 for one pass over the cases",
        ),
        ("rare_share", _is_share(plan.rare_share), "a share from 0 to 1"),
        ("overlap_weight", _is_weight(plan.overlap_weight), "a number, 0 or more"),
        ("augment", isinstance(plan.augment, bool), "true or false"),
        ("mirror", isinstance(plan.mirror, bool), "true or false"),
        ("channels", _are_channels(plan.channels), f"whole numbers, 1 to {_WIDEST}"),
        ("strides", _are_stages(plan.strides, plan, n_axes), "sizes per stage and axis"),
        ("kernels", _are_stages(plan.kernels, plan, n_axes), "sizes per stage and axis"),
        (
            "fingerprint",
            _is_fingerprint(plan.fingerprint),
            "as `multirater plan` writes it",
        ),
        (
            "normalisation",
            _is_normalisation(plan),
            "of kind case, or of kind study with a mean and a deviation of every channel",
        ),
        ("reasons", _are_words(plan.reasons), "words by decision"),
    ]
    wrong = next((each for each in checks if not each[1]), None)
    if wrong is not None:
        found = getattr(plan, wrong[0])
        raise InputError(
            Fault(f"{wrong[0]} is {found!r}", expected=wrong[2], fix="correct it, or plan again")
        )


def _is_count(value: Any, most: int = 2**62) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most


def _is_memory(plan: Plan) -> bool:
    return _is_count(plan.memory) and (plan.view == "whole" or plan.memory >= PROCESS_BYTES)


def _are_channels(values: Any) -> bool:
    return _are_sizes(values, None) and all(each <= _WIDEST for each in values)


def _are_words(values: Any) -> bool:
    return isinstance(values, dict) and all(isinstance(each, str) for each in values.values())


def _is_fingerprint(found: Any) -> bool:
    if found is None:
        return True
    counts = (found.n_cases, found.n_classes, found.n_channels)
    sizes = (found.size, found.smallest, found.largest)
    distances = (found.spacing, found.finest, found.coarsest)
    numbers = (found.mean, found.deviation, found.low, found.high)
    shares = (found.class_share, found.class_cases, (found.disputed,))
    return (
        all(map(_is_count, counts))
        and isinstance(found.labels, dict)
        and all(type(each) is int and each >= 0 for each in found.labels.values())
        and all(_are_sizes(each, None) for each in sizes)
        and all(map(_are_positive, distances))
        and all(isinstance(each, tuple) and all(map(_is_finite, each)) for each in numbers)
        and all(isinstance(each, tuple) and all(map(_is_share, each)) for each in shares)
    )


def _is_normalisation(plan: Plan) -> bool:
    how = plan.normalisation
    if how.kind != "study":
        return how.kind == "case"
    ends = (how.low, how.high) if how.low or how.high else ()
    parts = (how.mean, how.deviation, *ends)
    if not all(isinstance(each, tuple) and all(map(_is_finite, each)) for each in parts):
        return False
    seen = plan.fingerprint
    flat = () if seen is None else seen.deviation
    if any(each < 0 for each in how.deviation) or (0 in how.deviation and 0 not in flat):
        return False
    if any(low > high for low, high in zip(how.low, how.high, strict=False)):
        return False
    n_channels = len(how.mean) if plan.fingerprint is None else plan.fingerprint.n_channels
    if not _is_count(n_channels):
        return False
    return all(len(each) == n_channels for each in parts)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < float("inf")


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e6


def _are_sizes(values: Any, length: int | None) -> bool:
    if not isinstance(values, tuple) or not all(map(_is_count, values)):
        return False
    return not values or length is None or len(values) == length


def _is_space(plan: Plan) -> bool:
    if not _are_sizes(plan.space, None):
        return False
    seen = plan.fingerprint
    n_axes = len(seen.size) if seen is not None and isinstance(seen.size, tuple) else None
    return not plan.space or (plan.view == "whole" and n_axes in (None, len(plan.space)))


def _are_positive(values: Any) -> bool:
    return isinstance(values, tuple) and all(
        isinstance(each, int | float) and 0 < each < float("inf") for each in values
    )


def _are_per_axis(plan: Plan, n_axes: int | None) -> bool:
    """Whether distances are of the images' own axes: of volumes all, also where slices serve."""
    n_distances = 3 if plan.view == "slices" else n_axes
    return not plan.spacing or n_distances is None or len(plan.spacing) == n_distances


def _are_stages(values: Any, plan: Plan, n_axes: int | None) -> bool:
    if not isinstance(values, tuple) or not isinstance(plan.channels, tuple):
        return False
    if len(values) not in (0, len(plan.channels)):
        return False
    return all(_are_sizes(each, n_axes) and each for each in values)


def followed_plan(plan: Plan, settings: Any) -> Plan:
    """Return the plan as it was followed: what the user or the first real step changed is in it.

    Args:
        plan: as it was made.
        settings: that a run trains with, with fields of the same names.
    """
    names = ["space", "n_features", "batch_size", "epochs", "augment"]
    if plan.view != "whole":
        names += ["spacing", "patch", "channels", "strides", "kernels", "steps_per_epoch"]
        names += ["rare_share", "overlap_weight", "mirror"]
    return replace(plan, **{name: getattr(settings, name) for name in names})
