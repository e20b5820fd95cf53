"""From fingerprint to plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from multirater.training.budget import USUAL_MEMORY
from multirater.training.fingerprint import Fingerprint
from multirater.training.plan.classes import of_classes
from multirater.training.plan.drawings import of_drawings
from multirater.training.plan.record import Plan


def plan_of(seen: Fingerprint, *, memory: int = USUAL_MEMORY, **given: Any) -> Plan:
    """Decide how to train.

    Args:
        seen: what the study looks like.
        memory: budget in bytes.
        given: decisions that are made already, by the names of `Plan`; what depends on them
            follows.

    Raises:
        InputError: the budget is too small for a single patch, or a decision cannot be.

    Example:
        >>> side, step = (28, 28), (1.0, 1.0)
        >>> digits = Fingerprint("masks", 70, 2, 1, side, side, side, step, step, step)
        >>> found = plan_of(digits)
        >>> found.view, found.patch, found.channels, found.batch_size
        ('2d', (), (24, 48, 96), 8)
    """
    made = (
        of_classes(seen, memory, given)
        if seen.kind == "classes"
        else of_drawings(seen, memory, given)
    )
    return replace(made, memory=memory, fingerprint=seen)
