"""Damage that a checksum tells, and headers that claim what is not there."""

import gzip
import struct
import zlib
from io import BytesIO

import numpy as np
import pydicom
import pytest
from pydicom.uid import CTImageStorage, DeflatedExplicitVRLittleEndian, generate_uid

from multirater.errors import InputError
from multirater.io.formats import claims
from multirater.io.formats.images import image_shape, read_image, read_label_array, write_image
from multirater.types import Geometry, Image

SOLID = Image(
    np.random.default_rng(0).integers(0, 255, (1, 4, 9, 10), dtype=np.uint8), Geometry.default(3)
)
FLAT = Image(SOLID.array[:, 0], Geometry.default(2))


def flips(content, start, count):
    """Yield copies of a file, each with one bit turned, spread over what follows `start`."""
    for place in np.linspace(start * 8, len(content) * 8 - 1, count).astype(int).tolist():
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        yield bytes(changed)


@pytest.mark.parametrize("suffix", [".png", ".npz", ".nii.gz", ".nrrd", ".mha"])
def test_a_turned_bit_is_refused_or_changes_nothing(tmp_path, suffix):
    image = FLAT if suffix == ".png" else SOLID
    file = tmp_path / f"a{suffix}"
    write_image(image, file)
    content = file.read_bytes()
    # The headers of these two are text, which no checksum covers.
    start = {".nrrd": content.find(b"\n\n") + 2, ".mha": content.find(b"LOCAL\n") + 6}
    refused = 0
    for changed in flips(content, start.get(suffix, 0), 120):
        file.write_bytes(changed)
        try:
            found = read_image(file).array
        except InputError:
            refused += 1
        else:
            np.testing.assert_array_equal(found, image.array)
    assert refused > 70


@pytest.mark.parametrize("suffix", [".png", ".npz", ".npy", ".nii", ".nii.gz", ".nrrd", ".mha"])
def test_a_file_that_ends_too_soon_is_refused(tmp_path, suffix):
    file = tmp_path / f"a{suffix}"
    write_image(FLAT if suffix == ".png" else SOLID, file)
    content = file.read_bytes()
    for share in (0.3, 0.9, 0.99):
        file.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(InputError, match=r"cannot be read|truncated"):
            read_image(file)


def refused_for_size(file):
    with pytest.raises(InputError, match=r"claims to hold \d+\.\d GB") as error:
        read_image(file)
    return error.value.faults[0]


def test_a_small_nifti_that_claims_gigabytes(tmp_path):
    write_image(SOLID, tmp_path / "a.nii")
    header = bytearray((tmp_path / "a.nii").read_bytes())
    header[40:56] = struct.pack("<8h", 3, 2500, 2500, 2500, 1, 1, 1, 1)
    (tmp_path / "b.nii.gz").write_bytes(gzip.compress(bytes(header) + bytes(100_000)))
    assert refused_for_size(tmp_path / "b.nii.gz").file.endswith("b.nii.gz")


def test_a_nifti_that_unpacks_to_more_than_its_header_says(tmp_path):
    write_image(SOLID, tmp_path / "a.nii")
    content = (tmp_path / "a.nii").read_bytes()
    (tmp_path / "b.nii.gz").write_bytes(gzip.compress(content + bytes(1_000_000)))
    with pytest.raises(InputError, match="unpacks to more"):
        read_image(tmp_path / "b.nii.gz")


def test_a_small_nrrd_header_that_claims_gigabytes(tmp_path):
    (tmp_path / "data.raw").write_bytes(bytes(1000))
    (tmp_path / "a.nhdr").write_text(
        "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2200 2200 2200\nencoding: raw\n"
        "data file: data.raw\n"
    )
    refused_for_size(tmp_path / "a.nhdr")
    (tmp_path / "a.mhd").write_text(
        "ObjectType = Image\nNDims = 3\nDimSize = 2200 2200 2200\nElementType = MET_UCHAR\n"
        "ElementDataFile = data.raw\n"
    )
    refused_for_size(tmp_path / "a.mhd")


@pytest.mark.parametrize("name", ["../secret.raw", "/etc/passwd", "LIST" + "\n../secret.raw" * 4])
def test_a_detached_header_stays_in_its_folder(tmp_path, name):
    (tmp_path / "secret.raw").write_bytes(bytes(range(16)))
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "a.nhdr").write_text(
        f"NRRD0004\ntype: uint8\ndimension: 2\nsizes: 4 4\nencoding: raw\ndata file: {name}\n"
    )
    (folder / "a.mhd").write_text(
        "ObjectType = Image\nNDims = 2\nDimSize = 4 4\nElementType = MET_UCHAR\n"
        f"ElementDataFile = {name}\n"
    )
    (folder / "link.raw").symlink_to(tmp_path / "secret.raw")
    (folder / "link.nhdr").write_text(
        "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 4 4\nencoding: raw\ndata file: link.raw\n"
    )
    for file in ("a.nhdr", "a.mhd", "link.nhdr"):
        with pytest.raises(InputError, match="outside its folder"):
            read_image(folder / file)


def test_a_detached_header_reads_what_lies_beside_it(tmp_path):
    (tmp_path / "data.raw").write_bytes(bytes(range(16)))
    (tmp_path / "a.nhdr").write_text(
        "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 4 4\nencoding: raw\ndata file: ./data.raw\n"
    )
    assert read_label_array(tmp_path / "a.nhdr").array.ravel().tolist() == list(range(16))


def test_an_array_that_claims_more_than_there_is(tmp_path):
    stream = BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "|u1", "fortran_order": False, "shape": (10**5, 10**6)}
    )
    (tmp_path / "a.npy").write_bytes(stream.getvalue() + bytes(100))
    with pytest.raises(InputError, match="truncated: 100 of 100000000000 bytes"):
        read_image(tmp_path / "a.npy")


def test_several_files_have_room_for_their_sum(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "_SMALL", 100)
    for name in "ab":
        (tmp_path / name).write_bytes(bytes(1000))
    files = (tmp_path / "a", tmp_path / "b")
    assert claims.room_for(*files) == 2 * claims.room_for(files[0]) == 400_000
    assert claims.room_for(*files, *files) == 400_000


def test_a_header_that_claims_more_pixels_than_there_is_room_for(tmp_path, monkeypatch):
    write_image(FLAT, tmp_path / "a.png")
    monkeypatch.setattr(claims, "_SMALL", 10)
    monkeypatch.setattr(claims, "_MOST_PACKED", 0)
    with pytest.raises(InputError, match="claims to hold"):
        image_shape(tmp_path / "a.png")


def dicom(file, **fields):
    meta = pydicom.dataset.FileMetaDataset()
    meta.MediaStorageSOPClassUID = CTImageStorage
    meta.MediaStorageSOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = DeflatedExplicitVRLittleEndian
    data = pydicom.Dataset()
    data.file_meta = meta
    data.SOPClassUID, data.SOPInstanceUID = CTImageStorage, meta.MediaStorageSOPInstanceUID
    data.Rows = data.Columns = 8
    data.BitsAllocated = data.BitsStored = 8
    data.HighBit, data.PixelRepresentation, data.SamplesPerPixel = 7, 0, 1
    data.PhotometricInterpretation = "MONOCHROME2"
    data.PixelData = bytes(range(64))
    for name, value in fields.items():
        setattr(data, name, value)
    data.save_as(file, enforce_file_format=True)


@pytest.mark.parametrize("n_bytes", [4_000_000, 500_000])  # the second is held three times
def test_a_deflated_dicom_file_that_unpacks_to_too_much(tmp_path, monkeypatch, n_bytes):
    dicom(tmp_path / "a.dcm")
    assert read_label_array(tmp_path / "a.dcm").array.ravel().tolist() == list(range(64))
    dicom(tmp_path / "b.dcm", ImageComments="a" * 9000, PixelData=bytes(n_bytes))
    monkeypatch.setattr(claims, "_SMALL", 2**20)
    # Nothing may unpack the whole file before it was found to be small enough.
    monkeypatch.setattr(zlib, "decompress", None)
    with pytest.raises(InputError, match="claims to hold"):
        read_image(tmp_path / "b.dcm")


def test_dicom_rows_that_cannot_be(tmp_path):
    dicom(tmp_path / "a.dcm", Rows=65535, Columns=65535, NumberOfFrames=1)
    refused_for_size(tmp_path / "a.dcm")
