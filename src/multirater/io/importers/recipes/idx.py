"""The idx format of MNIST: a header of big-endian numbers, then the values.

The header is two zero bytes, the type of value, the number of axes, and four bytes per axis.
"""

from __future__ import annotations

import gzip
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.io.formats.guard import reading

_UNSIGNED_BYTES = 8


def read_idx(path: str | Path, *, n_axes: int) -> NDArray[np.uint8]:
    """Read an idx file of unsigned bytes, compressed by gzip or not.

    Args:
        path: the file; compressed when its suffix is `.gz`.
        n_axes: number of axes it must have: 3 for images (n, y, x), 1 for classes (n,).

    Raises:
        InputError: it is damaged, or holds something else.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "labels-idx1-ubyte"
        >>> _ = target.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 5, 9]))
        >>> read_idx(target, n_axes=1)
        array([5, 9], dtype=uint8)
    """
    file = Path(path)
    with reading(file, "idx"):
        stored = file.read_bytes()
        content = gzip.decompress(stored) if file.suffix.lower() == ".gz" else stored
        _require_kind(content, n_axes)
        start = 4 + 4 * n_axes
        shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
        if len(content) - start != prod(shape):
            raise InputError(
                Fault(
                    f"holds {len(content) - start} values",
                    expected=f"{size_text(shape)} = {prod(shape)}, as its header says",
                    fix="download the file again",
                )
            )
        return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def _require_kind(content: bytes, n_axes: int) -> None:
    wanted = bytes([0, 0, _UNSIGNED_BYTES, n_axes])
    if content[:4] == wanted and len(content) >= 4 + 4 * n_axes:
        return
    raise InputError(
        Fault(
            f"begins with the bytes {content[:4].hex(' ') or '(none)'}",
            expected=f"{wanted.hex(' ')}: unsigned bytes with {n_axes} axes, in idx format",
            fix="download the file again; a compressed file needs the suffix .gz",
        )
    )
