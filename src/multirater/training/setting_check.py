"""What settings of a run cannot be, said before anything is read or written.

Each setting is held against what its field says: its type, and the least and most it may be. It is
the same whether it was given on the command line, in Python, or kept with a run that somebody else
may have written.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, fields
from itertools import permutations, product
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from multirater.errors import Fault, InputError

if TYPE_CHECKING:
    from multirater.training.config import Normalisation, TrainConfig

PRECISIONS = ("32-true", "16-mixed", "bf16-mixed")
ACCELERATORS = ("auto", "cpu", "gpu", "cuda", "mps")

DIRECTIONS = ("LR", "PA", "SI")
"""Where the three world axes go, and where they come from."""

ORIENTATIONS = tuple(
    "".join(letters) for axes in permutations(DIRECTIONS) for letters in product(*axes)
)
"""Where the three axes of an array may go, see `training.orientation`."""

_WORDS: dict[str, tuple[str, ...]] = {
    "precision": PRECISIONS,
    "accelerator": ACCELERATORS,
    "orientation": ("", *ORIENTATIONS),
}
"""Of settings whose type is any text."""

_COARSEST = 4096
"""Pixels of an image that become one at the last stage of a U-Net, at most."""

_LONGEST = 120
"""Of a value in a message."""

_LARGEST = 1e30
"""Beyond which numbers overflow as torch computes with them."""


def require_settings(config: TrainConfig) -> None:
    """Refuse numbers and words that no run can have.

    Args:
        config: of which None stands for what is not decided yet.

    Raises:
        InputError: with everything that is wrong.
    """
    faults = [
        fault for each in fields(config) for fault in _wrong(each, getattr(config, each.name))
    ]
    # What is wrong by itself cannot be held against the rest.
    faults = faults or [*_wrong_together(config)]
    if faults:
        raise InputError(faults)


def _wrong(each: Field[Any], value: Any) -> Iterator[Fault]:
    if value is None and each.default is None:
        return
    if each.name == "normalisation":
        yield from _wrong_intensities(value)
        return
    expected = _what_it_is_not(value, _WORDS.get(each.name, each.type), each.metadata)
    if expected:
        yield Fault(f"{each.name} = {_shown(value, expected)}", expected=expected)


def _shown(value: Any, expected: str = "") -> str:
    shown = ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    if expected.startswith("one of "):
        # Settings are imported by the command line's help, which loads no numpy.
        from multirater.words import did_you_mean

        shown += did_you_mean(shown[:60], expected.removeprefix("one of ").split(", "))
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


def _what_it_is_not(value: Any, wanted: Any, limits: Mapping[str, Any]) -> str:
    """Return what a value should have been; nothing where it is that.

    Args:
        value: of a setting.
        wanted: its type, or the words that it may be.
        limits: `least`, `above` and `most`, of the number or of each.
    """
    if isinstance(wanted, str):  # a type that is not imported here: a network of the user's own
        return "" if isinstance(value, str) or hasattr(value, "forward") else "text"
    if get_origin(wanted) in (Union, UnionType):
        wanted = next(each for each in get_args(wanted) if each is not NoneType)
    words = wanted if isinstance(wanted, tuple) else get_args(wanted)
    if isinstance(wanted, tuple) or get_origin(wanted) is Literal:
        return "" if value in words else f"one of {', '.join(words)}"
    if wanted in (int, float):
        return _no_number(value, wanted, limits)
    if get_origin(wanted) is tuple:
        return _no_numbers(value, words[0], limits)
    if get_origin(wanted) is dict:
        is_one = isinstance(value, dict) and all(isinstance(key, str) for key in value)
        return "" if is_one else "values by name"
    return "" if isinstance(value, wanted) else {bool: "true or false"}.get(wanted, "text")


def _no_number(value: Any, wanted: type, limits: Mapping[str, Any]) -> str:
    kind: Any = Integral if wanted is int else Real
    if isinstance(value, bool) or not isinstance(value, kind):
        return "a whole number" if wanted is int else "a number"
    if isinstance(value, float) and not math.isfinite(value):
        return "a finite number"
    least, above, most = (limits.get(name) for name in ("least", "above", "most"))
    most = _LARGEST if most is None else most
    is_low = (least is not None and value < least) or (above is not None and value <= above)
    if not is_low and -_LARGEST <= value <= most:
        return ""
    if most < _LARGEST or not is_low:
        return f"{least} to {most}" if above is None else f"more than {above}, at most {most:g}"
    return f"{least} or more" if above is None else f"more than {above}"


def _no_numbers(value: Any, wanted: Any, limits: Mapping[str, Any]) -> str:
    if not isinstance(value, tuple | list):
        return "a list"
    if len(value) > limits["longest"]:
        return f"at most {limits['longest']} of them"
    wrong = next(filter(None, (_what_it_is_not(each, wanted, limits) for each in value)), "")
    return f"each {wrong}" if wrong and not wrong.startswith("each ") else wrong


def _wrong_together(config: TrainConfig) -> Iterator[Fault]:
    n_devices = config.devices * config.num_nodes
    if config.batch_size is not None and config.batch_size % n_devices:
        yield Fault(
            f"batch size {config.batch_size} on {n_devices} devices",
            expected="a multiple of their number, so that all do the same work",
        )
    if config.validation >= 1:
        yield Fault(f"validation = {config.validation}", expected="a share from 0 to below 1")
    if config.fold >= config.folds:
        yield Fault(f"fold = {config.fold}", expected=f"less than the {config.folds} folds")
    n_stages = len(config.channels or ())
    yield from _wrong_stages("strides", config.strides, n_stages)
    yield from _wrong_stages("kernels", config.kernels, n_stages)
    # Strides of all stages together say into what an image has to be cut.
    if any(math.prod(each) > _COARSEST for each in zip(*config.strides, strict=False)):
        yield Fault(
            f"strides = {_shown(config.strides)}",
            expected=f"at most {_COARSEST} along an axis, multiplied over the stages",
        )
    if any(each % 2 == 0 for sizes in config.kernels for each in sizes):
        yield Fault(f"kernels = {_shown(config.kernels)}", expected="odd numbers")


def _wrong_stages(name: str, sizes: Sequence[Sequence[int]], n_stages: int) -> Iterator[Fault]:
    n_axes = {len(each) for each in sizes}
    if sizes and (len(sizes) != n_stages or len(n_axes) > 1 or not n_axes <= {2, 3}):
        yield Fault(
            f"{name} = {_shown(sizes)}", expected=f"2 or 3 numbers for each of {n_stages} stages"
        )


def _wrong_intensities(how: Normalisation) -> Iterator[Fault]:
    """Find ways to normalise that leave nothing of an image, which a damaged run may ask for."""
    for each in fields(how):
        value = getattr(how, each.name)
        if each.name == "kind":
            if value not in ("case", "study"):
                shown = _shown(value)
                yield Fault(f"normalisation of kind {shown}", expected="case or study")
            continue
        limits = {"longest": 2**16, "least": 0 if each.name == "deviation" else None}
        if _no_numbers(value, float, limits):
            least = ", 0 or more" if each.name == "deviation" else ""
            yield Fault(
                f"normalisation by {each.name} {_shown(value)}",
                expected=f"finite numbers{least}",
            )
            return
    if any(low > high for low, high in zip(how.low, how.high, strict=False)):
        yield Fault(
            f"normalisation from {_shown(how.low)} to {_shown(how.high)}",
            expected="a lower end below the upper one",
        )
    flat = zip(how.low, how.high, how.deviation, strict=False)
    if any(low < high and deviation == 0 for low, high, deviation in flat):
        yield Fault(
            f"normalisation by deviation {_shown(how.deviation)}",
            expected="above 0 where intensities differ",
        )


def require_devices(config: TrainConfig) -> None:
    """Refuse devices that this machine does not have, and more processes than it can run."""
    import torch

    n_cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
    n_mps = int(torch.backends.mps.is_available())
    n_processes = 2 * (os.cpu_count() or 1)  # a run's settings may come from somebody else
    by_name = {"gpu": n_cuda or n_mps, "cuda": n_cuda, "mps": n_mps, "cpu": n_processes}
    found = by_name.get(config.accelerator, n_cuda or n_mps or n_processes)
    if found < config.devices:
        is_processor = config.accelerator == "cpu" or not (n_cuda or n_mps)
        fix = f"choose at most {found} --devices, two per core of the processor"
        raise InputError(
            Fault(
                f"{config.devices} of the accelerator {config.accelerator} asked for, {found} here",
                fix=fix if is_processor and found else "--accelerator auto takes what there is",
            )
        )
