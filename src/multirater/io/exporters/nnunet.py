"""A raw folder for nnU-Net v2: images, labels, `dataset.json` and `splits_final.json`.

A fusion gives `labelsTr/`, and its probabilities, where there are any, `softTr/<case>_<class>`.
With several raters `labelsTr/` holds stacks: each value stands for one pattern of all raters'
labels, listed in `dataset.json`, which nnU-Net crops and resamples as any label.
Each rater's own labels lie in `labelsTr_<rater>/`. Images that nobody labelled go to `imagesTs/`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.exporters.outcome import Outcome
from multirater.io.formats.images import write_image
from multirater.io.formats.labels import write_label
from multirater.io.naming import file_names
from multirater.nnunet import TRAINERS
from multirater.patterns import encode_patterns
from multirater.progress import track
from multirater.types import MISSING, Case, Geometry, Image, LabelMap

_FOLDS = 5
_MOST_PATTERNS = 250


def write_export(outcome: Outcome, target: Path) -> None:
    """Fill a folder `DatasetNNN_Name`."""
    outcome.require_kind("masks", "nnU-Net")
    cases = [case for case in outcome.dataset if case.labels or case.image is not None]
    labelled = [case for case in cases if case.labels]
    names = file_names(case.name for case in cases)
    folders = file_names(outcome.dataset.raters)
    ending, channels = _format(labelled)
    stacks = _Stacks(len(outcome.dataset.raters))
    has_gaps = False
    for case in track(cases, "exporting", len(cases)):
        part = "Ts" if case.split == "test" or not case.labels else "Tr"
        name = names[case.name]
        _write_image(case, target, part, name, ending)
        if not case.labels:
            continue
        labels = case.read_labels(outcome.dataset.raters)
        has_gaps = has_gaps or bool((labels.array == MISSING).any())
        if outcome.is_one_rater:
            array = np.where(labels.array[0] == MISSING, len(outcome.classes), labels.array[0])
            _write_soft(outcome, case, labels.geometry, target / f"soft{part}", name)
        else:
            array = stacks.encode(labels.array)
            for rater, drawn in zip(labels.raters, labels.array, strict=True):
                if rater in case.labels:
                    filled = np.where(drawn == MISSING, len(outcome.classes), drawn)
                    folder = target / f"labels{part}_{folders[rater]}"
                    write_label(LabelMap(filled, labels.geometry), folder / f"{name}{ending}")
        stored = LabelMap(array.astype(np.int16), labels.geometry)
        write_label(stored, target / f"labels{part}" / f"{name}{ending}")
    _write_json(outcome, target, labelled, names, ending, channels, stacks, has_gaps)
    if not outcome.is_one_rater:
        outcome.notes.append(
            f"labelsTr holds stacks: export nnUNet_extTrainer={TRAINERS}, and train with -tr "
            "nnUNetTrainerMultirater; other trainers take labelsTr_<rater>"
        )


class _Stacks:
    """Numbers the patterns of all raters' labels as they are met; 0 is background by all."""

    def __init__(self, n_raters: int) -> None:
        self.numbers: dict[tuple[int, ...], int] = {(0,) * n_raters: 0}

    def encode(self, labels: NDArray[np.int16]) -> NDArray[np.int64]:
        found = encode_patterns(labels)
        codes = []
        for row in found.rows.tolist():
            codes.append(self.numbers.setdefault(tuple(row), len(self.numbers)))
        if len(self.numbers) > _MOST_PATTERNS:
            raise InputError(
                Fault(
                    f"more than {_MOST_PATTERNS} patterns of raters' labels",
                    expected="fewer raters or classes",
                    fix="choose some of the raters by --raters",
                )
            )
        return np.asarray(np.array(codes)[found.index])


def _format(cases: Sequence[Case]) -> tuple[str, int]:
    """Return the suffix of all files, and the number of channels, which nnU-Net wants equal."""
    image = None if not cases or cases[0].image is None else cases[0].read_image()
    if image is None:
        raise InputError(Fault("has no images", expected="an image per case", fix="add the images"))
    flat = len(image.space) == 2 and image.array.dtype == np.uint8 and len(image.array) in (1, 3)
    return (".png" if flat else ".nii.gz"), len(image.array)


def _write_image(case: Case, target: Path, part: str, name: str, ending: str) -> None:
    image = case.read_image()
    if image is None:
        raise InputError(Fault("has no image", fix="add it, or leave the case out", case=case.name))
    folder = target / f"images{part}"
    if ending == ".png":  # colours are channels of one file
        write_image(image, folder / f"{name}_0000{ending}")
        return
    for number, channel in enumerate(image.array):
        single = Image(np.asarray(channel[None]), image.geometry)
        write_image(single, folder / f"{name}_{number:04d}{ending}")


def _write_soft(outcome: Outcome, case: Case, geometry: Geometry, folder: Path, name: str) -> None:
    probability = outcome.probability(case)
    for index, share in enumerate(() if probability is None else probability):
        soft = Image(np.asarray(share[None], dtype=np.float32), geometry)
        write_image(soft, folder / f"{name}_{index:04d}.nii.gz")


def _write_json(
    outcome: Outcome,
    target: Path,
    cases: Sequence[Case],
    names: dict[str, str],
    ending: str,
    channels: int,
    stacks: _Stacks,
    has_gaps: bool,
) -> None:
    training = [case for case in cases if case.split != "test"]
    labels = _labels(outcome.classes.names, has_gaps)
    stack: dict[str, object] = {}
    if not outcome.is_one_rater:
        patterns = [list(pattern) for pattern in stacks.numbers]
        raters = {"raters": outcome.dataset.raters, "classes": outcome.classes.names}
        stack = {"multirater": raters | {"patterns": patterns}}
        stacked = [f"pattern {number}" for number in range(1, len(patterns))]
        labels = _labels(("background", *stacked), False)
    described = {
        "channel_names": {str(number): f"channel {number}" for number in range(channels)},
        "labels": labels,
        "numTraining": len(training),
        "file_ending": ending,
    }
    _save(target / "dataset.json", described | stack)
    _save(target / "splits_final.json", _splits(training, names))


def _labels(names: Sequence[str], has_gaps: bool) -> dict[str, int]:
    found = {name: index for index, name in enumerate(("background", *names[1:]))}
    return found | ({"ignore": len(names)} if has_gaps else {})


def _splits(cases: Sequence[Case], names: dict[str, str]) -> list[dict[str, list[str]]]:
    """Return folds that keep the cases of a patient together; one where `val` is told."""
    if any(case.split == "val" for case in cases):
        held = [case.split == "val" for case in cases]
        return [_fold(cases, held, names)]
    patients: dict[str, int] = defaultdict(lambda: len(patients))
    numbers = [patients[case.patient or f"case {case.name}"] for case in cases]
    n_folds = min(_FOLDS, len(patients))
    return [_fold(cases, [n % n_folds == k for n in numbers], names) for k in range(n_folds)]


def _fold(
    cases: Sequence[Case], held: Sequence[bool], names: dict[str, str]
) -> dict[str, list[str]]:
    both = list(zip(cases, held, strict=True))
    return {
        "train": [names[case.name] for case, out in both if not out],
        "val": [names[case.name] for case, out in both if out],
    }


def _save(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
