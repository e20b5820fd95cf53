"""Write the labels to ask for: as a table for anything, or as tasks for Label Studio."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from multirater.acquisition.result import NextLabels
from multirater.io.atomic import replacing
from multirater.io.tables.result_table import print_result_table

SUFFIXES = {".csv": "a table", ".json": "tasks for Label Studio"}
"""What labels to ask for may be written as."""


def write_next_labels(
    found: NextLabels, path: Path, *, images: Mapping[str, str], overwrite: bool = False
) -> None:
    """Write the list: a table as `.csv`, tasks for Label Studio as `.json`.

    Args:
        found: the list.
        path: target.
        images: by case, the name of its image, for tasks; cases without image are named only.
        overwrite: replace what is there.
    """
    with replacing(path, overwrite=overwrite) as temporary:
        if path.suffix.lower() == ".csv":
            print_result_table(found.labels, temporary)
        else:
            tasks = label_studio_tasks(found, images)
            temporary.write_text(json.dumps(tasks, indent=1), encoding="utf-8")


def label_studio_tasks(found: NextLabels, images: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return one task per label, in order; `rater` says whom to assign it to.

    The image goes by the tag of the tasks that `multirater export --to label-studio` writes.

    Args:
        found: the list.
        images: by case, the name of its image.
    """
    tasks = []
    for rank, line in zip(found.labels.index, found.labels.to_dict("records"), strict=True):
        data = {"case": line["case"], "rater": line["rater"], "why": line["why"], "rank": int(rank)}
        if line["case"] in images:
            data["image"] = f"/data/local-files/?d={images[str(line['case'])]}"
        meta = {"gain": float(line["gain"]), "reason": line["reason"], "cost": float(line["cost"])}
        tasks.append({"data": data, "meta": meta})
    return tasks
