"""From a data set to its plan, and from a plan to settings. No torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.io.survey import Survey, survey
from multirater.training.budget import memory_bytes, usual_budget
from multirater.training.fingerprint import fingerprint, identity_of
from multirater.training.orientation import turned, usual_orientation
from multirater.training.plan import Plan, plan_of
from multirater.training.plan_files import check_plan
from multirater.types import Dataset

if TYPE_CHECKING:
    from multirater.training.config import TrainConfig


def plan(dataset: Dataset, *, memory: str | int | None = None, **given: Any) -> Plan:
    """Look at a data set and decide how to train on it. The truth is not looked at.

    Args:
        dataset: images with the labels of several raters.
        memory: budget, such as `6GB` or a number of bytes; what is free, less a reserve, when not
            given.
        given: decisions that are made already, by the names of `Plan`, such as `patch=(96, 96)`.

    Returns:
        A frozen record that `train` takes; change a field with `dataclasses.replace`.

    Raises:
        InputError: with every fault of the data set, or a budget that is too small.
    """
    budget = usual_budget() if memory is None else memory_bytes(memory)
    seen = turned(dataset, usual_orientation(dataset))
    return plan_of(fingerprint(survey(seen, workers=1)), memory=budget, **given)


def plan_for(
    found: Survey, config: TrainConfig, made: Plan | Literal["made"] | None
) -> Plan | None:
    """Return the plan that a run follows: the one given, or one made for its study.

    None for a recipe of one's own: settings that say how many epochs, and no plan.

    Args:
        found: the study.
        config: settings; what they say is not decided again.
        made: a plan, if one is given; `made` for one that is made here in any case.

    Raises:
        InputError: the plan is of another data set, or cannot be.
    """
    if isinstance(made, Plan):
        check_plan(made)
        _require_own(made, found)
        _require_patch(made)
        return made
    given = wishes(config)
    if "epochs" in given and made is None:
        return None
    memory = usual_budget() if config.memory is None else config.memory
    return plan_of(fingerprint(found), memory=memory, **given)


def wishes(config: TrainConfig) -> dict[str, Any]:
    """Return what settings decide of a plan already."""
    names = ("patch", "channels", "batch_size", "epochs", "augment", "n_features", "mirror")
    given = {name: getattr(config, name) for name in names if getattr(config, name) is not None}
    return given | ({} if config.view == "auto" else {"view": config.view})


def common_space(found: Survey) -> tuple[int, ...]:
    """Return the size that images of class labels are brought to when they have several sizes."""
    sizes = [case.image_space for case in found.cases if case.n_channels]
    if len(set(sizes)) < 2 or len({len(size) for size in sizes}) > 1:
        return ()
    return tuple(max(round(float(side)), 1) for side in np.median(np.array(sizes), axis=0))


def _require_patch(made: Plan) -> None:
    """Refuse a patch that is larger than all images, but for what pooling rounds up."""
    seen = made.fingerprint
    if seen is None or not made.patch:
        return
    largest = seen.largest[-len(made.patch) :]
    if any(side >= have + 16 for side, have in zip(made.patch, largest, strict=True)):
        raise InputError(
            Fault(
                f"a patch of {size_text(made.patch)} in the plan",
                expected=f"no larger than the largest image: {size_text(largest)}",
                fix="correct the plan, or plan again",
            )
        )


def _require_own(made: Plan, found: Survey) -> None:
    if made.fingerprint is None or made.fingerprint.identity == identity_of(found):
        return
    raise InputError(
        Fault(
            f"the plan is of another data set, of {made.fingerprint.n_cases} cases and "
            f"{len(made.fingerprint.labels)} raters",
            expected="one made for this data set: same cases, sizes and raters",
            fix="multirater plan DATA -o plan.json",
        )
    )
