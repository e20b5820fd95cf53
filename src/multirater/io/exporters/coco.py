"""COCO JSON out: one annotation per connected piece of a class, as RLE, with its confidence.

With several raters, annotations carry the field `annotator`, and images list in `annotators` who
looked at them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from multirater.io.coco_masks import rle_of
from multirater.io.exporters.outcome import Outcome, confidence, require_flat
from multirater.io.exporters.pieces import pieces


def write_export(outcome: Outcome, target: Path) -> None:
    """Write the labels of all cases into one file."""
    outcome.require_kind("masks", "COCO")
    images: dict[str, dict[str, Any]] = {}
    annotations: list[dict[str, Any]] = []
    for case, rater, label in outcome.labels():
        require_flat(label, case, "COCO")
        height, width = label.array.shape
        entry = {"id": len(images) + 1, "file_name": outcome.image_names[case.name]}
        image = images.setdefault(case.name, entry | {"width": width, "height": height})
        probability = outcome.probability(case)
        for index, mask in pieces(outcome.without_gaps(label)):
            rows, columns = mask.nonzero()
            left, top = int(columns.min()), int(rows.min())
            box = [left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top]
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image["id"],
                    "category_id": index,
                    "segmentation": rle_of(mask),
                    "area": int(mask.sum()),
                    "bbox": box,
                    "iscrowd": 0,
                    "score": confidence(probability, index, mask),
                }
            )
            if not outcome.is_one_rater:
                annotations[-1]["annotator"] = rater
        if not outcome.is_one_rater:
            image.setdefault("annotators", []).append(rater)
    categories = [
        {"id": index, "name": name} for index, name in enumerate(outcome.classes.names) if index
    ]
    content = {
        "images": list(images.values()),
        "annotations": annotations,
        "categories": categories,
    }
    target.write_text(json.dumps(content), encoding="utf-8")
