"""Tasks with predictions for Label Studio: brush masks or choices, with scores.

The least sure come first, so that what needs another look is relabelled first. Tags of the
labelling configuration are called `label` (brush), `choice` and `image`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from multirater.io.brush_rle import encode_brush
from multirater.io.exporters.outcome import Outcome, confidence, require_flat
from multirater.io.questions import NO, YES, question_of
from multirater.types import Case, LabelMap

_CHOICE = "choice"


def write_export(outcome: Outcome, target: Path) -> None:
    """Write one task per case; the model of a prediction is the rater or the fusion."""
    tasks: dict[str, dict[str, Any]] = {}
    found = _choices(outcome) if outcome.dataset.kind == "classes" else _brushes(outcome)
    for name, case, rater, results, score in found:
        image = f"{name}.png" if case.image is None else outcome.image_names[case.name]
        data = {"image": f"/data/local-files/?d={image}", "case": name}
        task = tasks.setdefault(name, {"data": data, "predictions": []})
        prediction = {"model_version": rater, "score": score, "result": results}
        task["predictions"].append(prediction)
        task["data"]["confidence"] = min(p["score"] for p in task["predictions"])
    least_sure_first = sorted(tasks.values(), key=lambda task: float(task["data"]["confidence"]))
    target.write_text(json.dumps(least_sure_first), encoding="utf-8")


_Found = list[tuple[str, Case, str, list[dict[str, Any]], float]]
"""Of each task and rater: the name of the task, a case of it, the rater, results, and the score."""


def _choices(outcome: Outcome) -> _Found:
    """Return the answers; questions about one image, a case each, come together in its task."""
    said = list(outcome.choices())
    are_options = {choice for _, _, choice, _ in said} <= {YES, NO}
    questions = _questions(outcome, {case.name: case for case, *_ in said})
    together: dict[tuple[str, str], list[tuple[Case, str, str, float]]] = {}
    for case, rater, choice, sure in said:
        name, asked = questions.get(case.name, (case.name, _CHOICE))
        together.setdefault((name, rater), []).append((case, asked, choice, sure))
    found: _Found = []
    for (name, rater), answers in together.items():
        least = min(sure for *_, sure in answers)
        if are_options and answers[0][1] != _CHOICE:
            chosen = [asked for _, asked, choice, _ in answers if choice == YES]
            results = [_result("choices", _CHOICE, {"choices": chosen}, least)]
        else:
            results = [_result("choices", q, {"choices": [c]}, sure) for _, q, c, sure in answers]
        found.append((name, answers[0][0], rater, results, least))
    return found


def _questions(outcome: Outcome, cases: Mapping[str, Case]) -> dict[str, tuple[str, str]]:
    """Return image and question of the cases that are questions about one image.

    A name such as `IMG [1]` may as well be of an image of its own: questions are about one image,
    or where no image is known the same are asked about every item, and not by number about one.
    """
    named = {name: asked for name in cases if (asked := question_of(name)) is not None}
    by_item: dict[str, list[str]] = {}
    for name, (item, _) in named.items():
        by_item.setdefault(item, []).append(name)
    with_image = [name for name in named if cases[name].image is not None]
    if with_image:
        alike = {
            item: len({outcome.image_names[name] for name in several}) == 1
            for item, several in by_item.items()
        }
        return {name: asked for name, asked in named.items() if alike[asked[0]]}
    sets = {tuple(sorted(named[name][1] for name in several)) for several in by_item.values()}
    are_numbers = all(asked.isdigit() for _, asked in named.values())
    return named if len(sets) == 1 and (len(by_item) > 1 or not are_numbers) else {}


def _brushes(outcome: Outcome) -> _Found:
    return [
        (case.name, case, rater, *_brush(outcome, case, label))
        for case, rater, label in outcome.labels()
    ]


def _brush(outcome: Outcome, case: Case, label: LabelMap) -> tuple[list[dict[str, Any]], float]:
    """Return one result per class, and how sure the pixels are on the whole."""
    require_flat(label, case, "Label Studio")
    drawn = outcome.without_gaps(label)
    probability = outcome.probability(case)
    height, width = drawn.shape
    size = {"original_width": width, "original_height": height, "image_rotation": 0}
    results = []
    for index in np.unique(drawn[drawn > 0]).tolist():
        name = outcome.classes.names[index]
        value = {"format": "rle", "rle": encode_brush(drawn == index), "brushlabels": [name]}
        sure = confidence(probability, index, drawn == index)
        results.append(_result("brushlabels", "label", value, sure) | size)
    whole = 1.0 if probability is None else round(float(probability.max(0).mean()), 4)
    return results, whole


def _result(kind: str, tag: str, value: dict[str, Any], score: float) -> dict[str, Any]:
    names = {"from_name": tag, "to_name": "image"}
    identity = "-".join(["multirater", tag, *map(str, next(iter(reversed(value.values()))))])
    return {"id": identity, "type": kind, **names, "value": value, "score": score}
