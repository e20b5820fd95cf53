"""TIFF, held against tifffile and Pillow, and files as other programs write them."""

import contextlib
import io

import numpy as np
import pytest
import tifffile
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.io.formats.images import image_shape, read_image, read_label_array, write_image
from multirater.types import Geometry, Image

RNG = np.random.default_rng(4)
VOLUME = RNG.integers(0, 255, (6, 20, 24)).astype(np.uint8)


def spaced(*spacing: float) -> Geometry:
    default = Geometry.default(len(spacing))
    return Geometry(spacing, default.origin, default.direction)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((1, 5, 7), "YX"),
        ((3, 5, 7), "YXS"),
        ((2, 5, 7), "CYX"),
        ((1, 4, 5, 7), "ZYX"),
        ((3, 4, 5, 7), "ZYXS"),
        ((5, 4, 5, 7), "CZYX"),
    ],
)
def test_tifffile_sees_named_axes(tmp_path, shape, axes):
    array = RNG.integers(0, 255, shape).astype(np.uint8)
    write_image(Image(array, Geometry.default(len(shape) - 1)), tmp_path / "a.tif")
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        assert file.series[0].axes == axes
        seen = file.series[0].asarray()
    meant = (
        np.moveaxis(array, 0, -1)
        if axes.endswith("S")
        else array.squeeze(0 if len(array) == 1 else ())
    )
    np.testing.assert_array_equal(seen, meant)


def test_pillow_sees_colours(tmp_path):
    array = RNG.integers(0, 255, (3, 5, 7)).astype(np.uint8)
    write_image(Image(array, spaced(2.0, 3.0)), tmp_path / "a.tif")
    with Pillow.open(tmp_path / "a.tif") as picture:
        assert picture.mode == "RGB"
        np.testing.assert_array_equal(np.asarray(picture), array.transpose(1, 2, 0))


@pytest.mark.parametrize("kind", ["unassalpha", "assocalpha"])
@pytest.mark.parametrize("planar", ["contig", "separate"])
def test_full_opacity_is_no_channel_of_an_image(tmp_path, kind, planar):
    array = RNG.integers(0, 255, (4, 20, 24)).astype(np.uint8)
    array[-1] = 255
    how = {"photometric": "rgb", "planarconfig": planar}

    def read_back(extra):
        stored = array if planar == "separate" else array.transpose(1, 2, 0)
        tifffile.imwrite(tmp_path / "a.tif", stored, extrasamples=[extra], **how)
        return read_image(tmp_path / "a.tif").array

    np.testing.assert_array_equal(read_back(kind), array[:3])
    np.testing.assert_array_equal(read_back("unspecified"), array)
    array[-1, 4, 5] = 0
    np.testing.assert_array_equal(read_back(kind), array)


def save_pages(path, pages, **options):
    pictures = [Pillow.fromarray(page) for page in pages]
    pictures[0].save(path, "TIFF", save_all=True, append_images=pictures[1:], **options)


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_adobe_deflate", "packbits"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_pages_are_the_slices_of_a_volume(tmp_path, compression, dtype):
    save_pages(tmp_path / "a.tif", VOLUME.astype(dtype), compression=compression)
    image = read_image(tmp_path / "a.tif")
    assert image.array.dtype == dtype
    np.testing.assert_array_equal(image.array[0], VOLUME)
    assert image.geometry == Geometry.default(3)
    assert image_shape(tmp_path / "a.tif") == ((6, 20, 24), Geometry.default(3))
    assert read_image(tmp_path / "a.tif", ndim=2).array.shape == (6, 20, 24)
    assert image_shape(tmp_path / "a.tif", 2)[0] == (20, 24)


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "jpeg"])
def test_colours_from_pillow(tmp_path, compression):
    pixels = np.full((16, 16, 3), (200, 100, 50), np.uint8)
    Pillow.fromarray(pixels).save(tmp_path / "a.tif", compression=compression)
    image = read_image(tmp_path / "a.tif")
    assert image.array.shape == (3, 16, 16)
    with Pillow.open(tmp_path / "a.tif") as picture:
        np.testing.assert_array_equal(image.array, np.asarray(picture).transpose(2, 0, 1))


def test_planes_of_colours(tmp_path):
    array = RNG.integers(0, 255, (3, 5, 7)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "a.tif", array, photometric="rgb", planarconfig="separate")
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif").array, array)


@pytest.mark.parametrize("unit", ["mm", "um", "\\u00B5m", "micron"])
def test_imagej_stacks_with_their_unit(tmp_path, unit):
    scale = 1.0 if unit == "mm" else 0.001
    tifffile.imwrite(
        tmp_path / "a.tif",
        VOLUME,
        imagej=True,
        resolution=(4.0, 2.0),
        metadata={"axes": "ZYX", "unit": unit, "spacing": 3.0},
    )
    image = read_image(tmp_path / "a.tif")
    np.testing.assert_array_equal(image.array[0], VOLUME)
    np.testing.assert_allclose(image.geometry.spacing, np.array([3.0, 0.5, 0.25]) * scale)


def test_imagej_without_a_unit_states_no_size(tmp_path):
    named = {"axes": "ZYX"}
    tifffile.imwrite(tmp_path / "a.tif", VOLUME, imagej=True, resolution=(4, 2), metadata=named)
    assert read_image(tmp_path / "a.tif").geometry.spacing == (1.0, 1.0, 1.0)


def test_imagej_channels_and_slices(tmp_path):
    array = RNG.integers(0, 255, (6, 2, 20, 24)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "a.tif", array, imagej=True, metadata={"axes": "ZCYX"})
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif").array, array.swapaxes(0, 1))


@pytest.mark.parametrize("kind", ["imagej", "ome"])
def test_a_film_is_refused(tmp_path, kind):
    tifffile.imwrite(tmp_path / "a.tif", VOLUME, metadata={"axes": "TYX"}, **{kind: True})
    for ask in (read_image, image_shape):
        with pytest.raises(InputError, match="TYX") as error:
            ask(tmp_path / "a.tif")
        assert error.value.faults[0].file == str(tmp_path / "a.tif")


def test_ome_axes_and_sizes(tmp_path):
    array = RNG.integers(0, 255, (2, 6, 20, 24)).astype(np.uint16)
    sizes = {"PhysicalSizeX": 250.0, "PhysicalSizeY": 0.5, "PhysicalSizeYUnit": "mm"}
    tifffile.imwrite(tmp_path / "a.ome.tif", array, metadata={"axes": "CZYX", **sizes})
    image = read_image(tmp_path / "a.ome.tif")
    np.testing.assert_array_equal(image.array, array)
    np.testing.assert_allclose(image.geometry.spacing, (1.0, 0.5, 0.25))


@pytest.mark.parametrize(
    ("unit", "spacing"), [("CENTIMETER", (0.5, 0.25)), ("INCH", (1.0, 1.0)), ("NONE", (1.0, 1.0))]
)
def test_pixels_per_centimetre_are_a_size_and_dots_per_inch_are_not(tmp_path, unit, spacing):
    tifffile.imwrite(
        tmp_path / "a.tif", VOLUME[0], resolution=(40, 20), resolutionunit=unit, metadata=None
    )
    assert read_image(tmp_path / "a.tif").geometry.spacing == spacing


def test_pages_that_ome_claims_and_the_file_lacks_are_refused(tmp_path):
    path = tmp_path / "a.ome.tif"
    tifffile.imwrite(path, VOLUME[:3], metadata={"axes": "ZYX"})
    np.testing.assert_array_equal(read_image(path).array[0], VOLUME[:3])
    honest = path.read_bytes()
    assert b'SizeZ="3"' in honest
    path.write_bytes(honest.replace(b'SizeZ="3"', b'SizeZ="4"'))
    for read in (read_image, read_label_array):
        with pytest.raises(InputError, match="lacks 1 of the 4 pages"):
            read(path)


def test_tifffile_arrays_without_axes(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", VOLUME, photometric="minisblack")
    assert read_image(tmp_path / "a.tif").array.shape == (1, 6, 20, 24)
    tifffile.imwrite(tmp_path / "b.tif", VOLUME.reshape(2, 3, 20, 24), photometric="minisblack")
    assert read_image(tmp_path / "b.tif").array.shape == (2, 3, 20, 24)


@pytest.mark.parametrize("compression", [None, "tiff_lzw"])
def test_a_palette_is_colours_in_images_and_indices_in_labels(tmp_path, compression):
    indices = np.array([[0, 1, 2], [2, 1, 0]], np.uint8)
    picture = Pillow.fromarray(indices)
    picture.putpalette([0, 0, 0, 255, 0, 0, 10, 20, 30])
    picture.save(tmp_path / "a.tif", compression=compression)
    np.testing.assert_array_equal(read_label_array(tmp_path / "a.tif").array, indices[None])
    colours = read_image(tmp_path / "a.tif").array
    assert colours[:, 0].T.tolist() == [[0, 0, 0], [255, 0, 0], [10, 20, 30]]


@pytest.mark.parametrize("dtype", [np.uint8, bool])
def test_where_zero_is_white_larger_is_brighter_all_the_same(tmp_path, dtype):
    values = (VOLUME[0] > 100).astype(dtype)
    tifffile.imwrite(tmp_path / "a.tif", values, photometric="miniswhite")
    with Pillow.open(tmp_path / "a.tif") as picture:
        bright = np.asarray(picture).astype(dtype)
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif").array[0], bright)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool])
def test_labels_are_as_stored_where_zero_is_white(tmp_path, dtype):
    mask = (VOLUME[0] > 100).astype(dtype)
    tifffile.imwrite(tmp_path / "a.tif", mask, photometric="miniswhite")
    np.testing.assert_array_equal(read_label_array(tmp_path / "a.tif").array[0], mask)


def test_fax_compression_of_masks(tmp_path):
    mask = VOLUME[0] > 100
    Pillow.fromarray(mask).save(tmp_path / "a.tif", compression="group4")
    np.testing.assert_array_equal(read_label_array(tmp_path / "a.tif").array[0], mask)


def test_pictures_of_several_sizes_are_refused(tmp_path):
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        writer.write(VOLUME[0], metadata=None)
        writer.write(VOLUME[0, :5], metadata=None)
    with pytest.raises(InputError, match="20 x 24, 5 x 24"):
        read_image(tmp_path / "a.tif")


def test_a_reduced_copy_is_passed_over(tmp_path):
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        writer.write(VOLUME[0], metadata=None)
        writer.write(VOLUME[0, ::2, ::2], subfiletype=1, metadata=None)
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif").array[0], VOLUME[0])


def by_pillow(**options) -> bytes:
    stream = io.BytesIO()
    save_pages(stream, VOLUME, **options)
    return stream.getvalue()


def by_tifffile(**options) -> bytes:
    stream = io.BytesIO()
    tifffile.imwrite(stream, VOLUME, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        by_pillow(),
        by_pillow(compression="tiff_lzw"),
        by_pillow(compression="tiff_adobe_deflate"),
        by_tifffile(metadata=None),
        by_tifffile(imagej=True, metadata={"axes": "ZYX"}),
        by_tifffile(ome=True, metadata={"axes": "ZYX"}),
        by_tifffile(compression="zlib", metadata={"axes": "ZYX"}),
    ],
    ids=["pillow", "lzw", "deflate", "bare", "imagej", "ome", "zlib"],
)
def test_a_truncated_file_never_loses_slices_in_silence(tmp_path, data):
    path = tmp_path / "a.tif"
    path.write_bytes(data)
    np.testing.assert_array_equal(read_image(path).array[0], VOLUME)
    for length in range(8, len(data), 41):
        path.write_bytes(data[:length])
        with contextlib.suppress(InputError):  # or it is read whole
            np.testing.assert_array_equal(read_image(path).array[0], VOLUME)


def test_the_log_is_left_as_it_was(tmp_path):
    logger = tifffile.logger()
    before = list(logger.handlers)
    (tmp_path / "a.tif").write_bytes(by_pillow()[:700])
    with pytest.raises(InputError):
        read_image(tmp_path / "a.tif")
    assert logger.handlers == before
