"""Convert a file, a DICOM series, or a data set."""

import numpy as np
import pytest
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.io import dataset_from_arrays, read_dataset, read_image, read_label, write_dataset
from multirater.io.formats.images import image_shape
from multirater.progress import show_progress
from multirater.simulate import simulate_dataset
from multirater.verbs.convert import convert

MASK = np.array([[0, 1, 2]] * 4, np.uint8)


@pytest.fixture
def series(tmp_path):
    """A DICOM series of three slices."""
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

    folder = tmp_path / "ct"
    folder.mkdir()
    for z in range(3):
        header = Dataset()
        header.file_meta = FileMetaDataset()
        header.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        header.SOPClassUID = header.file_meta.MediaStorageSOPClassUID = CTImageStorage
        header.SOPInstanceUID = header.file_meta.MediaStorageSOPInstanceUID = generate_uid()
        header.StudyInstanceUID, header.SeriesInstanceUID = "1.2.3", "1.2.3.4"
        header.FrameOfReferenceUID, header.Modality = "1.2.3.5", "CT"
        header.Rows, header.Columns, header.SamplesPerPixel = 4, 3, 1
        header.PhotometricInterpretation = "MONOCHROME2"
        header.BitsAllocated = header.BitsStored = 16
        header.HighBit, header.PixelRepresentation = 15, 1
        header.ImagePositionPatient = [-5.0, 3.0, 10.0 + 2 * z]
        header.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
        header.PixelSpacing, header.SliceThickness = [0.5, 0.75], 2.0
        header.PixelData = np.full((4, 3), z, np.int16).tobytes()
        header.save_as(folder / f"{z}.dcm", enforce_file_format=True)
    return folder


def png(path, array=MASK):
    Pillow.fromarray(array).save(path)
    return path


def fault_of(*args, **options):
    with pytest.raises(InputError) as caught:
        convert(*args, **options)
    return caught.value.faults[0]


def test_a_file_becomes_what_its_new_suffix_says(tmp_path):
    source = png(tmp_path / "a.png")
    for name in ("a.tif", "a.nii.gz", "a.NRRD", "a.npz"):
        assert convert(source, tmp_path / name) == tmp_path / name
        assert np.array_equal(read_image(tmp_path / name).array[0], MASK)


def test_a_one_bit_mask_goes_into_formats_of_numbers(tmp_path):
    source = png(tmp_path / "a.png", MASK > 0)
    convert(source, tmp_path / "a.nii.gz")
    assert np.array_equal(read_label(tmp_path / "a.nii.gz").array, MASK > 0)


def test_a_dicom_series_becomes_a_volume_with_its_geometry(tmp_path, series):
    convert(series, tmp_path / "ct.nii.gz")
    image = read_image(tmp_path / "ct.nii.gz")
    assert image.array[0, :, 0, 0].tolist() == [0, 1, 2]
    assert image.geometry.is_close(image_shape(series)[1])


def test_a_label_becomes_a_dicom_segmentation_and_comes_back(tmp_path, series):
    convert(series, tmp_path / "ct.nii.gz")
    volume = read_image(tmp_path / "ct.nii.gz")
    convert(tmp_path / "ct.nii.gz", tmp_path / "alone.dcm")
    convert(tmp_path / "ct.nii.gz", tmp_path / "seg.dcm", like=series)
    convert(tmp_path / "seg.dcm", tmp_path / "back.nii.gz")
    back = read_label(tmp_path / "back.nii.gz")
    assert np.array_equal(back.array, volume.array[0])
    assert back.geometry.is_close(volume.geometry)


def test_full_scale_becomes_segment_one(tmp_path):
    convert(png(tmp_path / "a.png", (MASK > 0).astype(np.uint8) * 255), tmp_path / "a.dcm")
    assert np.array_equal(np.squeeze(read_label(tmp_path / "a.dcm").array), MASK > 0)


def test_what_is_no_label_becomes_no_segmentation(tmp_path):
    photo = np.arange(256, dtype=np.uint8).reshape(16, 16)
    fault = fault_of(png(tmp_path / "a.png", photo), tmp_path / "a.dcm")
    assert fault.file == str(tmp_path / "a.png")
    assert not (tmp_path / "a.dcm").exists()


@pytest.fixture
def dataset(tmp_path):
    truth = dataset_from_arrays(
        np.zeros((2, 0, 12, 12), int),
        images=np.zeros((2, 12, 12), np.uint8),
        truths=np.pad(np.ones((2, 6, 6), int), ((0, 0), (3, 3), (3, 3))),
    )
    data = simulate_dataset(truth, seed=0)
    write_dataset(data, tmp_path / "data")
    return data


@pytest.mark.parametrize("source", ["data", "data/manifest.csv"])
def test_a_data_set_is_converted_whole(tmp_path, dataset, source):
    manifest = convert(tmp_path / source, tmp_path / "out", suffix="nii.gz")
    found = read_dataset(manifest)
    assert not list((tmp_path / "out").rglob("*.png"))
    for one, two in zip(found, dataset, strict=True):
        assert np.array_equal(one.read_labels().array, two.read_labels().array)
        assert one.simulated == two.simulated


def test_a_data_set_without_a_table(tmp_path, dataset):
    (tmp_path / "data/manifest.csv").unlink()
    convert(tmp_path / "data", tmp_path / "out", suffix=".npz")
    assert len(list((tmp_path / "out").rglob("*.npz"))) == 2 * 7


def test_nothing_is_overwritten_unasked(tmp_path, dataset):
    source = png(tmp_path / "a.png")
    (tmp_path / "b.tif").write_text("mine")
    assert "already exists" in fault_of(source, tmp_path / "b.tif").found
    assert (tmp_path / "b.tif").read_text() == "mine"
    convert(source, tmp_path / "b.tif", overwrite=True)
    assert np.array_equal(read_image(tmp_path / "b.tif").array[0], MASK)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").touch()
    for overwrite in (False, True):
        assert fault_of(tmp_path / "data", tmp_path / "out", overwrite=overwrite).file
    assert (tmp_path / "out/mine.txt").exists()


@pytest.mark.parametrize(
    ("source", "output", "options", "found"),
    [
        ("a.png", "b.tif", {"suffix": "tif"}, "--format tif has no meaning"),
        ("a.png", "b.tif", {"like": "ct"}, "--like ct has no meaning"),
        ("data", "out", {"like": "ct"}, "--like ct has no meaning"),
        ("data", "out", {"suffix": "gif"}, "cannot write files of suffix .gif"),
        ("a.png", "b.gif", {}, "cannot write files of suffix .gif"),
        ("gone.png", "b.tif", {}, "does not exist"),
        ("gone.csv", "out", {}, "does not exist"),
        ("empty", "b.tif", {}, "is a folder without images"),
    ],
)
def test_what_cannot_be_converted_is_told(tmp_path, dataset, source, output, options, found):
    png(tmp_path / "a.png")
    (tmp_path / "empty").mkdir()
    fault = fault_of(tmp_path / source, tmp_path / output, **options)
    assert found in fault.found
    assert fault.expected or fault.fix
    assert not (tmp_path / output).exists()


def test_a_label_keeps_its_stored_values(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "white.tif", MASK > 0, photometric="miniswhite")
    palette = Pillow.fromarray(MASK, mode="P")
    palette.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0])
    palette.save(tmp_path / "palette.png")
    for name, expected in (("white.tif", MASK > 0), ("palette.png", MASK)):
        convert(tmp_path / name, tmp_path / "out.nii.gz", label=True, overwrite=True)
        np.testing.assert_array_equal(read_image(tmp_path / "out.nii.gz").array[0], expected)


def test_an_image_that_is_another_label_is_told(tmp_path, capsys):
    palette = Pillow.fromarray(MASK, mode="P")
    palette.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0])
    palette.save(tmp_path / "palette.png")
    Pillow.fromarray(MASK).save(tmp_path / "grey.png")
    show_progress(True)
    try:
        for name in ("palette.png", "grey.png"):
            convert(tmp_path / name, tmp_path / f"{name}.npz")
    finally:
        show_progress(False)
    assert capsys.readouterr().err.count("--label keeps") == 1
