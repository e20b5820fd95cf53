"""Round trips through every format that can be written, and every kind of bad file."""

import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.transform import Rotation

from multirater.errors import InputError
from multirater.io.formats import images as formats
from multirater.io.formats.images import (
    READABLE,
    WRITABLE,
    image_shape,
    is_image_file,
    read_image,
    read_label_array,
    suffix_of,
    write_image,
)
from multirater.io.formats.suffixes import PICTURES_IN
from multirater.types import Geometry, Image

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
MEDICAL = [*INTEGERS, "float32", "float64"]
ANY = [*MEDICAL, "float16", "bool"]
HOLD_ANY = {".tif", ".tiff", ".npz"}
HOLDS = {  # suffix: types of value, largest number of channels, axes of space
    suffix: (ANY if suffix in HOLD_ANY else MEDICAL, 6, (2, 3))
    for suffix in sorted(WRITABLE - {".png", ".npy"})
}
"""What every format holds, but PNG and NPY, which have tests of their own."""


@st.composite
def geometries(draw, ndim):
    spacing = draw(st.tuples(*[st.floats(0.01, 50.0)] * ndim))
    origin = draw(st.tuples(*[st.floats(-500.0, 500.0)] * ndim))
    angles = draw(st.tuples(*[st.floats(-180, 180)] * 3))
    turn = Rotation.from_euler("xyz", angles if ndim == 3 else (0, 0, angles[2]), degrees=True)
    flips = draw(st.tuples(*[st.sampled_from([-1.0, 1.0])] * ndim))
    direction = turn.as_matrix()[:ndim, :ndim] * np.asarray(flips)
    return Geometry(spacing, origin, tuple(map(tuple, direction.tolist())))


@st.composite
def images(draw, dtypes, max_channels, ndims):
    ndim = draw(st.sampled_from(ndims))
    shape = draw(st.tuples(st.integers(1, max_channels), *[st.integers(1, 6)] * ndim))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    array = draw(hnp.arrays(dtype, shape, elements=hnp.from_dtype(dtype, allow_nan=False)))
    return Image(array, draw(geometries(ndim)))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def assert_same(read: Image, meant: Image) -> None:
    assert read.array.dtype == meant.array.dtype
    np.testing.assert_array_equal(read.array, meant.array)
    assert_same_geometry(read.geometry, meant.geometry)


def assert_same_geometry(read: Geometry, meant: Geometry) -> None:
    np.testing.assert_allclose(read.spacing, meant.spacing, rtol=1e-4)
    np.testing.assert_allclose(read.direction, meant.direction, atol=1e-4)
    np.testing.assert_allclose(read.origin, meant.origin, rtol=1e-4, atol=1e-4)


def test_what_is_written_can_be_read():
    assert WRITABLE < READABLE


@pytest.mark.parametrize("suffix", HOLDS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_round_trip(suffix, data):
    image = data.draw(images(*HOLDS[suffix]))
    before = image.array.copy()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"image{suffix}"
        write_image(image, path)
        assert names(Path(folder)) == [path.name]
        assert_same(read_image(path), image)
        space, geometry = image_shape(path)
        assert space == image.space
        assert_same_geometry(geometry, image.geometry)
    np.testing.assert_array_equal(image.array, before)


@settings(max_examples=30, deadline=None)
@given(
    st.one_of(images(["uint8"], 4, (2,)), images(["uint16"], 1, (2,)), images(["bool"], 1, (2,)))
)
def test_round_trip_png(image):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "image.png"
        write_image(image, path)
        assert_same(read_image(path), image)
        assert image_shape(path) == (image.space, image.geometry)


@settings(max_examples=30, deadline=None)
@given(images(ANY, 6, (2, 3)))
def test_round_trip_npy_or_a_clear_refusal(image):
    plain = Image(image.array, Geometry.default(image.geometry.ndim))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "image.npy"
        in_doubt = image.array.shape[0] > 4  # channels beyond four look like space
        with contextlib.suppress(InputError) if in_doubt else contextlib.nullcontext():
            write_image(plain, path)
        if not path.exists():
            return
        assert_same(read_image(path), plain)
        assert image_shape(path) == (image.space, plain.geometry)


@pytest.mark.parametrize("suffix", sorted(WRITABLE - {".npy"}))
def test_big_endian_arrays_are_written_and_read(tmp_path, suffix):
    array = np.arange(12, dtype=">u2").reshape(1, 3, 4)
    write_image(Image(array, Geometry.default(2)), tmp_path / f"a{suffix}")
    read = read_image(tmp_path / f"a{suffix}").array
    np.testing.assert_array_equal(read, array)
    assert read.dtype.isnative


@pytest.mark.parametrize("suffix", sorted(WRITABLE))
def test_suffixes_in_capitals(tmp_path, suffix):
    image = Image(np.arange(42, dtype=np.uint8).reshape(1, 6, 7), Geometry.default(2))
    path = tmp_path / f"A{suffix.upper()}"
    write_image(image, path)
    assert names(tmp_path) == [path.name]
    assert_same(read_image(path), image)
    assert image_shape(path)[0] == (6, 7)


@pytest.mark.parametrize("suffix", sorted(WRITABLE))
def test_a_slice_axis_is_added_and_dropped_on_request(tmp_path, suffix):
    image = Image(np.arange(42, dtype=np.uint8).reshape(1, 6, 7), Geometry.default(2))
    path = tmp_path / f"a{suffix}"
    write_image(image, path)
    solid = read_image(path, ndim=3)
    assert solid.space == (1, 6, 7)
    assert image_shape(path, 3) == ((1, 6, 7), Geometry.default(3))
    if suffix != ".png":
        write_image(solid, path, overwrite=True)
        assert_same(read_image(path), solid)
        assert_same(read_image(path, ndim=2), image)
        assert image_shape(path, 2) == (image.space, image.geometry)


@pytest.mark.parametrize("suffix", sorted(WRITABLE - {".png"}))
def test_a_volume_is_no_picture(tmp_path, suffix):
    image = Image(np.zeros((1, 5, 6, 7), dtype=np.uint8), Geometry.default(3))
    path = tmp_path / f"a{suffix}"
    write_image(image, path)
    if suffix == ".npy":  # axes without names are what the reader says they are
        assert read_image(path, ndim=2).array.shape == (5, 6, 7)
        return
    for ask in (lambda: read_image(path, ndim=2), lambda: image_shape(path, 2)):
        with pytest.raises(InputError, match="3-D, 5 x 6 x 7") as error:
            ask()
        assert error.value.faults[0].file == str(path)


@pytest.mark.parametrize("suffix", sorted(WRITABLE))
def test_every_truncated_file_is_an_error(tmp_path, suffix):
    rng = np.random.default_rng(0)
    space = (9, 11) if suffix == ".png" else (5, 9, 11)
    image = Image(rng.integers(0, 255, (1, *space)).astype(np.uint8), Geometry.default(len(space)))
    whole = tmp_path / f"whole{suffix}"
    write_image(image, whole)
    data = whole.read_bytes()
    path = tmp_path / f"cut{suffix}"
    n_refused = 0
    for length in range(0, len(data), max(1, len(data) // 60)):
        path.write_bytes(data[:length])
        try:
            read = read_image(path)
        except InputError as error:
            n_refused += 1
            fault = error.faults[0]
            assert fault.file == str(path)
            assert fault.expected
            assert fault.fix
        else:  # only bytes after the pixels were lost
            np.testing.assert_array_equal(read.array, image.array)
            assert length > 0.8 * len(data)
    assert n_refused > 40


@pytest.mark.parametrize("suffix", sorted(READABLE))
@pytest.mark.parametrize("content", [b"garbage", b"\x00" * 600, bytes(range(256)) * 4])
def test_garbage_is_an_error(tmp_path, suffix, content):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    for ask in (read_image, read_label_array, image_shape):
        with pytest.raises(InputError) as error:
            ask(path)
        assert error.value.faults[0].file == str(path)
        assert error.value.faults[0].fix


@pytest.mark.parametrize("suffix", sorted(READABLE))
def test_missing_and_empty_files_are_told(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    for ask in (read_image, read_label_array, image_shape):
        with pytest.raises(InputError, match="does not exist"):
            ask(path)
    path.touch()
    with pytest.raises(InputError, match="is empty"):
        read_image(path)


def test_a_file_of_another_kind_is_an_error(tmp_path):
    write_image(Image(np.zeros((1, 4, 4), np.uint8), Geometry.default(2)), tmp_path / "a.png")
    for suffix in sorted(READABLE - PICTURES_IN - {".png"}):
        path = tmp_path / f"b{suffix}"
        path.write_bytes((tmp_path / "a.png").read_bytes())
        with pytest.raises(InputError) as error:
            read_image(path)
        assert error.value.faults[0].file == str(path)


def test_unknown_suffixes_are_listed(tmp_path):
    (tmp_path / "a.xyz").write_bytes(b"1")
    with pytest.raises(InputError, match=r"\.xyz") as error:
        read_image(tmp_path / "a.xyz")
    assert ".nii.gz" in error.value.faults[0].expected
    with pytest.raises(InputError, match=r"\.jpg") as error:
        write_image(Image(np.zeros((1, 4, 4), np.uint8), Geometry.default(2)), tmp_path / "a.jpg")
    assert ".png" in error.value.faults[0].expected
    with pytest.raises(InputError, match="write_dicom_seg"):
        write_image(Image(np.zeros((1, 4, 4), np.uint8), Geometry.default(2)), tmp_path / "a.dcm")


@pytest.mark.parametrize(
    ("suffix", "array"),
    [
        (".png", np.zeros((1, 2, 3, 4), np.uint8)),
        (".png", np.zeros((1, 3, 4), np.float32)),
        (".png", np.zeros((1, 3, 4), np.int16)),
        (".png", np.zeros((3, 3, 4), np.uint16)),
        (".png", np.zeros((2, 3, 4), np.uint16)),
        (".png", np.zeros((5, 3, 4), np.uint8)),
        (".nii", np.zeros((1, 3, 4), np.float16)),
        (".nii.gz", np.zeros((1, 3, 4), bool)),
        (".nrrd", np.zeros((1, 3, 4), np.float16)),
        (".mha", np.zeros((1, 3, 4), bool)),
        (".tif", np.zeros((1, 3, 4), np.longdouble)),
    ],
)
def test_what_a_format_cannot_hold_is_refused_with_the_formats_that_can(tmp_path, suffix, array):
    image = Image(array, Geometry.default(array.ndim - 1))
    with pytest.raises(InputError, match="cannot be held by") as error:
        write_image(image, tmp_path / f"a{suffix}")
    assert names(tmp_path) == []
    able = error.value.faults[0].expected.removeprefix("one of ").split(", ")
    assert able
    for other in able:
        write_image(image, tmp_path / f"a{other}")
        assert_same(read_image(tmp_path / f"a{other}"), image)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((1, 0, 4), np.uint8),
        np.zeros((1, 3, 4), complex),
        np.zeros((1, 3, 4), object),
        np.zeros((3, 4), np.uint8),
    ],
)
def test_what_is_no_image_is_not_written(tmp_path, array):
    with pytest.raises(InputError) as error:
        write_image(Image(array, Geometry.default(2)), tmp_path / "a.npz")
    assert error.value.faults[0].file == str(tmp_path / "a.npz")
    assert names(tmp_path) == []


def test_nothing_is_overwritten_unasked(tmp_path):
    first, second = (Image(np.full((1, 3, 3), v, np.uint8), Geometry.default(2)) for v in (1, 2))
    path = tmp_path / "a.png"
    write_image(first, path)
    with pytest.raises(InputError, match="already exists"):
        write_image(second, path)
    assert_same(read_image(path), first)
    write_image(second, path, overwrite=True)
    assert_same(read_image(path), second)


FULL_DISK = """
import resource, signal, sys
import numpy as np
from pathlib import Path
from multirater.errors import InputError
from multirater.io.formats.images import write_image
from multirater.io.formats.suffixes import PICTURES_IN
from multirater.types import Geometry, Image

noise = np.random.default_rng(0).integers(0, 255, (1, 200, 200)).astype(np.uint8)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for path in map(Path, sys.argv[1:]):
    try:
        write_image(Image(noise, Geometry.default(2)), path, overwrite=True)
    except InputError as error:
        print(error.faults[0].file, error.faults[0].found.split(":")[0])
"""


def test_a_full_disk_leaves_the_old_files(tmp_path):
    """In a process for which the system refuses to write files of more than 1000 bytes."""
    old = Image(np.zeros((1, 5, 5), np.uint8), Geometry.default(2))
    paths = [tmp_path / f"a{suffix}" for suffix in sorted(WRITABLE)]
    for path in paths:
        write_image(old, path)
    command = [sys.executable, "-c", FULL_DISK, *map(str, paths)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert told == [f"{path} cannot be written" for path in paths]
    for path in paths:
        assert_same(read_image(path), old)
    assert names(tmp_path) == sorted(path.name for path in paths)


def test_modalities_become_channels(tmp_path):
    geometry = Geometry((2.0, 1.0, 1.0), (0.0, 5.0, 0.0), Geometry.default(3).direction)
    for value, name in enumerate(["t1.nii.gz", "t2.nrrd", "rgb.mha"]):
        array = np.full((3 if name == "rgb.mha" else 1, 2, 3, 4), value, np.int16)
        write_image(Image(array, geometry), tmp_path / name)
    paths = [tmp_path / name for name in ("t2.nrrd", "rgb.mha", "t1.nii.gz")]
    image = read_image(paths)
    assert image.array.dtype == np.int16
    assert image.array[:, 0, 0, 0].tolist() == [1, 2, 2, 2, 0]
    assert image.geometry.is_close(geometry)
    assert image_shape(paths)[0] == (2, 3, 4)
    by_name = read_image(tmp_path)
    assert by_name.array[:, 0, 0, 0].tolist() == [2, 2, 2, 0, 1]


def test_modalities_on_other_grids_are_named(tmp_path):
    geometry = Geometry.default(2)
    moved = Geometry((1.0, 1.0), (3.0, 0.0), geometry.direction)
    write_image(Image(np.zeros((1, 4, 5), np.uint8), geometry), tmp_path / "a.png")
    write_image(Image(np.zeros((1, 4, 6), np.uint8), geometry), tmp_path / "b.png")
    write_image(Image(np.zeros((1, 4, 5), np.uint8), moved), tmp_path / "c.png")
    for ask in (read_image, image_shape):
        with pytest.raises(InputError, match="4 x 6") as error:
            ask([tmp_path / "a.png", tmp_path / "b.png"])
        assert error.value.faults[0].file == str(tmp_path / "b.png")
        with pytest.raises(InputError, match="lies elsewhere") as error:
            ask([tmp_path / "a.png", tmp_path / "c.png"])
        assert error.value.faults[0].file == str(tmp_path / "c.png")


def test_nothing_to_read_is_told(tmp_path):
    with pytest.raises(InputError, match="no file"):
        read_image([])
    (tmp_path / "notes.txt").write_text("no image")
    with pytest.raises(InputError, match="folder without images"):
        read_image(tmp_path)


def test_labels_of_true_and_false_are_numbers(tmp_path):
    mask = np.array([[[True, False, True]]])
    for suffix in (".png", ".tif", ".npy", ".npz"):
        write_image(Image(mask, Geometry.default(2)), tmp_path / f"a{suffix}")
        assert read_image(tmp_path / f"a{suffix}").array.dtype == bool
        labels = read_label_array(tmp_path / f"a{suffix}").array
        assert labels.dtype == np.uint8
        assert labels.tolist() == [[[1, 0, 1]]]


def test_suffixes_and_kinds_of_files(tmp_path, dicom_slice):
    assert suffix_of("A.B.NII.GZ") == ".nii.gz"
    assert suffix_of(Path("x/a.b.Tif")) == ".tif"
    assert suffix_of("x.gz") == ".gz"
    dicom_slice(tmp_path / "1.2.840.7", np.zeros((4, 4), np.uint16))
    for name in ("a.png", ".b.png", "c.raw"):
        (tmp_path / name).write_bytes(b"1")
    found = sorted(path.name for path in tmp_path.iterdir() if is_image_file(path))
    assert found == ["1.2.840.7", "a.png"]
    assert not is_image_file(tmp_path)


def test_the_public_names_are_here():
    assert set(formats.__all__) <= set(dir(formats))
