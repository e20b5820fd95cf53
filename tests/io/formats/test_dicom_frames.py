"""Packed frames of DICOM files that state another size than the header."""

import io
import struct

import pydicom
import pytest
from PIL import Image as Pillow
from pydicom.encaps import encapsulate
from pydicom.uid import (
    CTImageStorage,
    ExplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGBaseline8Bit,
    generate_uid,
)

from multirater.errors import InputError
from multirater.io.formats.dicom_frames import frame_size
from multirater.io.formats.images import image_shape, read_image, read_label_array

PLAIN = bytes(range(64))


def frame(kind):
    """Return a packed picture of 8 x 8 pixels."""
    stream = io.BytesIO()
    options = {"no_jp2": True} if kind == "JPEG2000" else {}
    Pillow.new("L", (8, 8)).save(stream, kind, **options)
    return stream.getvalue()


def claiming(content, rows, columns):
    """Return a packed frame that states another size."""
    changed = bytearray(content)
    if content.startswith(b"\xff\xd8"):
        place = content.find(b"\xff\xc0")
        changed[place + 5 : place + 9] = struct.pack(">HH", rows, columns)
    else:
        changed[8:16] = struct.pack(">II", columns, rows)
    return bytes(changed)


def write(file, syntax=ExplicitVRLittleEndian, pixels=PLAIN, **fields):
    meta = pydicom.dataset.FileMetaDataset()
    meta.MediaStorageSOPClassUID = CTImageStorage
    meta.MediaStorageSOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = syntax
    data = pydicom.Dataset()
    data.file_meta = meta
    data.SOPClassUID, data.SOPInstanceUID = CTImageStorage, meta.MediaStorageSOPInstanceUID
    data.Rows = data.Columns = 8
    data.BitsAllocated = data.BitsStored = 8
    data.HighBit, data.PixelRepresentation, data.SamplesPerPixel = 7, 0, 1
    data.PhotometricInterpretation = "MONOCHROME2"
    data.PixelData = pixels if syntax == ExplicitVRLittleEndian else encapsulate([pixels])
    for name, value in fields.items():
        setattr(data, name, value)
    data.save_as(file, enforce_file_format=True)


PACKED = {"JPEG": JPEGBaseline8Bit, "JPEG2000": JPEG2000Lossless}


@pytest.mark.parametrize("kind", PACKED)
def test_a_frame_that_claims_another_size_is_refused(tmp_path, kind):
    honest = frame(kind)
    assert frame_size(honest) == (8, 8)
    write(tmp_path / "a.dcm", PACKED[kind], honest)
    assert read_image(tmp_path / "a.dcm").array.shape == (1, 8, 8)
    write(tmp_path / "b.dcm", PACKED[kind], claiming(honest, 6000, 7000))
    for ask in (read_image, read_label_array):
        with pytest.raises(InputError, match="frame of 6000 x 7000, and claims 8 x 8"):
            ask(tmp_path / "b.dcm")


def test_other_frames_state_no_size():
    for content in (b"", PLAIN, b"\xff\xd8", b"\xff\xd8\xff\xe0\0\0" + bytes(20)):
        assert frame_size(content) is None


@pytest.mark.parametrize(
    "fields", [{"Rows": 4000, "Columns": 400}, {"NumberOfFrames": 10**6}, {"BitsAllocated": 65528}]
)
def test_pixels_that_are_not_there_are_refused(tmp_path, fields):
    write(tmp_path / "a.dcm", **fields)
    for ask in (image_shape, read_image, read_label_array):
        with pytest.raises(InputError, match="truncated"):
            ask(tmp_path / "a.dcm")


def test_packed_frames_that_are_not_there_are_refused(tmp_path):
    write(tmp_path / "a.dcm", JPEGBaseline8Bit, frame("JPEG"), NumberOfFrames=10**6)
    with pytest.raises(InputError, match="truncated"):
        image_shape(tmp_path / "a.dcm")


def test_frames_below_none_are_refused(tmp_path):
    write(tmp_path / "a.dcm", NumberOfFrames=-5)
    with pytest.raises(InputError, match="-5 frames"):
        image_shape(tmp_path / "a.dcm")
