"""Coarse drawings: a part of each object is marked, roughly (Coarse, 4.2 and 4.5).

A *positive* drawing says "this is class k", a *negative* one "this is not class k". Both are label
maps of the same form: k where something was drawn for class k, -1 everywhere else. Undrawn is
never background.

What can be drawn for class k is its *ground*: the object itself for a positive drawing, everything
else for a negative one. The drawing covers `ratio` times the area of its ground,
and at least one pixel:

- ratio 1: all of it;
- 0.05 to 1: the pixels nearest to a random central point, with an uneven outline;
- up to 0.05: a scribble, a curve that runs along the middle of the ground to its edge; as thin as
  the area allows.

Noise adds the errors of a hasty hand: fractures in the drawing, and a part of it that crosses the
outline on to pixels where it is false. Neither changes the area: what is drawn on the wrong side
or left out in a gap is missing, or added, elsewhere. So at ratio 1 gaps stay open only as far as
the drawing has spilled over.

With several target classes, a positive drawing holds each of them. A negative drawing can name one
class per pixel: the target whose object is nearest, other than the pixel's own class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.simulate.fractures import Cut, cut_shape, draw_cuts
from multirater.simulate.inputs import (
    Spacing,
    as_label_map,
    as_spacing,
    require_choice,
    require_range,
)
from multirater.simulate.scribble import scribble_order
from multirater.simulate.shape import Field, Mask, depth, half_thickness, lowest, smooth_noise
from multirater.types import MISSING, DrawingKind

Polarity = DrawingKind
POLARITIES: tuple[Polarity, ...] = get_args(Polarity)

COARSE_RATIOS = (1.0, 0.8, 0.5, 0.3, 0.01)
"""The area ratios the paper compares; the last is a scribble."""

_SCRIBBLE = 0.05
_UNEVEN = 0.2


@dataclass(frozen=True)
class Stroke:
    """Everything that was drawn at random for one class of a coarse drawing.

    Attributes:
        target: the class the drawing speaks of.
        centre: the central point, as a fraction of the ground's pixels counted in array order; a
            scribble starts here.
        edge: where a scribble ends, as a fraction of the far pixels on the ground's edge.
        spill: area drawn on the wrong side of the outline, as a share of the drawing; or, if that
            is smaller, of what a drawing of this ratio would cover there. So of all that is said of
            an object's pixels, the wrong share is about the same for every ratio.
        cuts: fractures.
        outline_seed: seed of the random field that makes the outline uneven.
    """

    target: int
    centre: float
    edge: float
    spill: float
    cuts: tuple[Cut, ...]
    outline_seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values for JSON."""
        return {**asdict(self), "cuts": [cut.to_dict() for cut in self.cuts]}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Stroke:
        """Return the parameters that `to_dict` described."""
        return Stroke(**{**values, "cuts": tuple(map(Cut.from_dict, values["cuts"]))})


@dataclass(frozen=True)
class CoarseDrawing:
    """The parameters of one coarse drawing: which side, how much, how noisy, a stroke per class."""

    polarity: Polarity
    ratio: float
    noise: float
    strokes: tuple[Stroke, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values for JSON."""
        return {**asdict(self), "strokes": [stroke.to_dict() for stroke in self.strokes]}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> CoarseDrawing:
        """Return the parameters that `to_dict` described."""
        return CoarseDrawing(
            **{**values, "strokes": tuple(map(Stroke.from_dict, values["strokes"]))}
        )


def draw_coarse(
    polarity: Polarity,
    *,
    ratio: float,
    noise: float = 1.0,
    targets: Sequence[int] = (1,),
    seed: int,
) -> CoarseDrawing:
    """Draw how a case is marked; nothing about the case has to be known.

    Args:
        polarity: `positive` ("this is class k") or `negative` ("this is not class k").
        ratio: area of the drawing as a share of what could be drawn, 0 to 1.
        noise: 0 for a drawing that stays on its side of the outline, without fractures. At 1,
            about 10 % of it crosses the outline, and two to four cuts, 0.4 half thicknesses wide,
            run through it.
        targets: the classes that are marked; 0, the background, may be one of them.
        seed: same seed, same drawing.

    Example:
        >>> drawing = draw_coarse("positive", ratio=0.3, seed=0)
        >>> drawing.strokes[0].target, 0.05 <= drawing.strokes[0].spill <= 0.15
        (1, True)
    """
    require_choice(polarity, POLARITIES, "polarity")
    require_range(ratio, 0.0, 1.0, "area ratio")
    require_range(noise, 0.0, np.inf, "noise")
    rng = np.random.default_rng([seed, POLARITIES.index(polarity)])
    strokes = tuple(_draw_stroke(rng, int(target), noise) for target in targets)
    return CoarseDrawing(polarity, float(ratio), float(noise), strokes)


def _draw_stroke(rng: np.random.Generator, target: int, noise: float) -> Stroke:
    require_range(target, 0, np.inf, "target class")
    return Stroke(
        target=target,
        centre=float(rng.random()),
        edge=float(rng.random()),
        spill=min(0.1 * noise * float(rng.uniform(0.5, 1.5)), 1.0),
        cuts=draw_cuts(rng, width=0.4 * noise),
        outline_seed=int(rng.integers(2**31)),
    )


def apply_coarse(
    truth: ArrayLike, drawing: CoarseDrawing, spacing: Spacing | None = None
) -> NDArray[np.int16]:
    """Return the coarse drawing of a case. Same parameters, same drawing.

    Args:
        truth: class indices (*space), 2-D or 3-D, -1 where not labelled.
        drawing: what `draw_coarse` drew.
        spacing: voxel size in millimetres per array axis; ones when not given.

    Returns:
        (*space): class k where the drawing says "k" (positive) or "not k" (negative), else -1.

    Example:
        >>> drawing = draw_coarse("negative", ratio=1.0, noise=0.0, seed=0)
        >>> apply_coarse([[0, 1, 0]], drawing)
        array([[ 1, -1,  1]], dtype=int16)
    """
    label = as_label_map(truth)
    sizes = as_spacing(spacing, label.ndim)
    drawn = np.full_like(label, MISSING)
    targets = [stroke.target for stroke in drawing.strokes]
    grounds = _grounds(label, targets, drawing.polarity, sizes)
    for stroke, ground in zip(drawing.strokes, grounds, strict=True):
        positive = drawing.polarity == "positive"
        wrong = ((label == stroke.target) != positive) & (label != MISSING)
        free = drawn == MISSING
        mark = _mark(ground, free, wrong & free, stroke, drawing.ratio, sizes)
        drawn[mark] = stroke.target
    return drawn


def simulate_coarse(
    truth: ArrayLike,
    polarity: Polarity,
    *,
    ratio: float,
    noise: float = 1.0,
    targets: Sequence[int] | None = None,
    spacing: Spacing | None = None,
    seed: int,
) -> tuple[NDArray[np.int16], CoarseDrawing]:
    """Draw the parameters and apply them: `draw_coarse`, then `apply_coarse`.

    Args:
        truth: class indices (*space), 2-D or 3-D, -1 where not labelled.
        polarity: `positive` ("this is class k") or `negative` ("this is not class k").
        ratio: area of the drawing as a share of what could be drawn, 0 to 1.
        noise: 0 for none, see `draw_coarse`.
        targets: the classes that are marked; every foreground class of the truth when not given.
        spacing: voxel size in millimetres per array axis; ones when not given.
        seed: same seed, same drawing.

    Example:
        >>> truth = np.zeros((20, 20), dtype=np.int16)
        >>> truth[5:15, 5:15] = 1
        >>> label, _ = simulate_coarse(truth, "positive", ratio=0.5, noise=0.0, seed=0)
        >>> np.unique(label), int((label == 1).sum())
        (array([-1,  1], dtype=int16), 50)
    """
    array = as_label_map(truth)
    if targets is None:
        targets = np.unique(array[array > 0]).tolist() or [1]
    drawing = draw_coarse(polarity, ratio=ratio, noise=noise, targets=targets, seed=seed)
    return apply_coarse(array, drawing, spacing), drawing


def _grounds(
    truth: NDArray[np.int16],
    targets: Sequence[int],
    polarity: Polarity,
    spacing: NDArray[np.float64],
) -> Iterable[Mask]:
    """Return what can be drawn for each target; grounds of different targets do not overlap."""
    if polarity == "positive":
        return [truth == target for target in targets]
    known = truth != MISSING
    if len(targets) == 1:
        return [known & (truth != targets[0])]
    away = np.stack([_distance_to(truth == target, spacing) for target in targets])
    for target, distance in zip(targets, away, strict=True):
        distance[truth == target] = np.inf
    nearest = away.argmin(axis=0)
    return [known & (truth != target) & (nearest == i) for i, target in enumerate(targets)]


def _distance_to(shape: Mask, spacing: NDArray[np.float64]) -> Field:
    """Return the distance to the nearest pixel of the shape in mm, very far if there is none."""
    if not shape.any():
        return np.full(shape.shape, np.finfo(float).max)
    return depth(~shape, spacing)


def _mark(
    ground: Mask,
    free: Mask,
    wrong: Mask,
    stroke: Stroke,
    ratio: float,
    spacing: NDArray[np.float64],
) -> Mask:
    """Return the pixels drawn for one class: most on its ground, a few on the wrong side."""
    if ratio == 0 or not ground.any():
        return np.zeros_like(ground)
    area = max(round(ratio * int(np.count_nonzero(ground))), 1)
    spilled = round(stroke.spill * min(area, ratio * int(np.count_nonzero(wrong))))
    unit = half_thickness(depth(ground, spacing))
    noise = smooth_noise(ground.shape, unit, spacing, seed=stroke.outline_seed)
    order = _order(ground, stroke, ratio, noise, spacing)
    order[~cut_shape(ground, stroke.cuts, spacing)] += np.ptp(order) + 1.0
    mark = lowest(order, ground & free, area - spilled)
    if not mark.any():
        return mark
    beside = _distance_to(mark, spacing) / unit + _UNEVEN * noise
    return mark | lowest(beside, wrong, spilled)


def _order(
    ground: Mask, stroke: Stroke, ratio: float, noise: Field, spacing: NDArray[np.float64]
) -> Field:
    """Return in which order the pixels of the ground are drawn, lowest first."""
    places = np.argwhere(ground)
    centre = places[int(stroke.centre * len(places))]
    if ratio <= _SCRIBBLE:
        return scribble_order(ground, centre, stroke.edge, spacing)
    axes = np.ogrid[tuple(slice(size) for size in ground.shape)]
    steps = zip(axes, centre, spacing, strict=True)
    squares = sum(((axis - middle) * step) ** 2 for axis, middle, step in steps)
    return np.asarray(np.sqrt(squares) * np.exp(_UNEVEN * noise))
