"""Synthetic DICOM files, made by pydicom."""

from pathlib import Path

import numpy as np
import pytest
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid


def write_slice(path: Path, pixels: np.ndarray, position=(0.0, 0.0, 0.0), **tags) -> Path:
    """Write one CT slice: pixels (y, x) or (y, x, 3); `tags` add to or replace the header."""
    header = Dataset()
    header.file_meta = FileMetaDataset()
    header.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    header.SOPClassUID = CTImageStorage
    header.SOPInstanceUID = generate_uid()
    header.PatientID, header.PatientName = "p1", "Doe^Jo"
    header.StudyInstanceUID, header.SeriesInstanceUID = "1.2.3", "1.2.3.4"
    header.FrameOfReferenceUID, header.Modality = "1.2.3.5", "CT"
    header.Rows, header.Columns = pixels.shape[:2]
    header.SamplesPerPixel = 3 if pixels.ndim == 3 else 1
    header.PhotometricInterpretation = "RGB" if pixels.ndim == 3 else "MONOCHROME2"
    if pixels.ndim == 3:
        header.PlanarConfiguration = 0
    header.BitsAllocated = header.BitsStored = 8 * pixels.dtype.itemsize
    header.HighBit = header.BitsStored - 1
    header.PixelRepresentation = int(pixels.dtype.kind == "i")
    header.ImagePositionPatient = list(position)
    header.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    header.PixelSpacing, header.SliceThickness = [0.5, 0.75], 2.0
    for name, value in tags.items():
        if value is None:
            delattr(header, name)
        else:
            setattr(header, name, value)
    header.file_meta.MediaStorageSOPClassUID = header.SOPClassUID
    header.file_meta.MediaStorageSOPInstanceUID = header.SOPInstanceUID
    header.PixelData = pixels.tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    header.save_as(path, enforce_file_format=True)
    return path


def write_series(folder: Path, volume: np.ndarray, *, origin=(-5.0, 3.0, 10.0), gap=2.0, **tags):
    """Write a volume (z, y, x[, 3]) as axial slices, in files named against their order."""
    for i, pixels in enumerate(volume):
        position = (origin[0], origin[1], origin[2] + gap * i)
        name = f"im{len(volume) - i:03d}.dcm"
        write_slice(folder / name, pixels, position, InstanceNumber=i + 1, **tags)
    return folder


@pytest.fixture
def dicom_slice():
    return write_slice


@pytest.fixture
def dicom_series():
    return write_series
