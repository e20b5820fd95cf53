"""The plan of a study of class labels: whole images or vectors."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, prod
from typing import Any

from multirater.io.formats.grid import size_text
from multirater.training.fingerprint import Fingerprint
from multirater.training.normalisation import OWN
from multirater.training.plan.intensities import intensities
from multirater.training.plan.record import Plan
from multirater.training.plan.room import PROCESS_BYTES, too_small

_EPOCHS, _BATCH, _LEAST_BATCH, _STEPS = 15, 64, 4, 16
_LEAST_STEPS, _TRAINED_ON = 1000, 0.85
"""Steps below which a network has not learned what few images can teach it
(benchmarks/class_length_choice.py), and the share of the cases that an epoch goes through."""

_SIDE = 256


def of_classes(seen: Fingerprint, memory: int, given: Mapping[str, Any]) -> Plan:
    """Decide how to train on class labels."""
    reasons: dict[str, str] = {}
    what = f"vectors of {seen.n_channels} features" if not seen.ndim else size_text(seen.size)
    reasons["view"] = f"whole: one class for each image ({what})"
    space = _one_size(seen, reasons)
    normalisation = OWN
    if seen.ndim:
        normalisation = intensities(seen, reasons)
    wanted = max(seen.n_cases // _STEPS, _LEAST_BATCH)
    batch = given.get("batch_size") or min(wanted, _BATCH)
    if seen.ndim:
        cost = 4.0 * prod(space or seen.size) * 64 * 4
        while batch > 1 and not given.get("batch_size") and cost * batch > memory - PROCESS_BYTES:
            batch //= 2
        if cost * batch > memory - PROCESS_BYTES:
            raise too_small(memory, space or seen.size, batch, cost * batch + PROCESS_BYTES)
    epochs = _epochs(seen, batch, given, reasons)
    return Plan(
        view="whole",
        normalisation=normalisation,
        space=space,
        n_features=given.get("n_features") or 64,
        batch_size=batch,
        epochs=epochs,
        augment=bool(given.get("augment")),
        mirror=False,
        reasons=reasons,
    )


def _epochs(
    seen: Fingerprint, batch: int, given: Mapping[str, Any], reasons: dict[str, str]
) -> int:
    """Return the passes over the cases: more of them where few images make few steps.

    An epoch of few cases is some fourteen steps, as batches follow their number. Vectors are
    learned in them; longer training made nothing better.
    """
    steps = max(ceil(_TRAINED_ON * seen.n_cases / batch), 1)
    least = _LEAST_STEPS if seen.ndim else 0
    epochs = given.get("epochs") or max(_EPOCHS, ceil(least / steps))
    said = f"{epochs} epochs in batches of {batch}, for {seen.n_cases} cases"
    if given.get("epochs"):
        said += ", as asked for"
    elif epochs > _EPOCHS:
        said += f": {_EPOCHS} would be {_EPOCHS * steps} steps, which are few"
    reasons["length"] = said
    return epochs


def _one_size(seen: Fingerprint, reasons: dict[str, str]) -> tuple[int, ...]:
    """Return the size that images are brought to; empty when they have one, and a usual one."""
    if not seen.ndim or seen.smallest == seen.largest:
        return ()
    longest = max(seen.size)
    shrink = min(1.0, _SIDE / longest)
    space = tuple(max(round(side * shrink), 1) for side in seen.size)
    reasons["size"] = (
        f"{size_text(space)}: one network sees all images whole, and they have "
        f"{size_text(seen.smallest)} to {size_text(seen.largest)}"
    )
    return space
