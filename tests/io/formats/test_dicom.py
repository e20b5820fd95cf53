"""DICOM images, held against SimpleITK's series reader and pydicom."""

import contextlib

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence
from pydicom.uid import RLELossless

from multirater.errors import InputError
from multirater.io.formats.images import image_shape, read_image, read_label_array
from multirater.types import Geometry

RNG = np.random.default_rng(6)
VOLUME = RNG.integers(0, 1000, (4, 6, 7)).astype(np.uint16)


def test_itk_reads_the_series_alike(tmp_path, dicom_series):
    dicom_series(tmp_path, VOLUME, RescaleSlope=2, RescaleIntercept=-1024)
    image = read_image(tmp_path)
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames(reader.GetGDCMSeriesFileNames(str(tmp_path)))
    seen = reader.Execute()
    np.testing.assert_array_equal(image.array[0], sitk.GetArrayFromImage(seen))
    np.testing.assert_array_equal(image.array[0], VOLUME.astype(int) * 2 - 1024)
    assert image.array.dtype.kind == "i"
    assert image.geometry.origin == pytest.approx(seen.GetOrigin())
    assert image.geometry.spacing == pytest.approx(seen.GetSpacing()[::-1])
    direction = np.asarray(seen.GetDirection()).reshape(3, 3)[:, ::-1]
    np.testing.assert_allclose(image.geometry.direction, direction)
    assert image_shape(tmp_path) == ((4, 6, 7), image.geometry)


def test_each_slice_has_its_own_scale(tmp_path, dicom_slice):
    for i, slope in enumerate((1, 0.5, 0.25)):
        tags = {"RescaleSlope": slope, "RescaleIntercept": 0}
        dicom_slice(tmp_path / f"{i}.dcm", VOLUME[i], (0.0, 0.0, float(i)), **tags)
    array = read_image(tmp_path).array
    np.testing.assert_allclose(array[0], VOLUME[:3] * np.array([1, 0.5, 0.25])[:, None, None])


def test_labels_are_not_rescaled(tmp_path, dicom_series):
    dicom_series(tmp_path, VOLUME, RescaleSlope=2, RescaleIntercept=-1024)
    labels = read_label_array(tmp_path)
    np.testing.assert_array_equal(labels.array[0], VOLUME)
    assert labels.array.dtype == np.uint16
    assert labels.geometry == read_image(tmp_path).geometry


def test_signed_values_and_colours(tmp_path, dicom_slice, dicom_series):
    signed = (VOLUME.astype(np.int16) - 500)[0]
    dicom_slice(tmp_path / "a.dcm", signed)
    np.testing.assert_array_equal(read_image(tmp_path / "a.dcm").array[0], signed)
    colours = RNG.integers(0, 255, (3, 6, 7, 3)).astype(np.uint8)
    dicom_series(tmp_path / "rgb", colours)
    image = read_image(tmp_path / "rgb")
    np.testing.assert_array_equal(image.array, np.moveaxis(colours, -1, 0))
    np.testing.assert_array_equal(read_label_array(tmp_path / "rgb").array, image.array)


def test_a_single_file_is_a_picture_unless_asked(tmp_path, dicom_slice):
    path = dicom_slice(tmp_path / "a.dcm", VOLUME[0], (7.0, 8.0, 9.0))
    image = read_image(path)
    np.testing.assert_array_equal(image.array, VOLUME[:1])
    meant = Geometry((0.5, 0.75), (7.0, 8.0), Geometry.default(2).direction)
    assert image.geometry == meant
    assert image_shape(path) == ((6, 7), meant)
    solid = read_image(path, ndim=3)
    assert solid.geometry.spacing == (2.0, 0.5, 0.75)
    assert solid.geometry.origin == (7.0, 8.0, 9.0)
    assert read_image(tmp_path).space == (1, 6, 7)


def test_a_radiograph_without_a_place(tmp_path, dicom_slice):
    nowhere = dict.fromkeys(("ImagePositionPatient", "ImageOrientationPatient", "PixelSpacing"))
    path = dicom_slice(tmp_path / "a.dcm", VOLUME[0], **nowhere, ImagerPixelSpacing=[0.2, 0.3])
    image = read_image(path)
    assert image.geometry == Geometry((0.2, 0.3), (0.0, 0.0), Geometry.default(2).direction)


def test_a_file_without_suffix_or_preamble(tmp_path, dicom_slice):
    path = dicom_slice(tmp_path / "IM0001", VOLUME[0])
    np.testing.assert_array_equal(read_image(path).array, VOLUME[:1])
    header = pydicom.dcmread(path)
    bare = tmp_path / "bare.dcm"
    del header.file_meta
    header.preamble = None
    header.save_as(bare, implicit_vr=True, little_endian=True, enforce_file_format=False)
    assert bare.read_bytes()[128:132] != b"DICM"
    np.testing.assert_array_equal(read_image(bare).array, VOLUME[:1])


def enhanced(path, dicom_slice, order, slopes=None):
    """Write a file of many frames, frame i showing slice order[i]."""
    dicom_slice(path, VOLUME[0])
    header = pydicom.dcmread(path)
    for name in ("ImagePositionPatient", "ImageOrientationPatient", "PixelSpacing"):
        delattr(header, name)
    header.SOPClassUID = header.file_meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.2.1"
    shared, measures, turned = Dataset(), Dataset(), Dataset()
    measures.PixelSpacing, measures.SliceThickness = [0.5, 0.75], 2.0
    turned.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    shared.PixelMeasuresSequence = Sequence([measures])
    shared.PlaneOrientationSequence = Sequence([turned])
    header.SharedFunctionalGroupsSequence = Sequence([shared])
    frames = []
    for i, number in enumerate(order):
        frame, place = Dataset(), Dataset()
        place.ImagePositionPatient = [1.0, 2.0, 3.0 + 2.0 * number]
        frame.PlanePositionSequence = Sequence([place])
        if slopes:
            scale = Dataset()
            scale.RescaleSlope, scale.RescaleIntercept, scale.RescaleType = slopes[i], -10, "HU"
            frame.PixelValueTransformationSequence = Sequence([scale])
        frames.append(frame)
    header.PerFrameFunctionalGroupsSequence = Sequence(frames)
    header.NumberOfFrames = len(order)
    header.PixelData = VOLUME[list(order)].tobytes()
    header.save_as(path)
    return path


def test_frames_of_one_file_are_put_in_order(tmp_path, dicom_slice):
    path = enhanced(tmp_path / "a.dcm", dicom_slice, (2, 0, 3, 1), slopes=(2, 2, 2, 2))
    image = read_image(path)
    np.testing.assert_array_equal(image.array[0], VOLUME.astype(int) * 2 - 10)
    assert image.geometry.spacing == (2.0, 0.5, 0.75)
    assert image.geometry.origin == (1.0, 2.0, 3.0)
    np.testing.assert_array_equal(read_label_array(path).array[0], VOLUME)
    np.testing.assert_array_equal(read_image(tmp_path).array, image.array)
    assert image_shape(path) == ((4, 6, 7), image.geometry)


def test_frames_with_scales_of_their_own_are_refused(tmp_path, dicom_slice):
    path = enhanced(tmp_path / "a.dcm", dicom_slice, (0, 1), slopes=(1, 2))
    with pytest.raises(InputError, match="2 ways") as error:
        read_image(path)
    assert error.value.faults[0].file == str(path)


def test_frames_without_a_place_are_a_pile(tmp_path, dicom_slice):
    path = dicom_slice(tmp_path / "a.dcm", VOLUME[0], ImagePositionPatient=None)
    header = pydicom.dcmread(path)
    header.NumberOfFrames = 4
    header.PixelData = VOLUME.tobytes()
    header.save_as(path)
    image = read_image(path)
    np.testing.assert_array_equal(image.array[0], VOLUME)
    assert image.geometry.spacing == (2.0, 0.5, 0.75)


def test_several_files_of_many_frames_are_refused(tmp_path, dicom_slice):
    enhanced(tmp_path / "a.dcm", dicom_slice, (0, 1))
    enhanced(tmp_path / "b.dcm", dicom_slice, (2, 3))
    with pytest.raises(InputError, match="many frames"):
        read_image(tmp_path)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_truncated_file_is_an_error(tmp_path, dicom_slice, compressed):
    pixels = RNG.integers(0, 1000, (16, 17)).astype(np.uint16)
    path = dicom_slice(tmp_path / "whole.dcm", pixels)
    if compressed:
        header = pydicom.dcmread(path)
        header.compress(RLELossless)
        header.save_as(path)
    np.testing.assert_array_equal(read_image(path).array[0], pixels)
    data = path.read_bytes()
    cut = tmp_path / "cut.dcm"
    n_whole = 0
    for length in range(1, len(data), 11):
        cut.write_bytes(data[:length])
        for read in (read_image, read_label_array):
            with contextlib.suppress(InputError):  # or it is read whole
                np.testing.assert_array_equal(read(cut).array[0], pixels)
                n_whole += 1
    assert n_whole < 5


def changed(path, **values):
    header = pydicom.dcmread(path)
    for name, value in values.items():
        setattr(header, name, value)
    header.save_as(path)
    return path


@pytest.mark.parametrize("read", [read_image, read_label_array])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"PixelData": bytes(100), "ImageComments": "x" * 1000}, "pixels have 100 of 544 bytes"),
        ({"PixelData": bytes(2 * 544)}, "have room for more"),
        ({"PixelSpacing": ["-1", "1"]}, "pixels of -1 by 1 mm"),
    ],
)
def test_pixels_that_are_not_what_the_header_says_are_refused(
    tmp_path, dicom_slice, read, change, words
):
    path = changed(dicom_slice(tmp_path / "a.dcm", np.ones((16, 17), np.uint16)), **change)
    with pytest.raises(InputError, match=words):
        read(path)


def test_labels_in_other_than_the_lowest_bits_are_refused(tmp_path, dicom_slice):
    path = dicom_slice(tmp_path / "a.dcm", np.ones((16, 17), np.uint16))
    changed(path, BitsStored=8, HighBit=15)
    with pytest.raises(InputError, match="8 bits of which the highest is bit 15"):
        read_label_array(path)
