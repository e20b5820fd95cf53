"""A network of the user's own as backbone: code, which runs only for those who trust it.

A module is no JSON, so a run keeps it in a file, pickled; a function goes by its import path. To
open such a run is to run what it names. Whoever trains gives the code; whoever opens the run of
somebody else has to say that they trust it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from multirater.errors import Fault, InputError
from multirater.io.formats.guard import reason
from multirater.training.checkpoints import code_in, write_whole
from multirater.training.config import TrainConfig
from multirater.words import listed

OWN = "own"
"""What `config.json` says of such a backbone."""

_FILE = "backbone.pt"

_is_trusted: ContextVar[bool] = ContextVar("is_trusted", default=False)


@contextmanager
def trusting_code(is_trusted: bool = True) -> Iterator[None]:
    """Let runs that are opened in this block run code of their own, or not."""
    token = _is_trusted.set(is_trusted or _is_trusted.get())
    try:
        yield
    finally:
        _is_trusted.reset(token)


def keep_backbone(config: TrainConfig, folder: Path) -> TrainConfig:
    """Write a module among the settings into the run folder; its name takes its place."""
    if not isinstance(config.backbone, nn.Module):
        return config
    write_whole(config.backbone, folder / _FILE)
    return replace(config, backbone=OWN)


def with_backbone(config: TrainConfig, folder: Path) -> TrainConfig:
    """Put the module that a run keeps back among its settings.

    Raises:
        InputError: the run has code of its own and nobody said that it is trusted.
    """
    name = config.backbone
    if not isinstance(name, str):
        return config
    if not _is_trusted.get() and (name == OWN or ":" in name):
        raise _untrusted(config, folder)
    if name != OWN:
        return config
    try:
        module = torch.load(folder / _FILE, map_location="cpu", weights_only=False)
    except Exception as error:
        raise InputError(
            Fault(
                f"cannot be read: {reason(error)}",
                expected="the module that the network was trained with",
                fix="make its code importable (PYTHONPATH), or copy the run again",
                file=str(folder / _FILE),
            )
        ) from error
    return replace(config, backbone=module)


def _untrusted(config: TrainConfig, folder: Path) -> InputError:
    if config.backbone == OWN:
        code = listed(code_in(folder / _FILE), most=8) or "something that cannot be told"
        found, file = f"holds a network as code; to open it would import {code}", folder / _FILE
    else:
        given = f" with {config.backbone_options}" if config.backbone_options else ""
        found, file = f"would import and call {config.backbone}{given}", folder
    return InputError(
        Fault(
            found,
            expected="a run that is data alone",
            fix="if you know who made it, and trust them, say --trust-code (trust_code=True)",
            file=str(file),
        )
    )
