"""Headers that say one thing to us and another to ITK."""

import numpy as np
import pytest
import SimpleITK

from multirater.errors import InputError
from multirater.io.formats.images import image_shape, read_image
from multirater.io.segmentations import read_segments, segment_masks
from multirater.types import Geometry

GRID = ((1, 4, 4), Geometry.default(3))
DRAWN = np.arange(24, dtype=np.uint8).reshape(4, 6)


@pytest.fixture
def packed(tmp_path):
    path = tmp_path / "a.mha"
    SimpleITK.WriteImage(SimpleITK.GetImageFromArray(DRAWN), path, useCompression=True)
    return path


def change(path, before, after):
    content = path.read_bytes()
    assert before in content
    path.write_bytes(content.replace(before, after, 1))


def test_what_itk_wrote_is_read(packed):
    assert np.array_equal(read_image(packed).array[0], DRAWN)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (b"CompressedDataSize", b"CompressedDataSIze", "written CompressedDataSize"),
        (b"CompressedDataSize", b"CompressedDataXize", "how many bytes are packed"),
        (b"DimSize = ", b"DimSize = 4000 4000\nDimSize = ", "DimSize twice"),
        (b"DimSize = ", b"dimsize = 2 2\nDimSize = ", "written DimSize"),
        (b"ElementDataFile", b"elementdatafile = LOCAL\nElementDataFile", "written ElementData"),
        (b"ElementDataFile = ", b"ElementDataFile : a=b/../", "both : and ="),
    ],
)
def test_fields_of_two_meanings_are_refused(packed, before, after, what):
    change(packed, before, after)
    with pytest.raises(InputError, match=what):
        read_image(packed)


def test_more_axes_than_itk_survives_are_refused(tmp_path):
    axes = " ".join(["1"] * 12)
    header = f"NRRD0004\ntype: uchar\ndimension: 12\nsizes: {axes}\nencoding: raw\n\n"
    (tmp_path / "a.nrrd").write_bytes(header.encode() + b"\1" * 32)
    for ask in (image_shape, read_image):
        with pytest.raises(InputError, match="12 axes"):
            ask(tmp_path / "a.nrrd")


NRRD = "NRRD0004\ntype: uint8\ndimension: {n}\nsizes: {sizes}\nencoding: raw\n"
META = "ObjectType = Image\nNDims = {n}\nDimSize = {sizes}\nElementType = MET_UCHAR\n"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with three slices, beside a secret."""
    (tmp_path / "secret.raw").write_bytes(bytes(16))
    study = tmp_path / "study"
    study.mkdir()
    for number in (1, 2, 3):
        (study / f"p{number}.raw").write_bytes(bytes([number] * 20))
    return study


def header(folder, name, rest, sizes="4 4"):
    known = NRRD if name.endswith(("nrrd", "nhdr")) else META
    (folder / name).write_text(known.format(n=len(sizes.split()), sizes=sizes) + rest, newline="")
    return folder / name


def refused(file, match):
    for ask in (image_shape, read_image):
        with pytest.raises(InputError, match=match) as error:
            ask(file)
        assert error.value.faults[0].file == str(file)


@pytest.mark.parametrize("pattern", ["p%d.raw 1 3 1", "p%s%d.raw 1 3 1", "p%d.raw 1 2000000000 1"])
def test_numbered_files_are_refused_in_a_sentence(folder, pattern):
    (folder / pattern.split()[0]).write_bytes(bytes(48))
    for name, field in (("a.nhdr", "data file: "), ("a.mhd", "ElementDataFile = ")):
        refused(header(folder, name, f"{field}{pattern}\n", "4 4 3"), "numbered files")


def test_lists_of_files_are_read(folder):
    names = "p1.raw\np2.raw\np3.raw\n"
    for name, field in (
        ("a.nhdr", "data file: LIST\n"),
        ("a.mhd", "ElementDataFile = LIST\n"),
        ("b.mhd", "ElementDataFile = LIST 2D\n"),
    ):
        found = read_image(header(folder, name, field + names, "4 4 3")).array
        assert found[0, :, 0, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("names", ["p1.raw\np2.raw\n", "p1.raw\n", "", "p1.raw\n\np2.raw\n"])
def test_lists_of_too_few_files_are_refused(folder, names):
    file = header(folder, "a.mhd", f"ElementDataFile = LIST\n{names}", "4 4 3")
    refused(file, r"lists \d data files|not there")


def test_a_list_does_not_go_on_after_an_empty_line(folder):
    names = "data file: LIST\np1.raw\n\n../secret.raw\n"
    refused(header(folder, "a.nhdr", names, "4 4 3"), "empty line")


def test_a_data_file_that_is_missing_is_named(folder):
    refused(header(folder, "a.nhdr", "data file: q.raw\n"), r"from q\.raw, which is not there")
    refused(header(folder, "a.mhd", "ElementDataFile = q.raw\n"), r"q\.raw, which is not there")


def test_a_data_file_that_is_too_short_is_refused(folder):
    for name, field in (("a.nhdr", "data file: "), ("a.mhd", "ElementDataFile = ")):
        file = header(folder, name, f"{field}p1.raw\n", "400 40")
        with pytest.raises(InputError, match="truncated: 20 of 16000 bytes"):
            read_image(file)


def test_text_that_is_too_short_is_refused(folder):
    file = header(folder, "a.nrrd", "\n1 2 3", "4000 4000")
    file.write_text(file.read_text().replace("raw", "ascii"))
    with pytest.raises(InputError, match="truncated: 5 of 16000000 bytes"):
        read_image(file)


def test_a_line_that_ends_for_some_readers_only_is_refused(folder):
    secret = "#\rdata file: ../secret.raw\n\n" + "\0" * 16
    refused(header(folder, "a.nhdr", secret), "carriage return")
    secret = "Comment = a\rElementDataFile = ../secret.raw\nElementDataFile = LOCAL\n"
    refused(header(folder, "a.mha", secret + "\0" * 16), "carriage return")


def test_packed_data_are_not_skipped(packed, tmp_path):
    change(packed, b"CompressedData = ", b"HeaderSize = -1\nCompressedData = ")
    refused(packed, "skips a part")
    SimpleITK.WriteImage(SimpleITK.GetImageFromArray(DRAWN), tmp_path / "a.nrrd", True)
    change(tmp_path / "a.nrrd", b"encoding", b"byte skip: -1\nencoding")
    refused(tmp_path / "a.nrrd", "skips a part")


@pytest.mark.parametrize("n_axes", ["-1", "0", "1", "3", "1000"])
def test_axes_that_are_not_those_of_the_sizes_are_refused(packed, n_axes):
    change(packed, b"NDims = 2", f"NDims = {n_axes}".encode())
    refused(packed, f"2 sizes of {n_axes} axes")


@pytest.mark.parametrize("n_channels", ["0", "-4"])
def test_no_channels_are_refused(packed, n_channels):
    change(packed, b"ElementType", f"ElementNumberOfChannels = {n_channels}\nElementType".encode())
    refused(packed, f"{n_channels} channels")


def test_a_segmentation_is_held_to_the_same(folder):
    file = header(folder, "a.seg.nrrd", "data file: ../secret.raw\nSegment0_Name:=a\n")
    for ask in (read_segments, lambda file: list(segment_masks(file, [], GRID))):
        with pytest.raises(InputError, match="outside its folder"):
            ask(file)
