"""Cuts across a shape, at random points of its centre line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.simulate.shape import Mask, centre_line, depth, half_thickness

_REACH = 2.0
"""How far a cut reaches to both sides of the centre line, in local half thicknesses."""

_TILT = 0.4
"""Weight of the drawn direction against the direction of the stroke."""


@dataclass(frozen=True)
class Cut:
    """One cut. It does not depend on the shape, and fits any shape of one to three axes.

    Attributes:
        position: where on the centre line, as a fraction of its points counted in array order.
        width: width of the gap in mean half thicknesses of the shape.
        direction: a unit vector in millimetre space, one value per array axis (the first ones are
            used when there are fewer axes). The cut runs across the stroke and is tilted by this
            direction; where the shape is not elongated, the cut is perpendicular to it.
        offset: how far the cut is moved along `direction`, in local half thicknesses, so that
            cuts through a round object do not all meet in its middle.
    """

    position: float
    width: float
    direction: tuple[float, float, float]
    offset: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the cut as plain values for JSON."""
        return {**asdict(self), "direction": list(self.direction)}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Cut:
        """Return the cut that `to_dict` described."""
        first, second, third = values["direction"]
        way = (float(first), float(second), float(third))
        return Cut(values["position"], values["width"], way, values["offset"])


def draw_cuts(rng: np.random.Generator, *, width: float) -> tuple[Cut, ...]:
    """Draw two to four cuts whose gaps are `width` mean half thicknesses wide, give or take 30 %.

    No cut is drawn for width 0; the numbers taken from `rng` are the same for every width.
    """
    count = int(rng.integers(2, 5))
    positions, widths = rng.random(4), width * rng.uniform(0.7, 1.3, size=4)
    offsets = rng.uniform(0.0, 0.8, size=4)
    directions = rng.standard_normal((4, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    if width == 0:
        return ()
    return tuple(
        Cut(float(positions[i]), float(widths[i]), (*directions[i].tolist(),), float(offsets[i]))
        for i in range(count)
    )


def cut_shape(shape: Mask, cuts: tuple[Cut, ...], spacing: NDArray[np.float64]) -> Mask:
    """Return the shape without the gaps. A cut that would leave nothing is skipped."""
    left = shape.copy()
    if not cuts or not shape.any():
        return left
    depths = depth(shape, spacing)
    unit = half_thickness(depths)
    line, places = np.argwhere(centre_line(shape)), np.argwhere(shape)
    for cut in cuts:
        centre = line[int(cut.position * len(line))]
        local = float(depths[tuple(centre)])
        gap = places[_in_gap((places - centre) * spacing, cut, local, unit)]
        fractured = left.copy()
        fractured[tuple(gap.T)] = False
        left = fractured if fractured.any() else left
    return left


def _in_gap(steps: NDArray[np.float64], cut: Cut, local: float, unit: float) -> Mask:
    """Return which pixels a cut removes.

    Args:
        steps: (n, axes), from a point of the centre line to each pixel, in mm.
        cut: the cut at this point.
        local: half thickness at this point, in mm.
        unit: mean half thickness of the shape, in mm.
    """
    direction = np.asarray(cut.direction[: steps.shape[1]])
    gap: Mask = (steps**2).sum(axis=1) <= (_REACH * local) ** 2
    way = _across(steps[gap], direction)
    moved = steps[gap] - cut.offset * local * direction
    gap[gap] = np.abs(moved @ way) <= cut.width * unit / 2
    return gap


def _across(steps: NDArray[np.float64], direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the unit vector perpendicular to the cut: along the stroke, tilted by `direction`."""
    spread = steps.T @ steps / len(steps)
    values, vectors = np.linalg.eigh(spread)
    stroke, longest = vectors[:, -1], values[-1]
    second = values[-2] if len(values) > 1 else 0.0
    elongation = 1.0 - second / longest if longest > 0 else 0.0
    # The sign of an eigenvector is arbitrary; tie it to the drawn direction.
    towards = 1.0 if stroke @ direction >= 0 else -1.0
    way = elongation * towards * stroke + _TILT * direction
    return way / max(float(np.linalg.norm(way)), 1e-12)
