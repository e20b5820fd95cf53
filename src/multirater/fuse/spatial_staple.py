"""Spatial STAPLE (Asman & Landman 2012): raters whose skill varies over the image.

One confusion matrix per rater and pixel, estimated from a window around the pixel. The matrix of
global STAPLE acts as a prior with a fixed weight, so that a window without a class falls back on
it. Windows overlap, so the steps are not those of an exact EM: the log-likelihood usually rises,
but may not.

Class probabilities before any label come from the same window by default. With one frequency for
the whole image, a window that holds only background must still explain some of it as foreground,
and takes one rater's noise for it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from multirater.compiled import is_there
from multirater.errors import Fault, InputError
from multirater.fuse.em import Stopping, confusion_of
from multirater.fuse.fitting import Prior, is_map
from multirater.fuse.result import FusionResult
from multirater.fuse.spatial_blocks import TINY, LocalPrior, Map, normalise, step_in_blocks
from multirater.fuse.staple import staple
from multirater.metrics.class_indices import class_indices
from multirater.types import MISSING, Labels

_WORTH_COMPILING = 1 << 22
"""Sums (pixels times raters and classes) per step from which on a few steps pay for loading
compiled loops."""

_WIDEST = 2**20
"""Pixels of a window, more than any image has along an axis."""


def spatial_staple(
    labels: NDArray[Any] | Labels,
    n_classes: int | None = None,
    *,
    window: float | Sequence[float] = 31,
    spacing: Sequence[float] | None = None,
    prior: Prior | Literal["local"] = "local",
    prior_weight: float = 0.1,
    max_iter: int = 50,
    tol: float = 1e-4,
    raters: Sequence[Hashable] | None = None,
    classes: Sequence[Hashable] | None = None,
) -> FusionResult:
    """Estimate the true segmentation with confusion matrices that vary over the image.

    Args:
        labels: class indices (n_raters, *space), -1 where missing.
        n_classes: number of classes; the largest index plus one when not given.
        window: side of the window, one number or one per axis: in millimetres when `spacing` is
            given, else in pixels.
        spacing: distance between pixels per axis, in millimetres.
        prior: class probabilities: `"local"`, estimated in each window, or one for the whole image
            as in `staple`, but not a map.
        prior_weight: weight of the global matrix (and of the global class frequencies), as a share
            of the window: with 0.1 a class that fills a tenth of the window counts as much as the
            global matrix.
        max_iter: largest number of steps.
        tol: mean change of the disputed pixels' probabilities at which to stop.
        raters: names of the raters.
        classes: names of the classes.

    Returns:
        A result whose `cm` summarises each rater over the whole image; `local_confusion` gives the
        matrices of each pixel. Its `identifiability` is that of the global STAPLE it starts from.

    Example:
        >>> masks = np.zeros((3, 8, 8), dtype=np.int8)
        >>> masks[:, 2:6, 2:6] = 1
        >>> masks[0, :, :4] = 0
        >>> spatial_staple(masks, window=5).label[3].tolist()
        [0, 0, 1, 1, 1, 1, 0, 0]
    """
    if isinstance(labels, Labels):
        raters = raters or labels.raters
        labels = labels.array
    array = class_indices(labels)
    if array.ndim < 2:
        raise InputError(
            Fault(
                f"labels have shape {array.shape}",
                expected="(n_raters, *space): one label per pixel",
                fix="use `staple` or `dawid_skene` for class labels",
            )
        )
    size = window_in_pixels(window, spacing, array.ndim - 1)
    _require_weight(prior_weight)
    Stopping(max_iter, tol)  # refuses what they cannot be
    local = isinstance(prior, str) and prior == "local"
    whole = _global_staple(array, n_classes, "frequency" if local else prior, raters, classes)
    belief = LocalPrior(whole.cm, whole.prior, local, prior_weight)
    box = _disputed_box(array, size)
    inside = array[(slice(None), *box)]
    probability = np.stack([each[box] for each in whole.probability])
    probability, trace, converged = _iterate(inside, probability, belief, size, max_iter, tol)
    return _result(whole, array, box, probability, np.array(trace), converged)


def local_confusion(
    label: NDArray[Any],
    probability: NDArray[np.floating[Any]],
    *,
    window: float | Sequence[float] = 31,
    spacing: Sequence[float] | None = None,
    prior_cm: NDArray[np.float64] | None = None,
    prior_weight: float = 0.1,
) -> Map:
    """Return one rater's confusion matrix at every pixel, (true, observed, *space).

    Args:
        label: what the rater drew, (*space), -1 where missing.
        probability: of the truth, (n_classes, *space), from any fusion or network.
        window: side of the window, as in `spatial_staple`.
        spacing: distance between pixels per axis, in millimetres.
        prior_cm: (n_classes, n_classes) to fall back on; the rater's matrix over the whole image
            when not given.
        prior_weight: as in `spatial_staple`.

    Example:
        >>> truth = np.array([0, 0, 1, 1, 1, 1, 1, 1])
        >>> drawn = np.array([0, 0, 1, 1, 1, 0, 0, 0])
        >>> cm = local_confusion(drawn, np.eye(2)[truth].T, window=3, prior_weight=1e-6)
        >>> [f"{sensitivity:.2f}" for sensitivity in cm[1, 1]]
        ['0.50', '1.00', '1.00', '1.00', '0.67', '0.33', '0.00', '0.00']
    """
    label = class_indices(label)
    n_classes = len(probability)
    size = window_in_pixels(window, spacing, label.ndim)
    _require_weight(prior_weight)
    if prior_cm is None:
        prior_cm = confusion_of(expected_confusions(label[None], probability))[0]
    cm = np.empty((n_classes, n_classes, *label.shape), dtype=np.float32)
    for true in range(n_classes):
        for observed in range(n_classes):
            share = _window_mean(probability[true] * (label == observed), size)
            cm[true, observed] = share + prior_weight * prior_cm[true, observed]
        cm[true] /= cm[true].sum(0)
    return cm


def window_in_pixels(
    window: float | Sequence[float], spacing: Sequence[float] | None, ndim: int
) -> tuple[int, ...]:
    """Return the side of the window per axis, rounded to an odd number of pixels."""
    sides = np.asarray(window, dtype=float)
    steps = np.asarray(1.0 if spacing is None else spacing, dtype=float)
    shapes = {sides.shape, steps.shape} - {()}
    usable = np.all(steps > 0) and np.all(sides > 0) and np.all(np.isfinite(sides))
    if shapes - {(ndim,)} or not usable:
        raise InputError(
            Fault(
                f"window {window} with spacing {spacing}",
                expected=f"positive numbers, one or {ndim} of each",
            )
        )
    half = np.broadcast_to(np.floor(sides / steps / 2 + 1e-9), (ndim,))
    if half.max(initial=0) > _WIDEST / 2:
        raise InputError(
            Fault(
                f"window {window} with spacing {spacing} is {2 * half.max():.3g} pixels",
                expected=f"at most {_WIDEST}",
                fix="choose a smaller --window, in millimetres",
            )
        )
    return tuple(int(2 * each + 1) for each in half)


def _require_weight(prior_weight: float) -> None:
    if not 0 < prior_weight < np.inf:
        raise InputError(
            Fault(
                f"prior_weight {prior_weight}",
                expected="a positive number: without it nothing is known where a window is empty",
            )
        )


def _global_staple(
    array: NDArray[Any],
    n_classes: int | None,
    prior: Any,
    raters: Sequence[Hashable] | None,
    classes: Sequence[Hashable] | None,
) -> FusionResult:
    if is_map(prior):
        raise InputError(Fault("a prior map", expected="'local', or one prior for the whole image"))
    return staple(array, n_classes, prior=prior, raters=raters, classes=classes)


def _iterate(
    labels: NDArray[Any],
    probability: Map,
    belief: LocalPrior,
    size: tuple[int, ...],
    max_iter: int,
    tol: float,
) -> tuple[Map, list[float], bool]:
    """Repeat the step until the disputed pixels settle."""
    n_disputed = int(_disputed(labels).sum())
    trace: list[float] = []
    converged = n_disputed == 0
    while not converged and len(trace) < max_iter:
        updated, log_likelihood = _step(labels, probability, belief, size)
        change = _distance(updated, probability) / n_disputed
        trace.append(log_likelihood)
        probability = updated
        converged = change <= tol
    return probability, trace, converged


def _distance(first: Map, second: Map) -> float:
    """Total variation, summed over pixels; class by class to save memory."""
    return sum(
        float(np.abs(a - b).sum(dtype=float)) / 2 for a, b in zip(first, second, strict=True)
    )


def _step(
    labels: NDArray[Any], probability: Map, belief: LocalPrior, size: tuple[int, ...]
) -> tuple[Map, float]:
    """Estimate local matrices from the probabilities, and new probabilities from them."""
    work = labels.size * len(probability)
    if work >= _WORTH_COMPILING and labels.ndim <= 4 and is_there():
        return step_in_blocks(labels, probability, belief, size)
    joint = np.empty_like(probability)
    log_likelihood = 0.0 if not belief.local else _add_local_prior(joint, probability, belief, size)
    for true, before in enumerate(belief.prior):
        if not belief.local:
            joint[true] = np.log(max(before, TINY))
        for label, cm in zip(labels, belief.cm, strict=True):
            joint[true] += _local_log(label, probability[true], cm[true], size, belief.weight)
    return joint, log_likelihood + normalise(joint)


def _add_local_prior(
    joint: Map, probability: Map, belief: LocalPrior, size: tuple[int, ...]
) -> float:
    """Write log class shares of the window into `joint`; return what normalises them, summed."""
    whole = np.full(joint.shape[1:], belief.weight, dtype=np.float32)
    for target, values, before in zip(joint, probability, belief.prior, strict=True):
        share = _window_mean(values.copy(), size)
        whole += share
        share += np.float32(belief.weight * before)
        np.log(np.maximum(share, TINY, out=share), out=target)
    return -float(np.log(whole, out=whole).sum(dtype=float))


def _local_log(
    label: NDArray[Any],
    probability: Map,
    cm_row: NDArray[np.float64],
    size: tuple[int, ...],
    prior_weight: float,
) -> Map:
    """Log probability, for one true class, of what a rater drew; 0 where they drew nothing."""
    drawn = np.zeros(label.shape, dtype=np.float32)
    total = np.full(label.shape, prior_weight, dtype=np.float32)
    for observed, fallback in enumerate(cm_row):
        here = label == observed
        if not here.any():
            continue
        share = _window_mean(np.where(here, probability, np.float32(0)), size)
        total += share
        share += np.float32(prior_weight * fallback)
        np.copyto(drawn, share, where=here)
    drawn /= total
    np.maximum(drawn, TINY, out=drawn)
    drawn[label == MISSING] = 1.0
    return np.asarray(np.log(drawn, out=drawn))


def _window_mean(values: NDArray[Any], size: tuple[int, ...]) -> Map:
    """Mean over the window, in place; outside counts as zero, which ratios of means ignore."""
    from scipy.ndimage import uniform_filter1d

    values = np.ascontiguousarray(values, dtype=np.float32)
    for axis, side in enumerate(size):
        if side > 1:
            uniform_filter1d(values, side, axis=axis, output=values, mode="constant")
    np.maximum(values, 0, out=values)
    return values


def _disputed(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Pixels that two raters label differently."""
    high = labels.max(0)
    result = np.zeros(high.shape, dtype=bool)
    for label in labels:
        result |= (label != high) & (label != MISSING)
    return result


def _disputed_box(labels: NDArray[Any], size: tuple[int, ...]) -> tuple[slice, ...]:
    """Smallest box that holds every window around a disputed pixel; elsewhere nothing changes."""
    disputed = _disputed(labels)
    if not disputed.any():
        return tuple(slice(0, 0) for _ in size)
    box = []
    for axis, side in enumerate(size):
        others = tuple(each for each in range(disputed.ndim) if each != axis)
        where = np.flatnonzero(disputed.any(axis=others))
        box.append(slice(max(int(where[0]) - side // 2, 0), int(where[-1]) + side // 2 + 1))
    return tuple(box)


def _result(
    whole: FusionResult,
    labels: NDArray[Any],
    box: tuple[slice, ...],
    probability: Map,
    trace: NDArray[np.float64],
    converged: bool,
) -> FusionResult:
    """Put the box back into the whole, and count each rater's confusions over the image."""
    full = whole.probability
    full[(slice(None), *box)] = probability
    label, n_ties = _most_probable(full, whole.label != MISSING)
    counts = expected_confusions(labels, full)
    return replace(
        whole,
        label=label,
        probability=full,
        cm=confusion_of(counts),
        counts=counts,
        log_likelihood=trace,
        n_iter=len(trace),
        converged=converged,
        n_ties=n_ties,
        method="spatial-staple",
    )


def _most_probable(probability: Map, known: NDArray[np.bool_]) -> tuple[NDArray[np.int16], int]:
    """Return the most probable class, -1 where unknown, and how many known pixels are ties."""
    highest = probability.max(0)
    label = np.full(highest.shape, MISSING, dtype=np.int16)
    tied = np.zeros(highest.shape, dtype=bool)
    for k, values in enumerate(probability):
        first = values == highest
        tied |= first & (label != MISSING)
        label[first & (label == MISSING)] = k
    label[~known] = MISSING
    return label, int((tied & known).sum())


def expected_confusions(
    labels: NDArray[Any], probability: NDArray[np.floating[Any]]
) -> NDArray[np.float64]:
    """Expected counts (n_raters, true, observed) for given probabilities of the truth."""
    n_classes = len(probability)
    counts = np.zeros((len(labels), n_classes, n_classes))
    for rater, label in enumerate(labels):
        for observed in range(n_classes):
            drawn = label == observed
            for true in range(n_classes):
                counts[rater, true, observed] = probability[true].sum(where=drawn, dtype=float)
    return counts
