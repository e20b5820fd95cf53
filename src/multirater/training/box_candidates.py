"""Candidate masks within the boxes around positive drawings, for BoxSup.

The paper takes regions that a separate program proposes (MCG). Here each box has five candidates:
the box itself, the ellipse in it, what GrabCut cuts out, and what is brighter, or darker, than
Otsu's threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.training.drawing_masks import box_around, box_mask, seeds_of
from multirater.training.drawn_targets import require_drawings, require_kinds
from multirater.types import Case, Classes, Dataset, Drawing, LabelMap, Source

Inside = Callable[[NDArray[Any]], NDArray[np.bool_]]
"""Tells the object in the part of an image (channels, height, width) that a box cuts out."""


def _whole(image: NDArray[Any]) -> NDArray[np.bool_]:
    return np.ones(image.shape[1:], dtype=bool)


def _ellipse(image: NDArray[Any]) -> NDArray[np.bool_]:
    rows, columns = (np.linspace(-1, 1, size + 2)[1:-1] for size in image.shape[1:])
    return np.asarray(rows[:, None] ** 2 + columns[None] ** 2 <= 1.0)


def _by_threshold(image: NDArray[Any], *, brighter: bool) -> NDArray[np.bool_]:
    with extra():
        from skimage.filters import threshold_otsu
    grey = image.mean(0)
    if np.ptp(grey) == 0:
        return _whole(image)
    above = grey > threshold_otsu(grey)
    return np.asarray(above if brighter else ~above)


CANDIDATES: dict[str, Inside | None] = {
    "box": _whole,
    "ellipse in the box": _ellipse,
    "GrabCut in the box": None,
    "bright in the box": partial(_by_threshold, brighter=True),
    "dark in the box": partial(_by_threshold, brighter=False),
}
"""By the name under which a candidate is trained on; None for GrabCut, which sees all of it."""


def candidate_mask(
    image: NDArray[Any], seeds: NDArray[np.int16], inside: Inside | None
) -> NDArray[np.int16]:
    """Return class indices (height, width), background outside the boxes around what was drawn.

    Example:
        >>> seeds = np.full((4, 4), -1, dtype=np.int16); seeds[1, 1] = seeds[2, 2] = 1
        >>> candidate_mask(np.zeros((1, 4, 4)), seeds, CANDIDATES["box"])[1].tolist()
        [0, 1, 1, 0]
    """
    if inside is None or not (seeds > 0).any():
        return box_mask(image, seeds)
    found = np.zeros(seeds.shape, dtype=np.int16)
    for k in np.unique(seeds[seeds > 0]).tolist():
        box = box_around(seeds == k)
        part = inside(image[(slice(None), *box)])
        found[box][part] = k
    return found


def on_box_candidates(dataset: Dataset) -> Dataset:
    """Train on the candidates of every case that has positive drawings and no mask of a rater."""
    classes = dataset.classes or Classes.numbered(2)
    require_drawings(dataset)
    require_kinds(dataset, ("positive",), "box-sup")
    cases = []
    for case in dataset:
        used = [drawing for drawing in case.drawings if drawing.kind == "positive"]
        if used and not case.labels:
            labels = {
                name: Source(partial(_candidate, case, used, len(classes), name))
                for name in CANDIDATES
            }
            case = replace(case, labels=labels)
        cases.append(case)
    return replace(dataset, cases=tuple(cases), raters=(*dataset.raters, *CANDIDATES))


def _candidate(case: Case, drawings: Sequence[Drawing], n_classes: int, name: str) -> LabelMap:
    image = case.read_image()
    if image is None or image.array.ndim != 3:
        raise InputError(
            Fault("has no image of two axes", fix="choose another method", case=case.name)
        )
    read = [case.read_drawing(drawing) for drawing in drawings]
    seeds = seeds_of([each.array for each in read], [], n_classes)
    mask = candidate_mask(image.array, seeds, CANDIDATES[name])
    return LabelMap(mask, read[0].geometry, f"made of drawings: {name}")
