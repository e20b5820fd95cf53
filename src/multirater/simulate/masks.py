"""Raters who draw masks and err in known ways (Zhang 2020, A.1).

Five kinds of rater:

| kind | what they do | drawn for strength s, with a spread of 30 % from case to case |
| --- | --- | --- |
| `good` | an uneven outline | 2 % · s of the area lost, as much gained (spread 50 %) |
| `over` | thicken | the object covers 1 + s times its area |
| `under` | thin | the object covers 1 / (1 + s) of its area |
| `wrong` | thicken and fracture | 1 + 3/4 · s times its area, then two to four cuts |
| `blank` | draw nothing | everything is background, whatever the strength |

Strength is measured in *area* (volume in 3-D), not in pixels: strength 1 doubles or halves the
object, be it a stroke of three pixels or a lesion of a thousand, in any dimension and with any
voxel spacing. To first order the outline of a stroke then moves by s half thicknesses. It also
makes strength continuous, and for `over`, `under` the Dice score known: 2 / (2 + s).

Which pixels are gained or lost is decided by their distance to the outline in millimetres plus a
smooth random field, so that the new outline is uneven as if drawn by hand. Thinning takes the
centre line last, so that thin parts do not vanish while thick ones still stand.

Only one class, the *target*, is redrawn. What it gains it takes from its neighbours; what it loses
goes to the nearest other class. Pixels of the truth that are not labelled (-1) stay so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

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
from multirater.simulate.shape import Mask, centre_line, level, lowest, smooth_noise
from multirater.types import MISSING

MaskKind = Literal["good", "over", "under", "wrong", "blank"]
MASK_KINDS: tuple[MaskKind, ...] = get_args(MaskKind)

_TARGET_STREAM = 5
"""Of the random numbers that choose the target; kinds draw from those before and after it, so that
a new kind changes nothing that others draw."""

_STRONGEST = 1e6
"""Strength beyond which an object of a pixel has grown over all images there are."""

_CUT_WIDTH = 0.6
"""Width of a cut at strength 1 in half thicknesses: a third of a stroke's width."""


@dataclass(frozen=True)
class MaskError:
    """Everything that was drawn at random for one mask of one rater.

    Attributes:
        kind: the kind of rater.
        target: the class that is redrawn.
        strength: as it was asked for.
        growth: area gained, as a share of the object's area.
        loss: area lost, as a share of the object's area.
        roughness: unevenness of the outline (standard deviation) in half thicknesses.
        cuts: fractures; they depend on no mask.
        outline_seed: seed of the random field that makes the outline uneven.
    """

    kind: MaskKind
    target: int
    strength: float
    growth: float = 0.0
    loss: float = 0.0
    roughness: float = 0.0
    cuts: tuple[Cut, ...] = ()
    outline_seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values for JSON."""
        return {**asdict(self), "cuts": [cut.to_dict() for cut in self.cuts]}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> MaskError:
        """Return the parameters that `to_dict` described."""
        cuts = tuple(Cut.from_dict(cut) for cut in values["cuts"])
        return MaskError(**{**values, "cuts": cuts})


def draw_mask_error(
    kind: MaskKind,
    *,
    strength: float = 1.0,
    n_classes: int = 2,
    target: int | None = None,
    seed: int,
) -> MaskError:
    """Draw how a rater errs on one case; nothing about the case has to be known.

    Args:
        kind: `good`, `over`, `under`, `wrong` or `blank`.
        strength: size of the error, 0 for none (`blank` is blank at any strength).
        n_classes: number of classes, background included.
        target: the class to redraw; one of 1 ... n_classes - 1 is drawn when it is not given.
        seed: same seed, same error. Different kinds draw different numbers from one seed.

    Example:
        >>> error = draw_mask_error("over", strength=1.0, seed=0)
        >>> 0.7 <= error.growth <= 1.3
        True
    """
    require_choice(kind, MASK_KINDS, "kind of rater")
    require_range(strength, 0.0, _STRONGEST, "strength")
    place = MASK_KINDS.index(kind)
    rng = np.random.default_rng([seed, place + (place >= _TARGET_STREAM)])
    drawn_target = int(rng.integers(1, max(n_classes, 2)))
    if target is not None:
        require_range(target, 1, n_classes - 1, "target class")
    amount = strength * float(rng.uniform(0.7, 1.3))
    swapped = min(0.02 * strength * float(rng.uniform(0.5, 1.5)), 1.0)
    roughness, outline_seed = float(rng.uniform(0.1, 0.25)), int(rng.integers(2**31))
    # Strength is an area; a width grows with its root, and cuts stay small.
    cuts = draw_cuts(rng, width=_CUT_WIDTH * float(np.sqrt(strength)))
    growth = {"good": swapped, "over": amount, "wrong": 0.75 * amount}
    loss = {"good": swapped, "under": amount / (1 + amount)}
    return MaskError(
        kind=kind,
        target=drawn_target if target is None else target,
        strength=float(strength),
        growth=growth.get(kind, 0.0),
        loss=loss.get(kind, 0.0),
        roughness=roughness,
        cuts=cuts if kind == "wrong" else (),
        outline_seed=outline_seed,
    )


def apply_mask_error(
    truth: ArrayLike, error: MaskError, spacing: Spacing | None = None
) -> NDArray[np.int16]:
    """Return the label a rater draws who errs this way. Same error, same label.

    Args:
        truth: class indices (*space), 2-D or 3-D, -1 where not labelled.
        error: what `draw_mask_error` drew.
        spacing: voxel size in millimetres per array axis; ones when not given.

    Returns:
        Class indices (*space). The truth itself where the target class does not occur.

    Example:
        >>> truth = np.zeros((9, 9), dtype=np.int16)
        >>> truth[3:6, 3:6] = 1
        >>> label = apply_mask_error(truth, MaskError("over", target=1, strength=1.0, growth=1.0))
        >>> int(truth.sum()), int(label.sum())
        (9, 18)
    """
    label = as_label_map(truth)
    sizes = as_spacing(spacing, label.ndim)
    if error.kind == "blank":
        return np.where(label == MISSING, label, np.int16(0))
    shape = label == error.target
    if shape.any():
        window = _window(shape, sizes, error.growth)
        label[window] = _redraw(label[window], shape[window], error, sizes)
    return label


def simulate_mask(
    truth: ArrayLike,
    kind: MaskKind,
    *,
    strength: float = 1.0,
    target: int | None = None,
    spacing: Spacing | None = None,
    seed: int,
) -> tuple[NDArray[np.int16], MaskError]:
    """Draw an error and apply it: `draw_mask_error`, then `apply_mask_error`.

    Args:
        truth: class indices (*space), 2-D or 3-D, -1 where not labelled.
        kind: `good`, `over`, `under`, `wrong` or `blank`.
        strength: size of the error, see the module.
        target: the class to redraw; when not given, one of the foreground classes that occur in
            the truth is drawn.
        spacing: voxel size in millimetres per array axis; ones when not given.
        seed: same seed, same label.

    Example:
        >>> truth = np.zeros((9, 9), dtype=np.int16)
        >>> truth[3:6, 3:6] = 1
        >>> label, error = simulate_mask(truth, "under", seed=0)
        >>> bool(((label == 1) <= (truth == 1)).all())
        True
    """
    array = as_label_map(truth)
    present = np.unique(array[array > 0])
    if target is None and present.size:
        # A stream of its own: the choice must not shift the other numbers drawn.
        target = int(np.random.default_rng([seed, _TARGET_STREAM]).choice(present))
    highest = max(1, target or 1, *present.tolist())
    error = draw_mask_error(
        kind, strength=strength, n_classes=highest + 1, target=target, seed=seed
    )
    return apply_mask_error(array, error, spacing), error


def _window(shape: Mask, spacing: NDArray[np.float64], growth: float) -> tuple[slice, ...]:
    """Return the part of the image in which the object may grow, to keep large images quick.

    An object that is g times larger than before has moved its outline by at most g times half its
    smallest extent, unless the border of the image stops it on some sides: then the window stops
    it from running away on the others.
    """
    from scipy.ndimage import find_objects

    box = find_objects(shape.astype(np.int8))[0]
    extent = np.array([part.stop - part.start for part in box]) * spacing
    margin = np.ceil(growth * extent.min() / 2 / spacing).astype(int) + 2
    return tuple(
        slice(max(part.start - more, 0), part.stop + more)
        for part, more in zip(box, margin.tolist(), strict=True)
    )


def _redraw(
    label: NDArray[np.int16], shape: Mask, error: MaskError, spacing: NDArray[np.float64]
) -> NDArray[np.int16]:
    """Return the label with the target's shape gained, lost and cut."""
    area = int(np.count_nonzero(shape))
    gained, lost = round(error.growth * area), round(error.loss * area)
    levels, unit = level(shape, spacing)
    levels += error.roughness * smooth_noise(shape.shape, unit, spacing, seed=error.outline_seed)
    drawn = shape | lowest(levels, ~shape & (label != MISSING), gained)
    drawn &= ~_outermost(levels, shape, min(lost, area - 1))
    drawn = cut_shape(drawn, error.cuts, spacing)
    redrawn = _give_way(label, shape & ~drawn, error.target, spacing)
    redrawn[drawn] = error.target
    return redrawn


def _outermost(levels: NDArray[np.float64], shape: Mask, count: int) -> Mask:
    """Return the `count` pixels of the shape nearest to its outline, the centre line last."""
    if not count:
        return np.zeros_like(shape)
    inwards = -levels
    inwards[centre_line(shape)] += np.ptp(levels) + 1.0
    return lowest(inwards, shape, count)


def _give_way(
    label: NDArray[np.int16], lost: Mask, target: int, spacing: NDArray[np.float64]
) -> NDArray[np.int16]:
    """Return the label with lost pixels given to the nearest other class (background if none)."""
    from scipy.ndimage import distance_transform_edt

    redrawn = label.copy()
    other = (label != target) & (label != MISSING)
    if not other.any():
        redrawn[lost] = 0
    elif lost.any():
        nearest = distance_transform_edt(
            ~other, sampling=spacing, return_distances=False, return_indices=True
        )
        redrawn[lost] = label[tuple(nearest)][lost]
    return redrawn
