"""The directories of a TIFF file, walked once before tifffile follows them.

A directory names the next one and may have others below it, anywhere in the file. A few bytes can
so make a ring, or share one long value among thousands of directories, which tifffile goes through
for minutes. Here each directory may be met once, and all of them have to fit into the file. Pages
of many kinds are refused as well: tifffile compares each kind with each, and each page of a kind
with all before it.
"""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_WIDTH, _LENGTH, _BELOW = 256, 257, 330
"""Tags: sides of a page, and directories below it."""

_TYPE_BYTES = {
    **dict.fromkeys((1, 2, 6, 7), 1),
    **dict.fromkeys((3, 8), 2),
    **dict.fromkeys((4, 9, 11, 13), 4),
    **dict.fromkeys((5, 10, 12, 16, 17, 18), 8),
}
_WHOLE_NUMBERS = {3: "H", 4: "I", 13: "I", 16: "Q", 18: "Q"}

_OF_A_KIND = frozenset(
    (256, 257, 258, 259, 262, 266, 277, 278, 317, 322, 323, 338, 339, 32997, 32998)
)
"""Tags that tell which pages can be parts of one image: sizes, type and compression."""

_LONGEST_OF_A_KIND = 2**12
"""Bytes of such a tag that are looked at: one or two for each channel."""

_MOST_KINDS = 64
"""Images of a file: resolutions of one slide, its label and its map are a dozen."""

_MOST_OF_MIXED = 2000
"""Pages of one kind in a file of several."""

_LEAST_BYTES = 100
"""Of a directory with the eight tags that a page needs; shorter ones count as much."""

_SLACK = 2**10
"""Bytes of directories that any file may have."""

_SHARED = 8
"""How many times the size of the file the values of all tags may have: some are shared by pages."""


@dataclass(frozen=True)
class Directories:
    """What the directories of a file come to.

    Attributes:
        n_pages: of the chain that readers follow.
        least_pixels: of the smallest directory.
        n_bytes: of the file.
    """

    n_pages: int
    least_pixels: int
    n_bytes: int


def walked(path: Path) -> Directories:
    """Go through all directories of a file, those below others as well.

    Raises:
        ValueError: it is no TIFF file, its directories form a ring or do not fit into it.
    """
    with path.open("rb") as stream:
        return _Walk(stream).whole()


class _Walk:
    """A walk through the directories of an open file."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.n_bytes = os.fstat(stream.fileno()).st_size
        start = stream.read(16)
        order = {b"II": "<", b"MM": ">"}.get(start[:2], "")
        version = struct.unpack(f"{order}H", start[2:4])[0] if order and len(start) > 8 else 0
        if version not in (42, 43) or len(start) < 16:
            raise ValueError("it does not begin like a TIFF file")
        self.order, self.is_big = order, version == 43
        self.room, self.room_of_values = self.n_bytes + _SLACK, self.n_bytes * _SHARED + _SLACK
        self.seen: set[int] = set()
        self.kinds: Counter[tuple[tuple[int, int, bytes], ...]] = Counter()
        self.least_pixels = 2**63
        self.first = self._number(start[8:16] if self.is_big else start[4:8])

    def whole(self) -> Directories:
        """Walk the chain of pages, and then whatever is below."""
        below: list[int] = []
        offset = self.first
        while offset:
            found, offset = self._visited(offset)
            below.extend(found)
        n_pages = len(self.seen)
        while below:
            # Readers do not go on from a directory below to its next one.
            below.extend(self._visited(below.pop())[0])
        return Directories(n_pages, self.least_pixels, self.n_bytes)

    def _visited(self, offset: int) -> tuple[list[int], int]:
        """Go to a directory for the first time; return those below it, and the next."""
        if offset in self.seen:
            raise ValueError("it is damaged: its directories form a ring")
        self.seen.add(offset)
        content, following = self._directory(offset)
        return [each for each in self._tags(content) if each], following

    def _directory(self, offset: int) -> tuple[bytes, int]:
        """Return the tags of a directory, and where the next one is."""
        for_count, for_tag, for_offset = (8, 20, 8) if self.is_big else (2, 12, 4)
        self.stream.seek(min(offset, self.n_bytes))
        count = self._number(self.stream.read(for_count))
        n_bytes = for_count + count * for_tag + for_offset
        self.room -= max(n_bytes, _LEAST_BYTES)
        if self.room < 0:
            raise ValueError("it is damaged: its directories do not fit into it")
        content = self.stream.read(count * for_tag)
        return content, self._number(self.stream.read(for_offset))

    def _tags(self, content: bytes) -> Iterator[int]:
        """Hold the values of a directory against the file; yield directories below it."""
        inline, sides, of_kind = 8 if self.is_big else 4, [1, 1], []
        layout = struct.Struct(f"{self.order}HH{'Q' if self.is_big else 'I'}{inline}s")
        whole = len(content) // layout.size * layout.size
        for code, kind, count, value in layout.iter_unpack(content[:whole]):
            n_bytes = count * _TYPE_BYTES.get(kind, 0)
            if n_bytes > inline:
                self.room_of_values -= n_bytes
            if self.room_of_values < 0:
                raise ValueError(f"it is damaged: the values of tag {code} do not fit into it")
            if code in _OF_A_KIND:
                of_kind.append((code, count, self._bytes(value, min(n_bytes, _LONGEST_OF_A_KIND))))
            if code in (_WIDTH, _LENGTH) and kind in _WHOLE_NUMBERS and count:
                sides[code - _WIDTH] = self._numbers(kind, 1, value)[0]
            elif code == _BELOW and kind in _WHOLE_NUMBERS:
                yield from self._numbers(kind, count, value)
        self.least_pixels = min(self.least_pixels, max(sides[0] * sides[1], 1))
        self._count_kind(tuple(of_kind))

    def _count_kind(self, kind: tuple[tuple[int, int, bytes], ...]) -> None:
        """Count a page, and refuse more kinds, or more pages of several kinds, than images have."""
        self.kinds[kind] += 1
        if len(self.kinds) > _MOST_KINDS:
            raise ValueError(f"it has images of more than {_MOST_KINDS} kinds")
        if len(self.kinds) > 1 and max(self.kinds.values()) > _MOST_OF_MIXED:
            raise ValueError(f"it has images of several kinds, of one more than {_MOST_OF_MIXED}")

    def _numbers(self, kind: int, count: int, value: bytes) -> tuple[int, ...]:
        content = self._bytes(value, count * _TYPE_BYTES[kind])
        whole = len(content) // _TYPE_BYTES[kind]
        return struct.unpack_from(f"{self.order}{whole}{_WHOLE_NUMBERS[kind]}", content)

    def _bytes(self, value: bytes, n_bytes: int) -> bytes:
        """Return the first bytes of what a tag holds, itself or elsewhere in the file."""
        if n_bytes <= len(value):
            return value[:n_bytes]
        self.stream.seek(min(self._number(value), self.n_bytes))
        return self.stream.read(n_bytes)

    def _number(self, content: bytes) -> int:
        if not content:
            raise ValueError("it is truncated: a directory is missing")
        return int.from_bytes(content, "little" if self.order == "<" else "big")
