"""TIFF files put together byte by byte, as no program would write them."""

import struct

PIXELS = bytes(range(100))
START = 8 + len(PIXELS)
"""Where the first directory is."""


def directory(tags, following=0):
    """Return a directory of (code, type, count, value)."""
    listed = b"".join(struct.pack("<HHII", *tag) for tag in sorted(tags))
    return struct.pack("<H", len(tags)) + listed + struct.pack("<I", following)


def page(*extra, width=10, height=10, n_bytes=100, packing=1, place=8):
    """Return the tags of a grey page of one strip, others in place of its own."""
    tags = {
        256: (256, 4, 1, width),
        257: (257, 4, 1, height),
        258: (258, 3, 1, 8),
        259: (259, 3, 1, packing),
        262: (262, 3, 1, 1),
        273: (273, 4, 1, place),
        277: (277, 3, 1, 1),
        278: (278, 4, 1, height),
        279: (279, 4, 1, n_bytes),
    }
    return list((tags | {tag[0]: tag for tag in extra}).values())


def tiff(tags, data=PIXELS, following=0, rest=b""):
    """Return a file: its data, which begin at byte 8, then a directory, then the rest."""
    start = b"II" + struct.pack("<HI", 42, 8 + len(data))
    return start + data + directory(tags, following) + rest


def described(text, **options):
    """Return a file whose page has a description."""
    words = text.encode() + b"\0"
    return tiff(page((270, 2, len(words), START), **options), PIXELS + words)
