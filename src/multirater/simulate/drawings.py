"""Coarse drawings of a case whose truth is known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial

from multirater.simulate.coarse import POLARITIES, CoarseDrawing, apply_coarse, draw_coarse
from multirater.types import Drawing, DrawingKind, LabelMap, Source

DRAWN_KINDS: dict[str, tuple[DrawingKind, ...]] = {
    "positive": ("positive",),
    "negative": ("negative",),
    "coarse": POLARITIES,
}
"""Simulated raters who draw coarsely, and which kinds of drawings each gives."""


def simulated_drawings(
    truth: Source[LabelMap],
    rater: str,
    kinds: Sequence[DrawingKind],
    *,
    ratio: float,
    noise: float,
    targets: Sequence[int],
    seed: int,
) -> Iterator[Drawing]:
    """Draw how a rater marks a case; the drawings follow from that when they are read.

    Args:
        truth: of the case.
        rater: name.
        kinds: one drawing of each.
        ratio: area, as a share of what could be drawn.
        noise: fractures and over-drawing, see `draw_coarse`.
        targets: classes that are marked.
        seed: same seed, same drawings.
    """
    for kind in kinds:
        drawn = draw_coarse(kind, ratio=ratio, noise=noise, targets=targets, seed=seed)
        source = Source(partial(_apply, truth, drawn))
        yield Drawing(rater, kind, source, json.dumps(drawn.to_dict()))


def _apply(truth: Source[LabelMap], drawing: CoarseDrawing) -> LabelMap:
    true = truth.read()
    label = apply_coarse(true.array, drawing, true.geometry.spacing)
    return LabelMap(label, true.geometry, "simulated")
