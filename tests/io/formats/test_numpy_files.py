"""NPY and NPZ, held against numpy."""

import io
import struct
import zipfile

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.formats.images import image_shape, read_image, write_image
from multirater.types import Geometry, Image

GEOMETRY = Geometry((2.0, 0.5, 0.25), (3.0, -4.0, 5.0), Geometry.default(3).direction)


def test_numpy_sees_named_parts(tmp_path):
    array = np.arange(24, dtype=np.int16).reshape(1, 2, 3, 4)
    write_image(Image(array, GEOMETRY), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["array"], array)
        assert str(archive["axes"]) == "CZYX"
        assert archive["spacing"].tolist() == [2.0, 0.5, 0.25]
        assert archive["origin"].tolist() == [3.0, -4.0, 5.0]
        assert archive["direction"].tolist() == np.eye(3)[::-1].tolist()


@pytest.mark.parametrize(
    ("stored", "ndim", "meant"),
    [
        ((8, 9), None, (1, 8, 9)),
        ((3, 8, 9), None, (3, 8, 9)),
        ((8, 9, 3), None, (3, 8, 9)),
        ((8, 9, 10), None, (1, 8, 9, 10)),
        ((2, 8, 9, 10), None, (2, 8, 9, 10)),
        ((8, 9, 10, 4), None, (4, 8, 9, 10)),
        ((7, 8, 9, 10), None, (7, 8, 9, 10)),
        ((3, 8, 9), 3, (1, 3, 8, 9)),
        ((8, 9, 3), 3, (1, 8, 9, 3)),
        ((6, 8, 9), 2, (6, 8, 9)),
        ((8, 9, 6), 2, (6, 8, 9)),
        ((8, 9), 3, (1, 1, 8, 9)),
        ((8, 9, 10, 7), 3, (7, 8, 9, 10)),
    ],
)
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_axes_without_names(tmp_path, stored, ndim, meant, suffix):
    array = np.random.default_rng(0).random(stored, dtype=np.float32)
    path = tmp_path / f"a{suffix}"
    np.save(path, array) if suffix == ".npy" else np.savez(path, anything=array)
    image = read_image(path, ndim=ndim)
    assert image.array.shape == meant
    assert sorted(image.array.ravel()) == sorted(array.ravel())
    if stored[-1] == meant[0]:  # channels last
        np.testing.assert_array_equal(image.array, np.moveaxis(array, -1, 0))
    else:
        np.testing.assert_array_equal(image.array.ravel(), array.ravel())
    assert image_shape(path, ndim) == (meant[1:], Geometry.default(len(meant) - 1))


def test_fortran_order_and_other_versions_are_read(tmp_path):
    array = np.asfortranarray(np.arange(12).reshape(3, 4))
    for version in ((1, 0), (2, 0)):
        with (tmp_path / "a.npy").open("wb") as stream:
            np.lib.format.write_array(stream, array, version=version)
        np.testing.assert_array_equal(read_image(tmp_path / "a.npy").array[0], array)
        assert image_shape(tmp_path / "a.npy")[0] == (3, 4)


def test_several_arrays_are_listed(tmp_path):
    np.savez(tmp_path / "a.npz", images=np.zeros((4, 4)), masks=np.zeros((4, 4)))
    for ask in (read_image, image_shape):
        with pytest.raises(InputError, match="2 arrays: images, masks") as error:
            ask(tmp_path / "a.npz")
        assert "savez_compressed" in error.value.faults[0].fix
        assert error.value.faults[0].file == str(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("spacing", [1.0, 1.0]),
        ("spacing", [1.0, 1.0, 0.0]),
        ("origin", [0.0, 0.0, np.nan]),
        ("direction", np.zeros((3, 3))),
        ("array", np.zeros((1, 4, 5))),
    ],
)
def test_a_damaged_geometry_is_told(tmp_path, part, value):
    write_image(Image(np.zeros((1, 2, 3, 4)), GEOMETRY), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as archive:
        parts = dict(archive)
    np.savez(tmp_path / "a.npz", **{**parts, part: np.asarray(value)})
    for ask in (read_image, image_shape):
        with pytest.raises(InputError, match="geometry") as error:
            ask(tmp_path / "a.npz")
        assert error.value.faults[0].file == str(tmp_path / "a.npz")


def test_an_archive_of_nothing_is_told(tmp_path):
    np.savez(tmp_path / "a.npz")
    with pytest.raises(InputError, match="0 arrays: none"):
        read_image(tmp_path / "a.npz")


def test_pickles_are_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("the pickle was loaded",))

    np.save(tmp_path / "a.npy", np.array([[Trap()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", array=np.array([[Trap()]], dtype=object), allow_pickle=True)
    for name in ("a.npy", "a.npz"):
        with pytest.raises(InputError) as error:
            read_image(tmp_path / name)
        assert error.value.faults[0].file == str(tmp_path / name)


@pytest.mark.parametrize(
    "array",
    [np.array([["a"]]), np.array(5.0), np.zeros((1, 1, 2, 2, 2)), np.zeros((2, 2), complex)],
)
def test_arrays_that_are_no_image_are_told(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(InputError) as error:
        read_image(tmp_path / "a.npy")
    assert error.value.faults[0].file == str(tmp_path / "a.npy")
    assert error.value.faults[0].expected


def test_npy_has_no_room_for_a_geometry(tmp_path):
    with pytest.raises(InputError, match="spacing, origin or direction") as error:
        write_image(Image(np.zeros((1, 2, 3, 4)), GEOMETRY), tmp_path / "a.npy")
    assert ".npz" in error.value.faults[0].fix
    assert not (tmp_path / "a.npy").exists()


def test_a_mask_is_saved_as_numpy_users_expect(tmp_path):
    write_image(Image(np.ones((1, 3, 4), bool), Geometry.default(2)), tmp_path / "mask.npy")
    assert np.load(tmp_path / "mask.npy").shape == (3, 4)
    write_image(Image(np.ones((1, 8, 9, 7)), Geometry.default(3)), tmp_path / "volume.npy")
    assert np.load(tmp_path / "volume.npy").shape == (8, 9, 7)


def archive(file, packing=zipfile.ZIP_DEFLATED, **members):
    """Write an archive of arrays, or of bytes that stand for them."""
    with zipfile.ZipFile(file, "w", packing) as files:
        for name, member in members.items():
            stream = io.BytesIO()
            np.save(stream, member) if not isinstance(member, bytes) else stream.write(member)
            files.writestr(f"{name}.npy", stream.getvalue())


@pytest.mark.parametrize("part", ["spacing", "origin", "direction"])
def test_a_place_of_many_numbers_is_refused_by_its_size(tmp_path, part):
    place = {"spacing": np.ones(2), "origin": np.zeros(2), "direction": np.eye(2)}
    whole = {"array": np.zeros((1, 4, 5)), "axes": np.array("CYX"), **place}
    archive(tmp_path / "a.npz", **whole)
    assert image_shape(tmp_path / "a.npz")[0] == (4, 5)
    archive(tmp_path / "b.npz", **whole | {part: np.zeros(2**20)})
    for ask in (image_shape, read_image):
        with pytest.raises(InputError, match=f"its {part} has 8388736 bytes"):
            ask(tmp_path / "b.npz")


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_arrays_packed_without_a_bound_are_refused(tmp_path, packing):
    archive(tmp_path / "a.npz", packing, a=np.zeros((4, 5)))
    for ask in (image_shape, read_image):
        with pytest.raises(InputError, match="packed by neither"):
            ask(tmp_path / "a.npz")


def test_a_header_without_end_is_not_unpacked(tmp_path):
    header = b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + b" " * 2**24
    archive(tmp_path / "a.npz", a=header)
    with pytest.raises(InputError, match="got 65524"):
        image_shape(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("descr", "shape", "match"),
    [
        ("'|u1'", "(-1, 10)", "sizes"),
        ("'|O'", "(2, 2)", "type object"),
        ("'|S0'", "(1000000, 1000000)", "type"),
        ("[('a', '<f4'), ('b', '|O')]", "(2, 2)", "type"),
        ("-" * 8000 + "1", "(2, 2)", "understood"),
    ],
)
def test_headers_that_cannot_be(tmp_path, descr, shape, match):
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
    (tmp_path / "a.npy").write_bytes(start + header + bytes(100))
    for ask in (image_shape, read_image):
        with pytest.raises(InputError, match=match):
            ask(tmp_path / "a.npy")
