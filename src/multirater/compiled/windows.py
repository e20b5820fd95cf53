"""Sums over the window around each pixel, by running sums in double precision.

Pixels are planes of lines (`as_planes`): an image is planes of one line each. A block is some of
the planes; windows reach beyond it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.compiled import compile_loop

Map = NDArray[np.float32]
Sums = NDArray[np.float64]


def as_planes(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Lay out one to three axes as planes of lines.

    Example:
        >>> as_planes((512, 256)), as_planes((30, 512, 256))
        ((512, 1, 256), (30, 512, 256))
    """
    first, *rest = shape
    return first, rest[0] if len(rest) == 2 else 1, rest[-1] if rest else 1


@compile_loop
def window_means(
    label: NDArray[Any], probability: Map, half: NDArray[np.int64], first: int, found: Sums
) -> None:
    """Write the mean of each probability over the window, where pixels are labelled.

    Args:
        label: planes; -1 counts as zero.
        probability: planes of each class.
        half: of the window's side per axis, rounded down; outside counts as zero.
        first: plane of the block.
        found: (n_classes, planes of the block).
    """
    height, width = label.shape[1:]
    half_y, half_x = half[1], half[2]
    scale = 1 / ((2 * half[0] + 1) * (2 * half_y + 1) * (2 * half_x + 1))
    sums = np.zeros((height, width))
    line = np.zeros(width + 2 * half_x + 1)
    for t in range(len(probability)):
        _begin(sums, label, probability[t], -1, half[0], first)
        for row in range(found.shape[1]):
            _move_on(sums, label, probability[t], -1, half[0], first, first + row)
            line[:] = 0.0
            for y in range(height):
                _move_line(line, sums, half_y, half_x, y)
                _along_line(line, half_x, scale, found[t, row, y])


@compile_loop
def window_likelihood(
    label: NDArray[Any],
    probability: Map,
    half: NDArray[np.int64],
    first: int,
    total: Sums,
    inverse: Sums,
    added: Sums,
    weight: float,
    found: Sums,
) -> None:
    """Multiply by how probable the middle pixel's label is, by the drawings in its window.

    Args:
        label: planes of one rater, -1 where missing.
        probability: planes of each true class.
        half: as in `window_means`.
        first: as in `window_means`.
        total: `window_means` plus weight, of the block.
        inverse: 1 / total, which raters share.
        added: (true, observed), added to the shares of the window.
        weight: how much `added` has in all.
        found: (n_classes, planes of the block); stays as it is where the label is missing.
    """
    height, width = label.shape[1:]
    half_y, half_x = half[1], half[2]
    scale = 1 / ((2 * half[0] + 1) * (2 * half_y + 1) * (2 * half_x + 1))
    last_class = len(probability) - 1
    sums = np.zeros((last_class, height, width))
    line = np.zeros((last_class, width + 2 * half_x + 1))
    drawn, rest = np.empty(width), np.empty(width)
    for t in range(len(probability)):
        for o in range(last_class):
            _begin(sums[o], label, probability[t], o, half[0], first)
        for row in range(found.shape[1]):
            for o in range(last_class):
                _move_on(sums[o], label, probability[t], o, half[0], first, first + row)
            line[:] = 0.0
            for y in range(height):
                said, whole, target = label[first + row, y], total[t, row, y], found[t, row, y]
                divisor = inverse[t, row, y]
                # What no other class was drawn in is left for the last one.
                for x in range(width):
                    rest[x] = whole[x] - weight + added[t, last_class]
                for o in range(last_class):
                    _move_line(line[o], sums[o], half_y, half_x, y)
                    _along_line(line[o], half_x, scale, drawn)
                    for x in range(width):
                        rest[x] = (
                            drawn[x] + added[t, o]
                            if said[x] == o
                            else (rest[x] - drawn[x] if said[x] == last_class else rest[x])
                        )
                for x in range(width):
                    share = max(rest[x] * divisor[x], 1e-30)
                    target[x] *= share if said[x] >= 0 else 1.0


@compile_loop
def _enter(sums: Sums, label: NDArray[Any], probability: Map, observed: int, sign: float) -> None:
    """Add a plane to the sums, where the label is the observed one; -1 takes all labels."""
    for y in range(sums.shape[0]):
        for x in range(sums.shape[1]):
            inside = label[y, x] == observed if observed >= 0 else label[y, x] >= 0
            sums[y, x] += sign * probability[y, x] if inside else 0.0


@compile_loop
def _begin(
    sums: Sums, label: NDArray[Any], probability: Map, observed: int, half: int, first: int
) -> None:
    """Sum the planes that the window of the plane before the block would keep."""
    sums[:] = 0.0
    for z in range(max(first - half, 0), min(first + half, len(label))):
        _enter(sums, label[z], probability[z], observed, 1.0)


@compile_loop
def _move_on(
    sums: Sums,
    label: NDArray[Any],
    probability: Map,
    observed: int,
    half: int,
    first: int,
    z: int,
) -> None:
    """Move the window to plane z."""
    if z + half < len(label):
        _enter(sums, label[z + half], probability[z + half], observed, 1.0)
    gone = z - half - 1
    if gone >= max(first - half, 0):
        _enter(sums, label[gone], probability[gone], observed, -1.0)


@compile_loop
def _move_line(line: Sums, sums: Sums, half_y: int, half_x: int, y: int) -> None:
    """Move the window to line y; the sums stand in the middle of `line`, between zeros."""
    height, width = sums.shape
    inner = line[half_x + 1 : half_x + 1 + width]
    if y == 0:
        for above in range(min(half_y, height)):
            for x in range(width):
                inner[x] += sums[above, x]
    if y + half_y < height:
        for x in range(width):
            inner[x] += sums[y + half_y, x]
    if y - half_y - 1 >= 0:
        for x in range(width):
            inner[x] -= sums[y - half_y - 1, x]


@compile_loop
def _along_line(line: Sums, half: int, scale: float, found: Sums) -> None:
    """Move the window along a line, from its beginning and from its middle at the same time.

    Each sum waits for the one before it: two of them at once cost hardly more than one.
    """
    side, middle = 2 * half + 1, found.size // 2
    left, right = 0.0, 0.0
    for x in range(side):
        left += line[x]
        right += line[middle + x]
    for x in range(middle):
        left += line[x + side] - line[x]
        right += line[middle + x + side] - line[middle + x]
        found[x] = max(left * scale, 0.0)
        found[middle + x] = max(right * scale, 0.0)
    for x in range(2 * middle, found.size):
        right += line[x + side] - line[x]
        found[x] = max(right * scale, 0.0)
