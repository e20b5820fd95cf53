"""Decide how to train from what a study looks like: a pure function of its fingerprint.

View, grid and intensities; patch, depth of the network and batch, within a budget of memory; the
length of the training in steps; which patches, and how they are changed. Every decision comes with
its reason. No torch: a plan can be made, read and changed anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, prod
from typing import Any, Literal

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.training.budget import GB, USUAL_MEMORY, amount
from multirater.training.fingerprint import Fingerprint
from multirater.training.normalisation import OWN, Normalisation

PlanView = Literal["2d", "slices", "3d", "whole"]

PROCESS_BYTES = int(0.9 * GB)
"""What Python and its libraries take before the first image is read."""

_CACHE_SHARE = 0.25
"""Share of the budget that decoded cases may take."""

_FEW_SLICES, _THICK, _FLAT = 12, 4.0, 2.0
"""A volume of fewer slices, or with slices this many times as thick as pixels are wide, is taken
slice by slice; along an axis this much coarser than the finest, kernels are flat."""

_SAME_SPACING = 0.05
"""Spacings that differ by no more than this share are one."""

_WHOLE_SIDE, _LEAST_SIDE, _MOST_SIDE = 320, 128, 192
"""Images up to the first are served whole; sides of 2-D patches lie between the others, by the
size of the objects."""

_MOST_VOXELS, _LEAST_VOXELS = 2**17, 16**3
_STEP_PIXELS = {2: 2**16, 3: 2**18}
"""Pixels of a step, by the axes of the network: more learn little more and take longer."""

_MOST_BATCH, _LEAST_BATCH = 8, 2
_SMALL_PIXELS = 64 * 64
_LEAST_MAP, _MOST_STAGES, _MOST_CHANNELS = 4, 5, 256
_EPOCHS = 20
_PASSES, _PATCHES_PER_IMAGE = 20, 4
_LEAST_STEPS, _LEAST_SMALL_STEPS, _MOST_STEPS = 1000, 200, 10_000
_RARE_SHARE = 1 / 3
_CLASS_EPOCHS, _CLASS_BATCH, _LEAST_CLASS_BATCH, _CLASS_STEPS = 15, 64, 4, 16
_CLASS_SIDE = 256

_VALUES_KEPT = 15
"""Numbers that a step keeps per channel and pixel of a stage: measured, with those of gradients."""


@dataclass(frozen=True)
class Plan:
    """How a study is trained on. Frozen; change a field with `dataclasses.replace`.

    Attributes:
        view: `2d` images, `slices` of volumes, `3d` patches, or `whole` images of class labels.
        spacing: millimetres per array axis that images and labels are brought to as they are
            read; empty when every image keeps its own grid. In `slices` the first axis keeps its.
        space: size that images of class labels are brought to; empty when they have one already.
        normalisation: of intensities.
        patch: size of what is cut from an image; empty for whole images.
        channels: per stage of the U-Net.
        strides: per stage and axis: how much coarser than the stage before.
        kernels: per stage and axis.
        n_features: channels that the heads see.
        batch_size: patches per step.
        epochs: after each the held-out cases are looked at.
        steps_per_epoch: steps of one; 0 for one pass over the cases.
        rare_share: share of the patches that hold a rare class or disputed pixels.
        augment: whether patches are changed at random.
        mirror: whether mirroring is among the changes.
        memory: budget in bytes, of all that the run holds at a time.
        reasons: of the decisions, in words.
        fingerprint: of the study.
    """

    view: PlanView
    normalisation: Normalisation = OWN
    spacing: tuple[float, ...] = ()
    space: tuple[int, ...] = ()
    patch: tuple[int, ...] = ()
    channels: tuple[int, ...] = ()
    strides: tuple[tuple[int, ...], ...] = ()
    kernels: tuple[tuple[int, ...], ...] = ()
    n_features: int = 32
    batch_size: int = 16
    epochs: int = _EPOCHS
    steps_per_epoch: int = 0
    rare_share: float = 0.0
    augment: bool = False
    mirror: bool = True
    memory: int = USUAL_MEMORY
    reasons: dict[str, str] = field(default_factory=dict)
    fingerprint: Fingerprint | None = None

    def as_text(self) -> str:
        """Say the decisions and their reasons, a line each."""
        return "\n".join(f"  {name}: {why}" for name, why in self.reasons.items())


def plan_of(seen: Fingerprint, *, memory: int = USUAL_MEMORY, **given: Any) -> Plan:
    """Decide how to train.

    Args:
        seen: what the study looks like.
        memory: budget in bytes.
        given: decisions that are made already, by the names of `Plan`; what depends on them
            follows.

    Raises:
        InputError: the budget is too small for a single patch, or a decision cannot be.

    Example:
        >>> side, step = (28, 28), (1.0, 1.0)
        >>> digits = Fingerprint("masks", 70, 2, 1, side, side, side, step, step, step)
        >>> found = plan_of(digits)
        >>> found.view, found.patch, found.channels, found.batch_size
        ('2d', (), (24, 48, 96), 8)
    """
    made = (
        _of_classes(seen, memory, given)
        if seen.kind == "classes"
        else _of_masks(seen, memory, given)
    )
    return replace(made, memory=memory, fingerprint=seen)


# --- drawings -------------------------------------------------------------------------------------


def _of_masks(seen: Fingerprint, memory: int, given: Mapping[str, Any]) -> Plan:
    reasons: dict[str, str] = {}
    view = given.get("view") or _view(seen, reasons)
    spacing = _spacing(seen, view, reasons)
    normalisation = _normalisation(seen, reasons)
    size, steps_mm = _as_served(seen, view, spacing)
    patch, n_features, channels, strides, kernels, batch = _network(
        seen, view, size, steps_mm, memory, given, reasons
    )
    epochs, steps = _schedule(seen, size, patch, batch, given, reasons)
    rare = _rare_share(seen, patch, reasons)
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
    if all(high <= low * (1 + _SAME_SPACING) for low, high in pairs):
        reasons["spacing"] = "each image on its own grid: all have the same spacing"
        return ()
    text = " x ".join(f"{each:.3g}" for each in seen.spacing[first:])
    range_text = ", ".join(f"{low:.3g} to {high:.3g}" for low, high in pairs)
    reasons["spacing"] = f"{text} mm, the median; images have {range_text}"
    return seen.spacing


def _normalisation(seen: Fingerprint, reasons: dict[str, str]) -> Normalisation:
    if seen.image == "ct":
        reasons["intensities"] = (
            f"CT: cut to {seen.low[0]:.0f} to {seen.high[0]:.0f} HU, as inside what raters drew, "
            "the same scale for all"
        )
        return Normalisation("study", seen.mean, seen.deviation, seen.low, seen.high)
    if seen.image == "colour":
        reasons["intensities"] = "colour: one scale per channel for all photographs"
        return Normalisation("study", seen.mean, seen.deviation)
    reasons["intensities"] = "each image by its own mean and deviation: they have no unit"
    return OWN


def _as_served(
    seen: Fingerprint, view: str, spacing: Sequence[float]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the usual size as the network's axes see it, and the distances between pixels."""
    first = 1 if view == "slices" else 0
    return seen.size[first:], tuple(spacing or seen.spacing)[first:]


def _network(
    seen: Fingerprint,
    view: str,
    size: tuple[int, ...],
    spacing: tuple[float, ...],
    memory: int,
    given: Mapping[str, Any],
    reasons: dict[str, str],
) -> tuple[Any, ...]:
    """Decide on patch, features, channels, strides, kernels and batch, within the budget."""
    patch = _given_patch(given["patch"], seen, view) if given.get("patch") else None
    wanted = _wanted_patch(seen, size, spacing, view) if patch is None else patch
    served = wanted or _padded_largest(seen, view)
    room = room_for_step(memory, seen)
    channels = tuple(given.get("channels") or ())
    said = given.get("batch_size")
    while True:
        strides, kernels = _stages(served, spacing, len(channels) or _MOST_STAGES)
        width = 24 if prod(served) <= _SMALL_PIXELS else 16
        own = channels or tuple(min(width * 2**i, _MOST_CHANNELS) for i in range(len(strides)))
        strides, kernels = strides[: len(own)], kernels[: len(own)]
        n_features = given.get("n_features") or own[0]
        cost = pixel_bytes(own, strides, n_features, seen) * prod(served)
        batch = said or max(
            min(_STEP_PIXELS[len(served)] // prod(served), _MOST_BATCH), _LEAST_BATCH
        )
        fits = int(room // cost)
        if said is None:
            batch = min(batch, max(fits, 1))
        if fits >= batch:
            break
        smaller = None if patch is not None else _smaller(served)
        if smaller is None:
            raise too_small(memory, served, batch, cost * batch + memory - room)
        wanted = served = smaller
    reasons["patch"] = _patch_text(wanted, served, seen, memory, patch is not None)
    reasons["network"] = (
        f"U-Net of {len(own)} stages, {', '.join(map(str, own))} channels: "
        + _depth_text(served, strides, kernels)
    )
    reasons["batch"] = f"{batch} at a time, a step of about {amount(cost * batch)}"
    return wanted, n_features, own, strides, kernels, batch


def too_small(memory: int, patch: Sequence[int], batch: int, needed: float) -> InputError:
    """Return the error of a budget in which not even one patch fits."""
    what = "a patch" if batch == 1 else f"{batch} patches"
    return InputError(
        Fault(
            f"a budget of {amount(memory)} is too small for {what} of {size_text(patch)}",
            expected=f"at least {amount(needed)}",
            fix="give more --memory, a smaller --patch or a smaller --batch-size",
        )
    )


def _given_patch(patch: Sequence[int], seen: Fingerprint, view: str) -> tuple[int, ...]:
    first = 1 if view == "slices" else 0
    n_axes = seen.ndim - first
    if len(patch) != n_axes or any(side < 1 for side in patch):
        raise InputError(
            Fault(f"patch {size_text(patch)}", expected=f"{n_axes} sizes, one per axis")
        )
    smallest = seen.smallest[first:]
    if any(side > have for side, have in zip(patch, smallest, strict=True)):
        raise InputError(
            Fault(
                f"a patch of {size_text(patch)}",
                expected=f"no larger than the smallest image: {size_text(smallest)}",
                fix="choose a smaller --patch, or leave it to the plan",
            )
        )
    return tuple(int(side) for side in patch)


def _padded_largest(seen: Fingerprint, view: str) -> tuple[int, ...]:
    return seen.largest[1:] if view == "slices" else seen.largest


def _wanted_patch(
    seen: Fingerprint, size: tuple[int, ...], spacing: tuple[float, ...], view: str
) -> tuple[int, ...]:
    """Return the patch that size of image and objects ask for; empty for whole images."""
    largest = _padded_largest(seen, view)
    if len(size) == 2:
        if max(largest) <= _WHOLE_SIDE:
            return ()
        extent = max((max(each[-2:]) for each in seen.object_size if each), default=_LEAST_SIDE)
        side = min(max(_up(1.5 * extent, 32), _LEAST_SIDE), _MOST_SIDE)
        return tuple(min(side, _up(have, 16)) for have in size)
    if prod(largest) <= _MOST_VOXELS:
        return ()
    patch = [_up(have, 16) if have >= 16 else have for have in size]
    while prod(patch) > _MOST_VOXELS:
        # The axis that reaches furthest, in millimetres, gives way.
        axis = max(
            (i for i in range(len(patch)) if patch[i] > 16), key=lambda i: patch[i] * spacing[i]
        )
        patch[axis] = max(_up(patch[axis] * 0.85, 16) - 16 * (patch[axis] <= 96), 16)
    return tuple(patch)


def _smaller(patch: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return a patch with its longest side halved; None when it is as small as makes sense."""
    if prod(patch) <= (32 * 32 if len(patch) == 2 else _LEAST_VOXELS):
        return None
    axis = patch.index(max(patch))
    return tuple(max(_up(side / 2, 16), 16) if i == axis else side for i, side in enumerate(patch))


def _up(value: float, multiple: int) -> int:
    return ceil(value / multiple) * multiple


def _stages(
    patch: Sequence[int], spacing: Sequence[float], most: int
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """Return strides and kernels per stage: pooling stops when an axis is used up.

    Along an axis that is much coarser than the finest one, nothing is pooled and kernels are flat
    until pooling of the others has brought them near.
    """
    size, distance = list(patch), list(spacing)
    strides, kernels = [(1,) * len(size)], []
    while True:
        finest = min(distance)
        kernels.append(tuple(1 if each >= _FLAT * finest else 3 for each in distance))
        pooled = tuple(
            2 if have // 2 >= _LEAST_MAP and each < _FLAT * finest else 1
            for have, each in zip(size, distance, strict=True)
        )
        if max(pooled) == 1 or len(strides) >= most:
            break
        strides.append(pooled)
        size = [ceil(have / by) for have, by in zip(size, pooled, strict=True)]
        distance = [each * by for each, by in zip(distance, pooled, strict=True)]
    while len(strides) < 2:
        strides.append((2,) * len(size))
        kernels.append((3,) * len(size))
    return tuple(strides), tuple(kernels[: len(strides)])


def pixel_bytes(
    channels: Sequence[int], strides: Sequence[Sequence[int]], n_features: int, seen: Fingerprint
) -> float:
    """Return about how many bytes a training step holds per pixel of a patch."""
    values, share = 0.0, 1.0
    for width, stride in zip(channels, strides, strict=True):
        share /= prod(stride)
        values += width * share
    heads = 3 * n_features + 6 * max(len(seen.labels), 1) * seen.n_classes
    return 4 * (_VALUES_KEPT * values + heads)


def room_for_step(memory: int, seen: Fingerprint) -> float:
    """Return what the budget leaves for a step, beside the process and decoded cases."""
    return memory - PROCESS_BYTES - cache_bytes(memory, seen)


def cache_bytes(memory: int, seen: Fingerprint | None = None) -> int:
    """Return how much of the budget decoded cases may take: no more than there are."""
    most = int(_CACHE_SHARE * memory)
    return most if seen is None else min(most, int(study_bytes(seen)))


def study_bytes(seen: Fingerprint) -> float:
    """Return about how much all decoded cases take together."""
    per_case = prod(seen.size) * (4 * seen.n_channels + 2 * (_labels_per_case(seen) + 1))
    return float(per_case * seen.n_cases)


def _labels_per_case(seen: Fingerprint) -> float:
    return sum(seen.labels.values()) / max(seen.n_cases, 1)


def _patch_text(
    patch: Sequence[int], served: Sequence[int], seen: Fingerprint, memory: int, is_given: bool
) -> str:
    if is_given:
        return f"{size_text(patch)}, as asked for"
    if not patch:
        return f"whole images, up to {size_text(served)}: they are small"
    objects = [each for each in seen.object_size if each]
    what = f"objects of {size_text(max(objects, key=prod))} in " if objects else ""
    return f"{size_text(patch)}: {what}images of {size_text(seen.size)}, {amount(memory)} of memory"


def _depth_text(
    patch: Sequence[int], strides: Sequence[Sequence[int]], kernels: Sequence[Sequence[int]]
) -> str:
    coarsest = list(patch)
    for stride in strides:
        coarsest = [ceil(have / by) for have, by in zip(coarsest, stride, strict=True)]
    text = f"the coarsest sees {size_text(coarsest)}"
    n_flat = sum(min(kernel) == 1 for kernel in kernels)
    return text + (f"; flat kernels in the first {n_flat}" if n_flat else "")


def _schedule(
    seen: Fingerprint,
    size: Sequence[int],
    patch: Sequence[int],
    batch: int,
    given: Mapping[str, Any],
    reasons: dict[str, str],
) -> tuple[int, int]:
    """Return epochs, and steps of each; 0 for one pass over the cases, where epochs are given."""
    if given.get("epochs"):
        reasons["length"] = f"{given['epochs']} epochs, as asked for"
        return given["epochs"], 0
    parts = 1.0 if not patch else min(prod(size) / prod(patch), _PATCHES_PER_IMAGE)
    if len(size) < seen.ndim:
        parts *= seen.size[0]
    wanted = _PASSES * seen.n_cases * max(parts, 1.0) / batch
    is_small = not patch and prod(size) <= _SMALL_PIXELS
    least = _LEAST_SMALL_STEPS if is_small else _LEAST_STEPS
    total = min(max(wanted, least), _MOST_STEPS)
    steps = max(round(total / _EPOCHS), 1)
    why = f"{_PASSES} passes over {seen.n_cases} cases"
    if wanted < least:
        why = f"{seen.n_cases} cases are few"
    elif wanted > _MOST_STEPS:
        why = f"{seen.n_cases} cases are plenty"
    reasons["length"] = f"{steps * _EPOCHS} steps, in {_EPOCHS} epochs of {steps}: {why}"
    return _EPOCHS, steps


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


# --- class labels ---------------------------------------------------------------------------------


def _of_classes(seen: Fingerprint, memory: int, given: Mapping[str, Any]) -> Plan:
    reasons: dict[str, str] = {}
    what = f"vectors of {seen.n_channels} features" if not seen.ndim else size_text(seen.size)
    reasons["view"] = f"whole: one class for each image ({what})"
    space = _one_size(seen, reasons)
    normalisation = OWN
    if seen.ndim:
        normalisation = _normalisation(seen, reasons)
    epochs = given.get("epochs") or _CLASS_EPOCHS
    wanted = max(seen.n_cases // _CLASS_STEPS, _LEAST_CLASS_BATCH)
    batch = given.get("batch_size") or min(wanted, _CLASS_BATCH)
    if seen.ndim:
        cost = 4.0 * prod(space or seen.size) * 64 * 4
        while batch > 1 and not given.get("batch_size") and cost * batch > memory - PROCESS_BYTES:
            batch //= 2
        if cost * batch > memory - PROCESS_BYTES:
            raise too_small(memory, space or seen.size, batch, cost * batch + PROCESS_BYTES)
    reasons["length"] = f"{epochs} epochs in batches of {batch}, for {seen.n_cases} cases"
    return Plan(
        view="whole",
        normalisation=normalisation,
        space=space,
        n_features=given.get("n_features") or 64,
        batch_size=batch,
        epochs=epochs,
        augment=bool(given.get("augment")),
        mirror=False,
        reasons=reasons,
    )


def _one_size(seen: Fingerprint, reasons: dict[str, str]) -> tuple[int, ...]:
    """Return the size that images are brought to; empty when they have one, and a usual one."""
    if not seen.ndim or seen.smallest == seen.largest:
        return ()
    longest = max(seen.size)
    shrink = min(1.0, _CLASS_SIDE / longest)
    space = tuple(max(round(side * shrink), 1) for side in seen.size)
    reasons["size"] = (
        f"{size_text(space)}: one network sees all images whole, and they have "
        f"{size_text(seen.smallest)} to {size_text(seen.largest)}"
    )
    return space
