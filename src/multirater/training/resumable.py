"""Whether a run can go on by the settings it has now: they may have been changed since.

A checkpoint keeps the settings that it was trained by. Optimiser and schedule go on from where they
were, and would run into others somewhere inside.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from lightning.pytorch.callbacks import Callback

from multirater.errors import Fault, InputError
from multirater.extras import MissingExtraError
from multirater.io.formats.guard import reading, reason
from multirater.io.results.layout import CONFIG
from multirater.training.checkpoints import read_checkpoint
from multirater.training.config import DEFAULTS, MACHINE, TrainConfig
from multirater.training.memory import is_out_of_memory
from multirater.training.own_backbone import OWN
from multirater.training.run_folder import (
    RunData,
    require_described,
    weights_of,
    without_downloads,
)

SETTINGS = "settings"
"""What a checkpoint calls those that it was trained by."""


def kept_settings(config: TrainConfig) -> dict[str, Any]:
    """Return the settings that a checkpoint keeps, as JSON: those that decide what is learned.

    Where a run is computed may change from one part of it to the next.

    Example:
        >>> kept = kept_settings(TrainConfig(channels=(4, 8), workers=2))
        >>> kept["channels"], "workers" in kept
        ([4, 8], False)
    """
    kept = {
        each.name: getattr(config, each.name)
        for each in fields(config)
        if each.metadata["group"] != MACHINE and each.name != "time"
    }
    kept["normalisation"] = asdict(config.normalisation)
    if not isinstance(config.backbone, str | None):
        kept["backbone"] = OWN
    return dict(json.loads(json.dumps(kept)))


def require_settled(config: TrainConfig, kind: str, folder: Path) -> None:
    """Refuse settings of a run that leave open what a plan has decided.

    Args:
        config: of the run.
        kind: of the labels, `masks` or `classes`.
        folder: of the run.
    """
    missing = [
        Fault(f"{name} is not settled", fix="copy the run again", file=str(folder / CONFIG))
        for name, usual in DEFAULTS[kind].items()
        if getattr(config, name) is None and usual is not None
    ]
    if missing:
        raise InputError(missing)


def require_resumable(config: TrainConfig, data: RunData, checkpoint: Path) -> None:
    """Refuse settings that a checkpoint was not trained by, before a network is built.

    Args:
        config: by which the run shall go on.
        data: what it knows of its data.
        checkpoint: to go on from; older ones do not say by which settings.

    Raises:
        InputError: with the setting that is another.
    """
    with reading(checkpoint, "checkpoint", fix="copy the run again, or start another"):
        stored = read_checkpoint(checkpoint)
        _require_same(config, stored.get(SETTINGS), checkpoint.parent.parent)
        require_described(without_downloads(config), data, weights_of(stored))


def _require_same(config: TrainConfig, before: Any, folder: Path) -> None:
    if not isinstance(before, dict):
        return
    now = kept_settings(config)
    changed = next((name for name in now if name in before and now[name] != before[name]), None)
    if changed is not None:
        raise InputError(
            Fault(
                f"{changed} = {now[changed]!r:.60}",
                expected=f"{before[changed]!r:.60}, by which it was trained so far",
                fix="put it back, or start another run",
                file=str(folder / CONFIG),
            )
        )


class Settings(Callback):
    """Keeps the settings in every checkpoint, and knows when a run has begun to learn by them.

    Args:
        config: of the run.
    """

    def __init__(self, config: TrainConfig) -> None:
        self.kept = kept_settings(config)
        self.has_begun = False

    def on_save_checkpoint(self, _: Any, __: Any, checkpoint: dict[str, Any]) -> None:
        """Put them beside the weights."""
        checkpoint[SETTINGS] = self.kept

    def on_train_start(self, *_: Any) -> None:
        """Know that everything is as it was."""
        self.has_begun = True


@contextmanager
def restoring(checkpoint: Path, settings: Settings) -> Iterator[None]:
    """Say in a sentence that a run cannot go on from a checkpoint.

    Args:
        checkpoint: that a run goes on from, where it is there.
        settings: of the run; what goes wrong after it has begun is something else.
    """
    try:
        yield
    except (InputError, MissingExtraError, OSError, MemoryError):
        raise
    except Exception as error:
        if settings.has_begun or not checkpoint.exists() or is_out_of_memory(error):
            raise
        raise InputError(
            Fault(
                f"cannot be gone on from: {reason(error)}",
                expected="the checkpoint of a run with these settings",
                fix="copy the run again, or start another",
                file=str(checkpoint),
            )
        ) from error
