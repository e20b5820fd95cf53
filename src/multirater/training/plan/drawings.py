"""The plan of a study of drawings: view, grid, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.training.fingerprint import Fingerprint
from multirater.training.plan.intensities import intensities
from multirater.training.plan.length import schedule
from multirater.training.plan.network import network
from multirater.training.plan.record import Plan, PlanView
from multirater.training.spacings import SAME

_FEW_SLICES, _THICK = 12, 4.0
"""A volume of fewer slices, or with slices this many times as thick as pixels are wide, is taken
slice by slice."""

_RARE_SHARE = 1 / 3
_OVERLAP_WEIGHT = 1.0


def of_drawings(seen: Fingerprint, memory: int, given: Mapping[str, Any]) -> Plan:
    """Decide how to train on drawings."""
    reasons: dict[str, str] = {}
    view = given.get("view") or _view(seen, reasons)
    if (view == "2d") != (seen.ndim == 2):
        raise InputError(
            Fault(
                f"view {view} of {seen.ndim}-dimensional images",
                expected="2d for images; slices or 3d for volumes",
                fix="leave --view out",
            )
        )
    spacing = _spacing(seen, view, reasons)
    normalisation = intensities(seen, reasons)
    size, steps_mm = _as_served(seen, view, spacing)
    patch, n_features, channels, strides, kernels, batch = network(
        seen, view, size, steps_mm, memory, given, reasons
    )
    epochs, steps = schedule(seen, size, patch, batch, given, reasons)
    rare = _rare_share(seen, patch, reasons)
    reasons["loss"] = "cross-entropy, and Dice where labels are fused: thin and small objects count"
    augment = given.get("augment")
    augment = True if augment is None else augment
    mirror = given.get("mirror")
    mirror = True if mirror is None else mirror
    reasons["augmentation"] = _augmentation_text(augment, mirror)
    return Plan(
        view=view,
        normalisation=normalisation,
        spacing=spacing,
        patch=patch,
        channels=channels,
        strides=strides,
        kernels=kernels,
        n_features=n_features,
        batch_size=batch,
        epochs=epochs,
        steps_per_epoch=steps,
        rare_share=rare,
        overlap_weight=_OVERLAP_WEIGHT,
        augment=augment,
        mirror=mirror,
        reasons=reasons,
    )


def _view(seen: Fingerprint, reasons: dict[str, str]) -> PlanView:
    if seen.ndim == 2:
        reasons["view"] = f"2d, as the images are: {size_text(seen.size)}"
        return "2d"
    if min(seen.smallest) == 1:
        raise InputError(
            Fault(
                f"a volume of one slice: {size_text(seen.smallest)}",
                expected="images of two axes, or volumes of several slices",
                fix="convert it to a 2-D format (multirater convert --format png), or leave it out",
            )
        )
    in_plane = min(seen.spacing[1:])
    thick = seen.spacing[0] / in_plane
    if seen.size[0] < _FEW_SLICES or thick >= _THICK:
        why = f"{seen.size[0]} slices" if seen.size[0] < _FEW_SLICES else f"{thick:.1f} times"
        why += " only" if seen.size[0] < _FEW_SLICES else " as thick as their pixels are wide"
        reasons["view"] = f"slices: {why}"
        return "slices"
    reasons["view"] = f"3d: volumes of {size_text(seen.size)}, slices {thick:.1f} times as thick as"
    reasons["view"] += " their pixels are wide"
    return "3d"


def _spacing(seen: Fingerprint, view: str, reasons: dict[str, str]) -> tuple[float, ...]:
    first = 1 if view == "slices" else 0
    pairs = list(zip(seen.finest, seen.coarsest, strict=True))[first:]
    if all(high <= low * (1 + SAME) for low, high in pairs):
        reasons["spacing"] = "each image on its own grid: all have the same spacing"
        return ()
    text = " x ".join(f"{each:.3g}" for each in seen.spacing[first:])
    range_text = ", ".join(f"{low:.3g} to {high:.3g}" for low, high in pairs)
    reasons["spacing"] = f"{text} mm, the median; images have {range_text}"
    return seen.spacing


def _as_served(
    seen: Fingerprint, view: str, spacing: Sequence[float]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the usual size as the network's axes see it, and the distances between pixels."""
    first = 1 if view == "slices" else 0
    return seen.size[first:], tuple(spacing or seen.spacing)[first:]


def _rare_share(seen: Fingerprint, patch: Sequence[int], reasons: dict[str, str]) -> float:
    if not patch:
        return 0.0
    rarest = min((share for share in seen.class_share[1:] if share), default=0.0)
    reasons["patches"] = (
        f"a third hold a rare class or disputed pixels: {rarest:.1%} and {seen.disputed:.1%} of all"
    )
    return round(_RARE_SHARE, 4)


def _augmentation_text(augment: bool, mirror: bool) -> str:
    if not augment:
        return "none, as asked for"
    text = "rotation, scale, noise, blur, contrast, gamma"
    return f"mirror, {text}" if mirror else f"{text}; no mirroring, as asked for"
