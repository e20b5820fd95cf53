"""Checkpoints as data: nothing in them is run, and they appear whole or not at all.

A checkpoint may come from somebody else. It is read as numbers and plain containers only; one that
asks for code is refused, with the code it asks for.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, is_zipfile

import torch
from lightning.fabric.plugins.io.torch_io import TorchCheckpointIO
from torch.serialization import get_unsafe_globals_in_checkpoint

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.io.formats.guard import reason
from multirater.words import listed


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """Read a checkpoint as data, on the processor.

    Raises:
        InputError: it is damaged, or holds more than data.
    """
    _require_plain_storage(Path(path))
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise _refused(Path(path), error) from None
    if not isinstance(content, dict):
        raise InputError(
            Fault(
                f"holds a {type(content).__name__}",
                expected="a checkpoint of this program",
                fix="copy the run again",
                file=str(path),
            )
        )
    return content


def _require_plain_storage(path: Path) -> None:
    """Refuse what unpacks to more than the file holds: checkpoints are kept as they are."""
    if not is_zipfile(path):
        return  # of an old kind, which cannot be packed; or none at all, which is said on reading
    try:
        with ZipFile(path) as parts:
            claimed = sum(each.file_size for each in parts.infolist())
            damaged = parts.testzip() if claimed <= path.stat().st_size else None
    except BadZipFile as error:
        raise _refused(path, error) from None
    if damaged is not None:
        raise _refused(path, BadZipFile(f"the checksum of {damaged} is wrong"))
    stored = path.stat().st_size
    if claimed > stored:
        raise InputError(
            Fault(
                f"claims to unpack to {claimed / 2**20:.0f} MB, in a file of "
                f"{stored / 2**20:.1f} MB",
                expected="a checkpoint of this program, which is not packed",
                fix="copy the run again",
                file=str(path),
            )
        )


def code_in(path: str | Path) -> list[str]:
    """Name the functions and classes that a pickled file would import, without importing any."""
    try:
        return sorted(get_unsafe_globals_in_checkpoint(str(path)))
    except Exception:  # not a file of torch's: what it would do is not known
        return []


def _refused(path: Path, error: Exception) -> InputError:
    code = code_in(path)
    if code:
        return InputError(
            Fault(
                f"would run code: it asks for {listed(code, most=5)}",
                expected="weights, which are numbers only",
                fix="do not use this run: no network that this program trains writes such a file",
                file=str(path),
            )
        )
    return InputError(
        Fault(
            f"cannot be read: {reason(error)}",
            expected="a whole, undamaged checkpoint",
            fix="copy the run again, or train again",
            file=str(path),
        )
    )


def write_whole(value: Any, path: str | Path) -> None:
    """Write what torch can keep, on the file system of its target, then move it into place.

    Torch's own writer tells of a full disk only at which byte its file ended.

    Args:
        value: numbers, or a network.
        path: the file, which is replaced.
    """
    kept = io.BytesIO()
    torch.save(value, kept)
    with replacing(path, overwrite=True) as temporary:
        temporary.write_bytes(kept.getbuffer())


class Checkpoints(TorchCheckpointIO):
    """How Lightning writes and reads checkpoints: beside their target, and as data."""

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        """Write a checkpoint on the file system of its target, then move it into place."""
        write_whole(checkpoint, path)

    def load_checkpoint(self, path: str | Path, *_: Any, **__: Any) -> dict[str, Any]:
        """Read a checkpoint to go on from."""
        return read_checkpoint(path)
