"""Class labels as JSONL, one case per line, with the consensus and how sure it is."""

from __future__ import annotations

import json
from pathlib import Path

from multirater.io.exporters.outcome import Outcome


def write_export(outcome: Outcome, target: Path) -> None:
    """Write case, image, label, confidence and who, or what, said it."""
    outcome.require_kind("classes", "JSONL")
    lines = []
    for case, rater, choice, sure in outcome.choices():
        image = {"image": outcome.image_names[case.name]} if case.image is not None else {}
        told = {"case": case.name, **image, "label": choice, "confidence": sure, "rater": rater}
        lines.append(json.dumps(told, ensure_ascii=False))
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
