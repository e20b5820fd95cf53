"""What lies before the pixels of a NIfTI file."""

import gzip
import struct

import nibabel
import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.formats.images import image_shape, read_image

KINDS = {"first": (nibabel.Nifti1Image, b"n+1"), "second": (nibabel.Nifti2Image, b"n+2")}
PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


@pytest.fixture(params=[(kind, end) for kind in KINDS for end in (".nii", ".nii.gz")])
def nifti(request, tmp_path):
    """Return a function that writes a file with what lies before its pixels."""
    version, suffix = request.param
    kind, mark = KINDS[version]

    def write(offset, extensions=b""):
        header = kind(PIXELS, np.eye(4)).header
        header["vox_offset"], header["magic"] = offset, mark
        start = header.binaryblock + (b"\1\0\0\0" if extensions else bytes(4)) + extensions
        file = tmp_path / f"a{suffix}"
        content = start + PIXELS.tobytes(order="F")
        file.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
        return file

    write.start = kind.header_class.sizeof_hdr + 4
    return write


def refused(file, match):
    for ask in (image_shape, read_image):
        with pytest.raises(InputError, match=match):
            ask(file)


def test_extensions_before_the_pixels_are_passed_by(nifti):
    texts = b"".join(struct.pack("<ii", 32, 6) + bytes(24) for _ in range(3))
    found = read_image(nifti(nifti.start + len(texts), texts)).array
    np.testing.assert_array_equal(found[0], PIXELS.T)


@pytest.mark.parametrize("offset", [2**27, 2**32, -16])
def test_pixels_that_begin_far_away_are_refused(nifti, offset):
    refused(nifti(offset), f"begin at byte {offset}")


@pytest.mark.parametrize("n_bytes", [2**31 - 16, 4096, 0, -16])
def test_extensions_that_reach_beyond_their_place_are_refused(nifti, n_bytes):
    extension = struct.pack("<ii", n_bytes, 6) + bytes(24)
    refused(nifti(nifti.start + 32, extension), f"extension of {n_bytes} bytes")


def test_what_has_no_mark_is_refused(tmp_path):
    (tmp_path / "a.nii").write_bytes(bytes(1000))
    refused(tmp_path / "a.nii", "no NIfTI header")
