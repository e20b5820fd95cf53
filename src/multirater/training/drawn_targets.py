"""What methods for coarse drawings train on.

Either every drawing as it is, as the label of a rater of its own (`anna (positive)`), or one label
per case made of its drawings: a mask, by the image, or seeds, or boxes. Masks that raters gave stay
what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from multirater.errors import Fault, InputError
from multirater.nn.coarse import RaterKind
from multirater.training.drawing_masks import (
    MASKS_OF_SEEDS,
    USE_NEGATIVE,
    MaskOfSeeds,
    filled_boxes,
    seeds_alone,
    seeds_of,
)
from multirater.training.targets import Prepare
from multirater.types import Case, Classes, Dataset, Drawing, DrawingKind, LabelMap, Source

_SUFFIXES: dict[DrawingKind, str] = {"positive": " (positive)", "negative": " (negative)"}
_BOTH: tuple[DrawingKind, ...] = ("positive", "negative")

SEEDS, BOXES = "drawings (positive)", "boxes (positive)"
"""Raters whose label is made of all drawings of a case; their kind is `positive`."""


def drawn_name(drawing: Drawing) -> str:
    """Return the name under which a drawing's rater is trained on: one per kind of drawing."""
    return drawing.rater + _SUFFIXES[drawing.kind]


def kind_of(rater: str) -> RaterKind:
    """Return what a rater of a prepared data set gives.

    Example:
        >>> kind_of("anna (negative)"), kind_of("anna")
        ('negative', 'mask')
    """
    return next((kind for kind, suffix in _SUFFIXES.items() if rater.endswith(suffix)), "mask")


def as_drawn(dataset: Dataset) -> Dataset:
    """Train on masks and drawings, each drawing as the label of a rater of its own."""
    _require_names(dataset.raters)
    require_drawings(dataset)
    cases = tuple(
        replace(case, labels={**case.labels, **{drawn_name(d): d.source for d in case.drawings}})
        for case in dataset
    )
    drawers = sorted({drawn_name(drawing) for case in dataset for drawing in case.drawings})
    return replace(dataset, cases=cases, raters=(*dataset.raters, *drawers))


def on_mask_of_drawings(dataset: Dataset, method: str) -> Dataset:
    """Train on one mask per case that has drawings and no mask of a rater."""
    kinds = _BOTH if method in USE_NEGATIVE else _BOTH[:1]
    return _on_one_label(dataset, method, MASKS_OF_SEEDS[method], kinds, method)


def mask_of_drawings(method: str) -> Prepare:
    """Return the preparation that makes masks by a method."""
    return partial(on_mask_of_drawings, method=method)


def on_seeds(dataset: Dataset) -> Dataset:
    """Train on the seeds of every case that has drawings and no mask of a rater.

    They are the label of one more rater, who leaves out what is undrawn or contradictory.
    """
    _require_names(dataset.raters)
    return _on_one_label(dataset, SEEDS, seeds_alone, _BOTH, SEEDS)


def on_boxes(dataset: Dataset) -> Dataset:
    """Train on the boxes around positive drawings, filled, background outside."""
    _require_names(dataset.raters)
    return _on_one_label(dataset, BOXES, filled_boxes, _BOTH[:1], "local-to-global")


def _on_one_label(
    dataset: Dataset,
    name: str,
    label_of: MaskOfSeeds,
    kinds: Sequence[DrawingKind],
    method: str,
) -> Dataset:
    """Give every case that has drawings of some kinds, and no mask, one label made of them."""
    require_drawings(dataset)
    require_kinds(dataset, kinds, method)
    classes = dataset.classes or Classes.numbered(2)
    cases = []
    for case in dataset:
        used = [drawing for drawing in case.drawings if drawing.kind in kinds]
        if used and not case.labels:
            source = Source(partial(_label, case, used, len(classes), name, label_of))
            case = replace(case, labels={name: source})
        cases.append(case)
    return replace(dataset, cases=tuple(cases), raters=(*dataset.raters, name))


def _label(
    case: Case, drawings: Sequence[Drawing], n_classes: int, name: str, label_of: MaskOfSeeds
) -> LabelMap:
    image = case.read_image()
    if image is None:
        raise InputError(Fault("has no image", fix="training needs images", case=case.name))
    read = [(drawing.kind, case.read_drawing(drawing)) for drawing in drawings]
    seeds = seeds_of(
        [drawn.array for kind, drawn in read if kind == "positive"],
        [drawn.array for kind, drawn in read if kind == "negative"],
        n_classes,
    )
    try:
        label = label_of(image.array, seeds)
    except InputError as error:
        raise error.at(case=case.name) from None
    return LabelMap(label, read[0][1].geometry, f"made of drawings by {name}")


def _require_names(raters: Sequence[str]) -> None:
    faults = [
        Fault(
            "rater's name ends like that of a kind of drawing",
            fix="rename the rater",
            rater=rater,
        )
        for rater in raters
        if kind_of(rater) != "mask"
    ]
    if faults:
        raise InputError(faults)


def require_drawings(dataset: Dataset) -> None:
    """Refuse a data set without anything drawn."""
    if not any(case.drawings or case.labels for case in dataset):
        raise InputError(
            Fault(
                "no case has a drawing or a label",
                expected="rows of kind positive, negative or mask",
                fix="fill in the column `kind` of the manifest",
            )
        )


def require_kinds(dataset: Dataset, kinds: Sequence[DrawingKind], method: str) -> None:
    """Refuse drawings of which a method looks at none."""
    found = {drawing.kind for case in dataset for drawing in case.drawings}
    if found.isdisjoint(kinds) and not any(case.labels for case in dataset):
        raise InputError(
            Fault(
                f"only {' and '.join(sorted(found))} drawings, which {method} does not look at",
                expected=f"{' or '.join(kinds)} drawings, or masks",
                fix="choose --method coarse or partial",
            )
        )
