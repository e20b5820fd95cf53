"""The options of `train`, made from the settings of training: one field, one option."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from typing import Annotated, Any

import typer

from multirater.errors import Fault, InputError
from multirater.training.config import DEFAULTS, PLANNED, TrainConfig

_AS_TEXT = {"pairs": list[str] | None}
"""Types of options that are read as text, where they are not plain text."""


def with_settings(handler: Callable[..., None]) -> inspect.Signature:
    """Return the signature of a handler with an option for each setting instead of `**settings`."""
    signature = inspect.signature(handler, eval_str=True)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    made = [_option(each) for each in fields(TrainConfig) if each.metadata["group"]]
    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    return signature.replace(parameters=[*named, *made])


def settings_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings from what was given as options; what was not given is left out."""
    read: dict[str, Callable[[str, Any], Any]] = {
        "numbers": _numbers,
        "json": _json,
        "pairs": _pairs,
        "amount": _amount,
        "duration": _duration,
    }
    found = {}
    for each in fields(TrainConfig):
        value, how = given.get(each.name), each.metadata["text"]
        if value is None or (how and not value):
            continue
        found[each.name] = read[how](_name(each), value) if how in read else value
    return found


def _option(each: Field[Any]) -> inspect.Parameter:
    told, is_text = each.metadata, bool(each.metadata["text"])
    wanted: Any = _AS_TEXT.get(told["text"], str | None) if is_text else each.type
    default = None if is_text else each.default
    if default is None and not is_text:
        wanted = wanted | None
    names = [_name(each)]
    if each.type is bool:
        names = [f"{names[0]}/--no-{names[0][2:]}"]
    option = typer.Option(
        *names,
        help=told["words"],
        min=None if is_text else told["least"],
        rich_help_panel=told["group"],
        show_default=_shown(each) or default is not None,
    )
    return inspect.Parameter(
        each.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[wanted, option],
    )


def _name(each: Field[Any]) -> str:
    return str(each.metadata["option"]) or f"--{each.name.replace('_', '-')}"


def _shown(each: Field[Any]) -> str:
    """Say what a setting is when it is not given, where that is no single value."""
    if each.name in PLANNED:
        return "planned for the study"
    if each.name not in DEFAULTS["masks"]:
        return ""
    drawings, classes = (DEFAULTS[kind][each.name] for kind in ("masks", "classes"))
    return str(drawings) if drawings == classes else f"{drawings}; {classes} for class labels"


def _numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise InputError(
            Fault(f"{option} {text}", expected="whole numbers, such as 96,96")
        ) from None


def _json(option: str, text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(Fault(f"{option} {text}: {error}", expected="JSON")) from None
    if not isinstance(content, dict):
        raise InputError(Fault(f"{option} {text}", expected='JSON such as {"key": 1}'))
    return content


def _pairs(_: str, pairs: list[str]) -> dict[str, str]:
    from multirater.training.options import given_options

    return given_options(pairs)


def _amount(_: str, text: str) -> int:
    from multirater.training.budget import memory_bytes

    return memory_bytes(text)


def _duration(_: str, text: str) -> float:
    from multirater.training.budget import seconds

    return seconds(text)
