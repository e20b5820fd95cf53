"""Headers that say one thing to us and another to ITK."""

import numpy as np
import pytest
import SimpleITK

from multirater.errors import InputError
from multirater.io.formats.images import read_image

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
    with pytest.raises(InputError, match="12 axes"):
        read_image(tmp_path / "a.nrrd")
