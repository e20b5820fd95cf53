"""Strips and tiles that unpack to more than their page, and that share their bytes."""

import lzma
import struct
import zlib

import numpy as np
import pytest
import tifffile
from tiff_bytes import page, tiff

from multirater.errors import InputError
from multirater.io.formats import claims
from multirater.io.formats.images import read_image

TILED = ((322, 4, 1, 1), (323, 4, 1, 1), (324, 4, 1, 8), (325, 4, 1, 100))


def refused(tmp_path, content):
    (tmp_path / "a.tif").write_bytes(content)
    with pytest.raises(InputError) as error:
        read_image(tmp_path / "a.tif")
    return error.value.faults[0].found


@pytest.mark.parametrize(
    ("packing", "pack"), [(8, zlib.compress), (32946, zlib.compress), (34925, lzma.compress)]
)
def test_a_strip_that_unpacks_to_more_than_its_page(tmp_path, monkeypatch, packing, pack):
    monkeypatch.setattr(claims, "_SMALL", 2**20)
    for name in ("zlib", "lzma"):  # nothing is unpacked at once
        monkeypatch.setattr(f"{name}.decompress", None)
    packed = pack(bytes(2**26))
    content = tiff(page(n_bytes=len(packed), packing=packing), packed)
    assert "unpacks to more" in refused(tmp_path, content)


@pytest.mark.parametrize("compression", ["zlib", "lzma"])
def test_large_honest_files_are_read(tmp_path, monkeypatch, compression):
    monkeypatch.setattr(claims, "_SMALL", 2**20)
    pixels = np.random.default_rng(0).integers(0, 255, (4, 300, 200), dtype=np.uint8)
    for options in ({}, {"tile": (64, 64)}):
        tifffile.imwrite(
            tmp_path / "a.tif", pixels, photometric="minisblack", compression=compression, **options
        )
        np.testing.assert_array_equal(read_image(tmp_path / "a.tif").array[0], pixels)


def test_strips_that_share_their_bytes(tmp_path):
    n_strips, packed = 400, bytes(2**16)
    places = struct.pack(f"<{n_strips}I", *[8] * n_strips)
    sizes = struct.pack(f"<{n_strips}I", *[len(packed)] * n_strips)
    start = 8 + len(packed)
    tags = page(
        (273, 4, n_strips, start),
        (278, 4, 1, 1),
        (279, 4, n_strips, start + len(places)),
        width=1,
        height=n_strips,
    )
    assert "bytes of packed pixels" in refused(tmp_path, tiff(tags, packed + places + sizes))


def test_tiles_of_one_pixel(tmp_path):
    tags = [tag for tag in page(*TILED, width=40_000, height=40_000) if tag[0] not in (273, 279)]
    assert "1600000000 parts" in refused(tmp_path, tiff(tags))


def test_a_tile_that_is_larger_than_memory(tmp_path):
    large = ((322, 4, 1, 2**20), (323, 4, 1, 2**20), *TILED[2:])
    tags = [tag for tag in page(*large, packing=8) if tag[0] not in (273, 279)]
    assert "claims to hold 1024.0 GB" in refused(tmp_path, tiff(tags))


@pytest.mark.parametrize("tag", ["StripOffsets", "StripByteCounts"])
def test_strips_that_are_not_in_the_file_are_refused(tmp_path, tag):
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.ones((16, 16), np.uint8), rowsperstrip=4, metadata=None)
    with tifffile.TiffFile(path, mode="r+b") as file:
        found = file.pages[0].tags[tag]
        found.overwrite((*found.value[:-1], 0))
    assert "lacks 1 of the 4 strips" in refused(tmp_path, path.read_bytes())
