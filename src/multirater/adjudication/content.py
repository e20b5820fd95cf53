"""What the page is told of the study, of a case and of a slice, in plain data for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.adjudication.disputed_study import DisputedStudy, OpenCase
from multirater.adjudication.gold_folder import GoldFolder
from multirater.io.formats.labels import read_label
from multirater.io.gold import Decision
from multirater.patterns import encode_patterns
from multirater.report.page import layer_json
from multirater.report.pictures import encode_picture
from multirater.report.run_lengths import encode_runs
from multirater.types import MISSING

STEPS = 31
"""In which uncertainty is told."""

_PICTURE_BYTES = 400_000


def study_json(study: DisputedStudy, gold: GoldFolder, title: str, who: str) -> dict[str, Any]:
    """Say what the study is, which cases are disputed and how each of them stands."""
    count, _ = gold.changed(0)
    return {
        "kind": study.dataset.kind,
        "title": title,
        "who": who,
        "method": study.method,
        "classes": [{"name": e.name, "colour": e.colour} for e in study.found.classes.items],
        "layers": [layer_json(layer) for layer in study.layers()],
        "count": count,
        "undisputed": len(study.dataset) - len(study.order),
        "cases": [
            {
                "name": study.case(place).name,
                "disagreement": apart,
                "now": decision_json(gold.now(study.case(place).name)),
            }
            for place, apart in enumerate(study.disagreement)
        ],
    }


def decision_json(now: Decision) -> dict[str, Any]:
    """Say how a case stands; files of the folder are nobody's business."""
    said = asdict(now)
    is_class = bool(now.gold) and not now.label
    del said["label"], said["before"], said["gold"]
    return {**said, "class": now.gold if is_class else "", "decided": bool(now.gold)}


def case_json(study: DisputedStudy, gold: GoldFolder, place: int) -> dict[str, Any]:
    """Say what there is of a case: its views, or its answers; and how it stands."""
    opened = study.open(place)
    name = opened.case.name
    said = {
        "name": name,
        "raters": list(opened.present),
        "now": decision_json(gold.now(name)),
        "uncertainty": float(opened.uncertainty.mean()),
    }
    if study.is_masks:
        return {**said, "views": [_view_json(opened, view) for view in range(len(opened.planes))]}
    pictures = [encode_picture(_plain(each), _PICTURE_BYTES) for each in opened.shades]
    return {
        **said,
        "answers": opened.labels.array.tolist(),
        "fused": int(opened.fused),
        "probability": list(opened.probability),
        "pictures": pictures,
    }


def slice_json(
    study: DisputedStudy, gold: GoldFolder, place: int, view: int, number: int
) -> dict[str, Any] | None:
    """Say what a slice shows; None where there is no such slice.

    Labels are told as patterns: `rows` of what raters and fusion say together, and `runs` of where.
    """
    opened = study.open(place)
    if view >= len(opened.planes) or number >= opened.turned(opened.fused, view).shape[0]:
        return None
    columns = [*opened.labels.array, opened.fused]
    shown = [opened.turned(each, view)[number] for each in columns]
    found = encode_patterns(np.stack(shown))
    unsure = np.rint(opened.turned(opened.uncertainty, view)[number] * STEPS).astype(int)
    now, label = current_label(study, gold, place)
    height, width = shown[0].shape
    return {
        "height": height,
        "width": width,
        "rows": found.rows.tolist(),
        "runs": encode_runs(found.index),
        "uncertainty": encode_runs(unsure),
        "label": encode_runs(opened.turned(label, view)[number] - MISSING),
        "revision": now.revision,
        "pictures": _pictures(opened, view, number),
    }


def current_label(
    study: DisputedStudy, gold: GoldFolder, place: int
) -> tuple[Decision, NDArray[np.int16]]:
    """Return what is being worked on, (*space), a copy; the fused label to begin with."""
    opened = study.open(place)
    now = gold.now(opened.case.name)
    if not now.label:
        return now, opened.fused.copy()
    file = gold.folder / now.label
    read = read_label(
        file, classes=gold.classes, like=lambda: (_space(opened), opened.labels.geometry)
    )
    return now, read.array.copy()


def _space(opened: OpenCase) -> tuple[int, ...]:
    return opened.labels.array.shape[1:]


def _view_json(opened: OpenCase, view: int) -> dict[str, Any]:
    labels = opened.labels.array
    known = np.where(labels == MISSING, labels.max(0), labels)
    disputed = opened.turned(known.min(0) != labels.max(0), view)
    depth, height, width = disputed.shape
    plane = opened.planes[view]
    return {
        "name": plane.name,
        "depth": depth,
        "height": height,
        "width": width,
        "aspect": plane.aspect,
        "disputed": disputed.sum((1, 2)).tolist(),
    }


def _pictures(opened: OpenCase, view: int, number: int) -> list[str]:
    found = []
    for shades in opened.shades:
        is_colour = shades.ndim > opened.fused.ndim
        channels = np.moveaxis(shades, -1, 0) if is_colour else shades[None]
        seen = np.stack([opened.turned(each, view)[number] for each in channels], axis=-1)
        found.append(encode_picture(_plain(seen if is_colour else seen[..., 0]), _PICTURE_BYTES))
    return found


def _plain(shades: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a picture (height, width[, 3]); of a volume, its middle slice."""
    if shades.ndim == 3 and shades.shape[-1] != 3:
        shades = shades[len(shades) // 2]
    return np.ascontiguousarray(shades)
