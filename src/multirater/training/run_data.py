"""What a run has to know of its data set, and whether it is still the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError
from multirater.io.results.layout import DATA, DIGESTS
from multirater.io.results.statements import read_json, write_json
from multirater.io.survey import Survey
from multirater.training.config import TrainConfig
from multirater.training.run_folder import RunData, read_data
from multirater.training.same_channels import require_same_channels
from multirater.training.spacings import common_spacing
from multirater.types import Dataset
from multirater.words import listed


def describe_data(found: Survey, prepared: Dataset, config: TrainConfig) -> RunData:
    """Return what networks and predictions need to know of a study.

    Args:
        found: the study.
        prepared: what is trained on.
        config: settled.

    Raises:
        InputError: images are missing, or cannot be learned from together.
    """
    with_image = [case for case in found.cases if case.n_channels]
    if not with_image:
        fix = "name images in the manifest"
        if found.dataset.kind == "classes":
            fix += ", or put the features of the cases into features.csv beside it"
        raise InputError(Fault("no case has an image", expected="images to learn from", fix=fix))
    require_same_channels(with_image)
    axes = {len(case.image_space): case.name for case in reversed(with_image)}
    if len(axes) > 1:
        raise InputError(
            Fault(
                "images of "
                + " and ".join(f"{ndim} axes ({name})" for ndim, name in sorted(axes.items())),
                expected="images that are all 2-D, or all 3-D",
                fix="make a study of each",
            )
        )
    of_classes = found.dataset.kind == "classes"
    ndim = 0 if of_classes else len(with_image[0].image_space)
    return RunData(
        raters=prepared.raters,
        classes=found.classes.names,
        colours=tuple(item.colour for item in found.classes.items),
        n_channels=with_image[0].n_channels,
        ndim=2 if config.view == "slices" and not of_classes else ndim,
        space=config.space or with_image[0].image_space if of_classes else (),
        kind=found.dataset.kind,
        features=found.dataset.features,
        labels=found.digest,
        spacing=() if of_classes else common_spacing(with_image),
    )


def require_same_data(now: RunData, target: Path) -> None:
    """Refuse to go on with other data: matrices and heads are known by their place."""
    before = read_data(target)
    before.require_features(now.features)
    _require_same_labels(before.labels, now.labels, target)
    for name in ("kind", "raters", "classes", "n_channels", "ndim", "space"):
        was, found = getattr(before, name), getattr(now, name)
        if was != found:
            raise InputError(
                Fault(
                    f"{name} {found} of the data set",
                    expected=f"{was}, as when the run began",
                    fix="resume with the data set it began with, or start another run",
                    file=str(target),
                )
            )


def _require_same_labels(before: str, now: str, target: Path) -> None:
    if before and before != now:
        raise InputError(
            Fault(
                "the labels have changed since the run began",
                expected="the labels that it has learned from so far",
                fix="put them back, or start another run",
                file=str(target),
            )
        )


def write_digests(found: Survey, target: Path) -> None:
    """Keep what tells whether labels and images are still those that a run began with."""
    write_json(target / DIGESTS, _digests(found))


def require_same_cases(found: Survey, target: Path) -> None:
    """Refuse to go on with other labels or images than a run has learned from, and name them.

    Args:
        found: the study as it is now, surveyed with its images.
        target: of the run; one that has no digests is not told about.
    """
    if (target / DATA).is_file():  # other features are other images, too, and the better reason
        read_data(target).require_features(found.dataset.features)
    if not (target / DIGESTS).is_file():
        return
    before, now = read_json(target / DIGESTS), _digests(found)
    for part in ("labels", "images", "splits or patients"):
        changed = [
            name
            for name in now
            if name in before and _part(before[name], part, now[name][part]) != now[name][part]
        ]
        if changed:
            raise InputError(
                Fault(
                    f"the {part} have changed since the run began, of {listed(changed, most=5)}",
                    expected=f"the {part} that it has learned from so far",
                    fix="put them back, or start another run",
                    file=str(target),
                )
            )
    others = sorted({*before} ^ {*now})
    if others:
        raise InputError(
            Fault(
                f"{listed(others, most=5)}: in the study now or when the run began, not both",
                expected="the cases that it has learned from so far",
                fix="put them back, or start another run",
                file=str(target),
            )
        )


def _digests(found: Survey) -> dict[str, dict[str, str]]:
    return {
        seen.name: {
            "labels": seen.digest,
            "images": seen.image_digest,
            "splits or patients": json.dumps([case.split, case.patient]),
        }
        for case, seen in zip(found.dataset, found.cases, strict=True)
    }


def _part(kept: Any, part: str, otherwise: str) -> Any:
    """Return what was kept of a case; runs of before know nothing of splits."""
    if not isinstance(kept, dict):
        return None
    return kept.get(part, otherwise if part.startswith("splits") else None)
