"""PNG and JPEG, held against Pillow and ITK."""

import io
import json
import struct
import zlib

import numpy as np
import pytest
import SimpleITK as sitk
from PIL import Image as Pillow
from PIL.PngImagePlugin import PngInfo

from multirater.errors import InputError
from multirater.io.formats.images import image_shape, read_image, read_label_array, write_image
from multirater.io.formats.labels import read_label
from multirater.types import Geometry, Image

RNG = np.random.default_rng(1)
GEOMETRY = Geometry((0.5, 0.25), (3.0, -4.0), ((0.6, 0.8), (0.8, -0.6)))


@pytest.mark.parametrize(("n_channels", "mode"), [(1, "L"), (2, "LA"), (3, "RGB"), (4, "RGBA")])
def test_pillow_sees_what_was_meant(tmp_path, n_channels, mode):
    array = RNG.integers(0, 255, (n_channels, 5, 7)).astype(np.uint8)
    write_image(Image(array, GEOMETRY), tmp_path / "a.png")
    with Pillow.open(tmp_path / "a.png") as picture:
        assert picture.mode == mode
        np.testing.assert_array_equal(
            np.asarray(picture).reshape(5, 7, -1), array.transpose(1, 2, 0)
        )
        assert json.loads(picture.info["multirater-geometry"])["spacing"] == [0.5, 0.25]


@pytest.mark.parametrize("mode", ["LA", "RGBA"])
def test_full_opacity_is_no_channel_of_an_image(tmp_path, mode):
    pixels = RNG.integers(0, 255, (5, 7, len(mode))).astype(np.uint8)
    pixels[..., -1] = 255
    Pillow.fromarray(pixels, mode=mode).save(tmp_path / "a.png")
    read = read_image(tmp_path / "a.png").array
    np.testing.assert_array_equal(read, pixels.transpose(2, 0, 1)[:-1])
    pixels[2, 3, -1] = 254
    Pillow.fromarray(pixels, mode=mode).save(tmp_path / "a.png")
    read = read_image(tmp_path / "a.png").array
    np.testing.assert_array_equal(read, pixels.transpose(2, 0, 1))


def test_full_opacity_of_16_bits_is_no_channel_of_an_image(tmp_path):
    array = RNG.integers(0, 65535, (5, 7, 4)).astype(np.uint16)
    array[..., -1] = 65535
    sitk.WriteImage(sitk.GetImageFromArray(array, isVector=True), tmp_path / "a.png")
    read = read_image(tmp_path / "a.png").array
    np.testing.assert_array_equal(read, array.transpose(2, 0, 1)[:-1])


@pytest.mark.parametrize("n_channels", [2, 4])
def test_a_full_channel_that_was_written_here_is_kept(tmp_path, n_channels):
    array = RNG.integers(0, 255, (n_channels, 5, 7)).astype(np.uint8)
    array[-1] = 255
    write_image(Image(array, Geometry.default(2)), tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png").array, array)


def test_black_of_cmyk_is_no_opacity(tmp_path):
    pixels = np.full((8, 8, 4), 255, np.uint8)
    Pillow.fromarray(pixels, mode="CMYK").save(tmp_path / "a.jpg", quality=100)
    assert len(read_image(tmp_path / "a.jpg").array) == 4


def test_itk_sees_16_bits(tmp_path):
    array = RNG.integers(0, 65535, (1, 5, 7)).astype(np.uint16)
    write_image(Image(array, Geometry.default(2)), tmp_path / "a.png")
    seen = sitk.GetArrayFromImage(sitk.ReadImage(tmp_path / "a.png"))
    np.testing.assert_array_equal(seen, array[0])


def test_the_default_geometry_leaves_no_trace(tmp_path):
    write_image(Image(np.zeros((1, 2, 2), np.uint8), Geometry.default(2)), tmp_path / "a.png")
    with Pillow.open(tmp_path / "a.png") as picture:
        assert picture.info == {}


@pytest.mark.parametrize("text", ["{", "[]", '{"spacing": [1]}', '{"spacing": 1, "origin": 2}'])
def test_a_damaged_geometry_is_told(tmp_path, text):
    chunk = PngInfo()
    chunk.add_text("multirater-geometry", text)
    Pillow.new("L", (4, 4)).save(tmp_path / "a.png", pnginfo=chunk)
    with pytest.raises(InputError) as error:
        read_image(tmp_path / "a.png")
    assert error.value.faults[0].file == str(tmp_path / "a.png")


def test_a_palette_is_colours_in_images_and_indices_in_labels(tmp_path):
    indices = np.array([[0, 1, 2], [2, 1, 0]], np.uint8)
    picture = Pillow.fromarray(indices)
    picture.putpalette([0, 0, 0, 255, 0, 0, 10, 20, 30])
    for bits in (8, 4, 2):
        picture.save(tmp_path / "a.png", bits=bits)
        labels = read_label_array(tmp_path / "a.png").array
        np.testing.assert_array_equal(labels, indices[None])
        colours = read_image(tmp_path / "a.png").array
        assert colours[:, 0].T.tolist() == [[0, 0, 0], [255, 0, 0], [10, 20, 30]]


def png_of_grey(samples: np.ndarray, bits: int) -> bytes:
    """Encode a grey PNG of few bits per sample, which Pillow does not write."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        check = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)

    rows = b""
    for row in samples:
        text = "".join(f"{value:0{bits}b}" for value in row)
        text += "0" * (-len(text) % 8)
        rows += b"\0" + bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8))
    head = struct.pack(">IIBBBBB", samples.shape[1], samples.shape[0], bits, 0, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_grey_of_few_bits_keeps_its_values(tmp_path, bits):
    samples = RNG.integers(0, 2**bits, (3, 5))
    (tmp_path / "a.png").write_bytes(png_of_grey(samples, bits))
    np.testing.assert_array_equal(read_label_array(tmp_path / "a.png").array[0], samples)
    assert image_shape(tmp_path / "a.png")[0] == (3, 5)


@pytest.mark.parametrize("n_channels", [3, 4])
def test_16_bit_colours_are_not_cut(tmp_path, n_channels):
    array = RNG.integers(0, 65535, (5, 7, n_channels)).astype(np.uint16)
    sitk.WriteImage(sitk.GetImageFromArray(array, isVector=True), tmp_path / "a.png")
    read = read_image(tmp_path / "a.png").array
    np.testing.assert_array_equal(read, array.transpose(2, 0, 1))


def test_narrow_pictures_are_not_turned(tmp_path):
    array = RNG.integers(0, 255, (3, 2, 50)).astype(np.uint8)
    write_image(Image(array, Geometry.default(2)), tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png").array, array)


def jpeg(mode: str, **options) -> bytes:
    size = (24, 40) if mode == "L" else (24, 40, len(mode))
    stream = io.BytesIO()
    picture = Pillow.fromarray(RNG.integers(0, 255, size).astype(np.uint8), mode=mode)
    picture.save(stream, "JPEG", **options)
    return stream.getvalue()


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_jpeg_is_read_as_stored(tmp_path, mode):
    turned = Pillow.Exif()
    turned[0x0112] = 6  # to be shown turned by a quarter
    data = jpeg(mode, exif=turned, dpi=(300, 300))
    (tmp_path / "a.JPG").write_bytes(data)
    read = read_image(tmp_path / "a.JPG")
    meant = np.asarray(Pillow.open(io.BytesIO(data))).reshape(24, 40, -1).transpose(2, 0, 1)
    np.testing.assert_array_equal(read.array, meant)
    assert read.geometry == Geometry.default(2)
    assert image_shape(tmp_path / "a.JPG") == ((24, 40), Geometry.default(2))


@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_a_truncated_jpeg_is_an_error_and_not_half_grey(tmp_path, mode, progressive):
    data = jpeg(mode, progressive=progressive)
    path = tmp_path / "a.jpg"
    for length in range(1, len(data) - 2, 7):
        path.write_bytes(data[:length])
        with pytest.raises(InputError, match="cannot be read") as error:
            read_image(path)
        assert error.value.faults[0].file == str(path)


def test_animations_are_refused(tmp_path):
    frames = [Pillow.new("L", (4, 4), value) for value in (0, 200)]
    frames[0].save(tmp_path / "a.png", save_all=True, append_images=frames[1:])
    with pytest.raises(InputError, match="animation"):
        read_image(tmp_path / "a.png")


def test_a_jpeg_with_the_suffix_of_png_is_read_by_content(tmp_path):
    (tmp_path / "a.png").write_bytes(jpeg("RGB"))
    assert read_image(tmp_path / "a.png").array.shape == (3, 24, 40)


@pytest.mark.parametrize("content", [b"GIF89a\x01\x00\x01\x00", b"\0\0\0\0 no picture at all"])
def test_what_is_no_picture_is_called_damaged_or_misnamed(tmp_path, content):
    (tmp_path / "a.png").write_bytes(content)
    for read in (read_image, image_shape):
        with pytest.raises(InputError, match="damaged, or not what its name says") as error:
            read(tmp_path / "a.png")
        assert "MPO" not in str(error.value)


def test_a_jpeg_of_several_pictures_gives_the_first(tmp_path):
    frames = [Pillow.new("L", (4, 3), value) for value in (7, 200)]
    frames[0].save(tmp_path / "a.jpg", format="MPO", save_all=True, append_images=frames[1:])
    assert read_image(tmp_path / "a.jpg").array.mean() == pytest.approx(7, abs=1)


@pytest.mark.parametrize("highest", [1, 3, 100, 255, 1000, 65535])
@pytest.mark.parametrize("kind", ["P2", "P5", "P3", "P6"])
def test_values_of_ppm_and_pgm_are_taken_as_stored(tmp_path, highest, kind):
    n_channels = 3 if kind in ("P3", "P6") else 1
    if n_channels == 3 and highest > 255:
        pytest.skip("Pillow cuts deep colours to 8 bits")
    values = RNG.integers(0, highest + 1, (4, 5, n_channels))
    head = f"{kind}\n5 4\n{highest}\n".encode()
    plain = " ".join(map(str, values.ravel())).encode()
    binary = values.astype(">u2" if highest > 255 else "u1").tobytes()
    path = tmp_path / ("a.ppm" if n_channels == 3 else "a.pgm")
    path.write_bytes(head + (plain if kind in ("P2", "P3") else binary))
    for ask in (read_image, read_label_array):
        np.testing.assert_array_equal(ask(path).array, values.transpose(2, 0, 1))
    assert image_shape(path)[0] == (4, 5)


@pytest.mark.parametrize("suffix", [".gif", ".bmp", ".ppm", ".pgm"])
@pytest.mark.parametrize("mode", ["L", "1", "P"])
def test_masks_of_0_and_255_are_read_alike(tmp_path, suffix, mode):
    mask = RNG.random((6, 7)) < 0.5
    picture = Pillow.fromarray((mask * 255).astype(np.uint8))
    if mode == "1" and suffix == ".pgm":
        pytest.skip("that would be a PBM")
    if mode == "P":  # in which white comes first
        picture = Pillow.fromarray((~mask).astype(np.uint8)).convert("P")
        picture.putpalette([255] * 3 + [0] * 3)
        picture = picture.convert("L") if suffix in (".ppm", ".pgm") else picture
    elif mode == "1":
        picture = picture.convert("1")
    picture.save(tmp_path / f"a{suffix}")
    np.testing.assert_array_equal(read_label(tmp_path / f"a{suffix}").array, mask)


def test_an_animated_gif_is_refused(tmp_path):
    frames = [Pillow.fromarray(np.full((4, 4), value, np.uint8)) for value in (0, 99, 200)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    with pytest.raises(InputError, match="is an animation"):
        read_image(tmp_path / "a.gif")


def bmp(width, height, runs):
    """Return a BMP file of 256 greys, packed in runs."""
    palette, start = b"".join(bytes([grey] * 3 + [0]) for grey in range(256)), 14 + 40 + 1024
    sizes = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, len(runs), 0, 0, 256, 0)
    return b"BM" + struct.pack("<IHHI", start + len(runs), 0, 0, start) + sizes + palette + runs


def test_a_bmp_of_lines_that_are_left_out(tmp_path):
    (tmp_path / "a.bmp").write_bytes(bmp(4, 2, b"\x04\x07\0\0\x04\x09\0\x01"))
    assert read_label_array(tmp_path / "a.bmp").array[0].tolist() == [[9] * 4, [7] * 4]
    (tmp_path / "b.bmp").write_bytes(bmp(13_000, 13_000, b"\1\1\0\0" * 13_000 + b"\0\1"))
    with pytest.raises(InputError, match="claims 169000000 pixels in"):
        read_image(tmp_path / "b.bmp")


def test_a_jpeg_of_many_scans(tmp_path):
    Pillow.new("L", (64, 64)).save(tmp_path / "a.jpg", progressive=True)
    assert read_image(tmp_path / "a.jpg").array.shape == (1, 64, 64)
    content = (tmp_path / "a.jpg").read_bytes()
    scan = content[content.rfind(b"\xff\xda") : -2]
    (tmp_path / "b.jpg").write_bytes(content[:-2] + scan * 100 + content[-2:])
    with pytest.raises(InputError, match="more than 100 scans"):
        read_image(tmp_path / "b.jpg")


def test_a_chunk_that_claims_more_than_the_file(tmp_path):
    Pillow.new("L", (4, 4)).save(tmp_path / "a.png")
    content = bytearray((tmp_path / "a.png").read_bytes() + bytes(2**20))
    place = content.find(b"IDAT") - 4
    content[place : place + 4] = b"\xff" * 4
    (tmp_path / "a.png").write_bytes(bytes(content))
    with pytest.raises(InputError, match="truncated"):
        read_image(tmp_path / "a.png")


@pytest.mark.parametrize("kind", ["P3", "P6"])
def test_colours_of_more_than_eight_bits_in_a_ppm_are_refused(tmp_path, kind):
    values = [16, 272, 1023]
    binary = np.array(values, ">u2").tobytes()
    data = " ".join(map(str, values)).encode() if kind == "P3" else binary
    (tmp_path / "a.ppm").write_bytes(f"{kind}\n1 1\n1023\n".encode() + data)
    with pytest.raises(InputError, match="colours from 0 to 1023"):
        read_image(tmp_path / "a.ppm")
