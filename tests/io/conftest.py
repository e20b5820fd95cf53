"""Synthetic DICOM files, made by pydicom; small studies for the tests of labelling tools."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

from multirater.io import read_dataset, read_image, write_dataset
from multirater.types import Case, Classes, Geometry, LabelClass, LabelMap, Source
from multirater.types import Dataset as MasksDataset


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


def write_photos(folder: Path, *names: str, space=(24, 32)) -> Path:
    """Write one small grey PNG per name."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name in names or ("ear.png", "eye.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Pillow.fromarray(rng.integers(0, 255, space, dtype=np.uint8)).save(folder / name)
    return folder


def draw_label(seed: int, *, space=(24, 32), n_classes=3) -> np.ndarray:
    """Draw boxes of random classes over each other, with a hole in the last."""
    rng = np.random.default_rng(seed)
    label = np.zeros(space, dtype=np.int16)
    for number in range(5):
        corner = [int(rng.integers(0, side - 8)) for side in space]
        box = tuple(slice(low, low + int(rng.integers(3, 8))) for low in corner)
        label[box] = number % (n_classes - 1) + 1
        label[tuple(low + 1 for low in corner)] = 0
    return label


def labels_of(study: Path) -> dict[tuple[str, str], np.ndarray]:
    """Read every label of a data set, by case and rater."""
    data = read_dataset(study)
    return {(c.name, r): c.read_label(r).array for c in data for r in c.labels}


@pytest.fixture
def photos():
    return write_photos


@pytest.fixture
def drawn_label():
    return draw_label


@pytest.fixture
def read_labels():
    return labels_of


@pytest.fixture
def painted_study(tmp_path):
    """Two images, of which anna labelled both and bert one, where he found nothing."""
    images = write_photos(tmp_path / "photos")
    classes = Classes((LabelClass("background"), LabelClass("lesion"), LabelClass("vessel")))

    def drawn(array) -> Source[LabelMap]:
        return Source(lambda: LabelMap(array, Geometry.default(2)))

    def case(name, labels) -> Case:
        file = images / f"{name}.png"
        return Case(name, Source(partial(read_image, file), (file,)), labels)

    ear = case("ear", {"anna": drawn(draw_label(1)), "bert": drawn(0 * draw_label(1))})
    eye = case("eye", {"anna": drawn(draw_label(2))})
    data = MasksDataset((ear, eye), ("anna", "bert"), "masks", classes)
    write_dataset(data, tmp_path / "painted", keep_images=True)
    return tmp_path / "painted"


@pytest.fixture
def answers_study(tmp_path):
    """Class labels of two raters, who agree on a and not on b, without images."""
    folder = tmp_path / "answers"
    folder.mkdir()
    lines = ["case,rater,label", "a,anna,cat", "a,bert,cat", "b,anna,cat", "b,bert,dog"]
    (folder / "manifest.csv").write_text("\n".join(lines))
    return folder
