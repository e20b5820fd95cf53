import gzip
import struct

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.importers.recipes.idx import read_idx


def idx(array, *, code=8) -> bytes:
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, code, array.ndim, *array.shape)
    return header + array.tobytes()


@pytest.fixture
def images(rng):
    return rng.integers(0, 256, (3, 4, 5), dtype=np.uint8)


@pytest.mark.parametrize("name", ["images", "images.gz"])
def test_values_and_axes_are_those_stored(tmp_path, images, name):
    stored = idx(images)
    (tmp_path / name).write_bytes(gzip.compress(stored) if name.endswith("gz") else stored)
    read = read_idx(tmp_path / name, n_axes=3)
    assert (read == images).all()
    assert read.dtype == np.uint8


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda array: idx(array)[:-1], "holds 59 values"),
        (lambda array: idx(array) + b"x", "holds 61 values"),
        (lambda array: idx(array, code=13), "00 00 0d 03"),
        (lambda array: idx(array[0]), "00 00 08 02"),
        (lambda array: gzip.compress(idx(array)), "1f 8b"),
        (lambda array: idx(array)[:9], "00 00 08 03"),
        (lambda array: b"", "(none)"),
    ],
    ids=["cut", "longer", "floats", "two axes", "compressed", "half a header", "empty"],
)
def test_anything_else_is_refused_and_named(tmp_path, images, content, said):
    (tmp_path / "images").write_bytes(content(images))
    with pytest.raises(InputError) as caught:
        read_idx(tmp_path / "images", n_axes=3)
    (fault,) = caught.value.faults
    assert said in fault.found
    assert fault.file == str(tmp_path / "images")


def test_a_damaged_archive_is_named(tmp_path, images):
    (tmp_path / "images.gz").write_bytes(gzip.compress(idx(images))[:-9])
    with pytest.raises(InputError, match=r"images\.gz: cannot be read as idx"):
        read_idx(tmp_path / "images.gz", n_axes=3)
