"""Spatial STAPLE (Asman & Landman 2012): raters whose skill varies over the image.

One confusion matrix per rater and pixel, estimated from a window around the pixel. The matrix of
global STAPLE acts as a prior with a fixed weight, so that a window without a class falls back on
it. Windows overlap, so the steps are not those of an exact EM: the log-likelihood usually rises,
but may not.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError, MultiraterWarning
from multirater.fuse.em import confusion_of
from multirater.fuse.fitting import Prior
from multirater.fuse.result import FusionResult
from multirater.fuse.staple import staple
from multirater.types import MISSING, Labels

_TINY = 1e-30
Map = NDArray[np.float32]


def spatial_staple(
    labels: NDArray[Any] | Labels,
    n_classes: int | None = None,
    *,
    window: float | Sequence[float] = 31,
    spacing: Sequence[float] | None = None,
    prior: Prior = "frequency",
    prior_weight: float = 0.5,
    max_iter: int = 50,
    tol: float = 1e-4,
    raters: Sequence[Hashable] | None = None,
    classes: Sequence[Hashable] | None = None,
) -> FusionResult:
    """Estimate the true segmentation with confusion matrices that vary over the image.

    Args:
        labels: class indices (n_raters, *space), 2-D or 3-D, -1 where missing.
        n_classes: number of classes; the largest index plus one when not given.
        window: side of the window, one number or one per axis: in millimetres when `spacing` is
            given, else in pixels.
        spacing: distance between pixels per axis, in millimetres.
        prior: class probabilities as in `staple`, but not a map.
        prior_weight: weight of the global matrix, as a share of the window: with 0.5 a class that
            fills half of the window counts as much as the global matrix.
        max_iter: largest number of steps.
        tol: mean change of the disputed pixels' probabilities at which to stop.
        raters: names of the raters.
        classes: names of the classes.

    Returns:
        A result whose `cm` summarises each rater over the whole image; `local_confusion` gives the
        matrices of each pixel.
    """
    if isinstance(labels, Labels):
        raters = raters or labels.raters
        labels = labels.array
    whole = staple(labels, n_classes, prior=prior, raters=raters, classes=classes)
    array = np.asarray(labels)
    size = window_in_pixels(window, spacing, array.ndim - 1)
    box = _disputed_box(array, size)
    inside = array[(slice(None), *box)]
    probability = np.stack([each[box] for each in whole.probability])
    log_prior = np.log(np.maximum(whole.prior, _TINY))
    trace: list[float] = []
    converged = inside.size == 0
    while not converged and len(trace) < max_iter:
        updated, log_likelihood = _step(
            inside, probability, whole.cm, log_prior, size, prior_weight
        )
        change = float(np.abs(updated - probability).sum() / 2) / max(_n_disputed(inside), 1)
        trace.append(log_likelihood)
        probability = updated
        converged = change <= tol
    if not converged:
        warnings.warn(
            f"Spatial STAPLE stopped after {max_iter} iterations before it converged: the disputed "
            f"pixels' probabilities still changed by {change:.2g} on average; raise max_iter",
            MultiraterWarning,
            stacklevel=2,
        )
    return _result(whole, array, box, probability, np.array(trace), converged)


def local_confusion(
    label: NDArray[Any],
    probability: NDArray[np.floating[Any]],
    *,
    window: float | Sequence[float] = 31,
    spacing: Sequence[float] | None = None,
    prior_cm: NDArray[np.float64] | None = None,
    prior_weight: float = 0.5,
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
    """
    n_classes = len(probability)
    size = window_in_pixels(window, spacing, label.ndim)
    if prior_cm is None:
        prior_cm = confusion_of(_counts(label[None], probability))[0]
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
    sides = np.broadcast_to(np.asarray(window, dtype=float), (ndim,))
    steps = np.ones(ndim) if spacing is None else np.asarray(spacing, dtype=float)
    if steps.shape != (ndim,) or steps.min() <= 0 or sides.min() <= 0:
        raise InputError(
            Fault(
                f"window {window} with spacing {spacing}",
                expected=f"positive numbers, one or {ndim} of each",
            )
        )
    half = np.round((sides / steps - 1) / 2).astype(int)
    return tuple(int(2 * max(each, 0) + 1) for each in half)


def _step(
    labels: NDArray[Any],
    probability: Map,
    cm: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    size: tuple[int, ...],
    prior_weight: float,
) -> tuple[Map, float]:
    """Estimate local matrices from the probabilities, and new probabilities from them."""
    joint = np.empty_like(probability)
    for true in range(len(probability)):
        joint[true] = log_prior[true]
        for rater, label in enumerate(labels):
            joint[true] += _local_log(label, probability[true], cm[rater, true], size, prior_weight)
    highest = joint.max(0)
    joint -= highest
    np.exp(joint, out=joint)
    total = joint.sum(0)
    joint /= total
    np.log(total, out=total)
    return joint, float(total.sum(dtype=float) + highest.sum(dtype=float))


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
        share = _window_mean(np.where(here, probability, np.float32(0)), size)
        total += share
        share += np.float32(prior_weight * fallback)
        np.copyto(drawn, share, where=here)
    drawn /= total
    np.maximum(drawn, _TINY, out=drawn)
    drawn[label == MISSING] = 1.0
    return np.asarray(np.log(drawn, out=drawn))


def _window_mean(values: NDArray[Any], size: tuple[int, ...]) -> Map:
    """Mean over the window; outside the image counts as zero, which ratios of means ignore."""
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


def _n_disputed(labels: NDArray[Any]) -> int:
    return int(_disputed(labels).sum())


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
    label = np.where(whole.label == MISSING, MISSING, full.argmax(0)).astype(np.int16)
    counts = _counts(labels, full)
    return replace(
        whole,
        label=label,
        probability=full,
        cm=confusion_of(counts),
        counts=counts,
        log_likelihood=trace,
        n_iter=len(trace),
        converged=converged,
        method="spatial-staple",
    )


def _counts(labels: NDArray[Any], probability: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Expected counts (n_raters, true, observed) for given probabilities of the truth."""
    n_classes = len(probability)
    counts = np.zeros((len(labels), n_classes, n_classes))
    for rater, label in enumerate(labels):
        for observed in range(n_classes):
            drawn = label == observed
            for true in range(n_classes):
                counts[rater, true, observed] = probability[true].sum(where=drawn, dtype=float)
    return counts
