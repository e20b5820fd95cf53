"""Which DICOM files make up one image: order, gaps, mixtures."""

import numpy as np
import pytest
from pydicom.uid import generate_uid

from multirater.errors import InputError
from multirater.io.formats.dicom_series import find_headers, make_stack
from multirater.io.formats.grid import steps_of
from multirater.io.formats.images import image_shape, read_image, read_label_array

VOLUME = np.random.default_rng(5).integers(0, 1000, (5, 6, 7)).astype(np.uint16)


def test_slices_are_sorted_by_where_they_lie(tmp_path, dicom_series):
    stack = make_stack(tmp_path, find_headers(dicom_series(tmp_path, VOLUME)))
    assert [path.name for path in stack.paths] == [f"im{i:03d}.dcm" for i in (5, 4, 3, 2, 1)]
    assert stack.space == (5, 6, 7)
    assert stack.geometry.spacing == (2.0, 0.5, 0.75)
    assert stack.geometry.origin == (-5.0, 3.0, 10.0)


def test_an_oblique_stack_lies_where_its_headers_say(tmp_path, dicom_slice):
    across, down = np.array([0.8, 0.6, 0.0]), np.array([0.0, 0.0, -1.0])
    normal = np.cross(across, down)
    for i in (2, 0, 1):
        dicom_slice(
            tmp_path / f"{i}.dcm",
            VOLUME[i],
            (np.array([10.0, 20.0, 30.0]) + 1.5 * i * normal).tolist(),
            ImageOrientationPatient=[*across, *down],
        )
    geometry = image_shape(tmp_path)[1]
    meant = np.stack([1.5 * normal, 0.5 * down, 0.75 * across], axis=1)
    np.testing.assert_allclose(steps_of(geometry), meant, atol=1e-9)
    np.testing.assert_allclose(geometry.origin, (10.0, 20.0, 30.0))
    np.testing.assert_array_equal(read_image(tmp_path).array[0], VOLUME[:3])


def test_a_tilted_gantry_shears_the_grid(tmp_path, dicom_slice):
    for i in range(3):
        dicom_slice(tmp_path / f"{i}.dcm", VOLUME[i], (0.0, 0.5 * i, 2.0 * i))
    geometry = image_shape(tmp_path)[1]
    np.testing.assert_allclose(steps_of(geometry)[:, 0], [0.0, 0.5, 2.0])


def fault_of(folder):
    faults = []
    for ask in (read_image, image_shape):
        with pytest.raises(InputError) as error:
            ask(folder)
        faults.append(error.value.faults[0])
    assert faults[0] == faults[1]
    assert faults[0].file
    return faults[0]


def test_a_missing_slice_is_told(tmp_path, dicom_series):
    dicom_series(tmp_path, VOLUME)
    (tmp_path / "im003.dcm").unlink()
    fault = fault_of(tmp_path)
    assert "im004.dcm and im002.dcm are 4 mm apart" in fault.found
    assert "missing" in fault.fix


def test_two_slices_at_one_place_are_told(tmp_path, dicom_series, dicom_slice):
    dicom_series(tmp_path, VOLUME)
    dicom_slice(tmp_path / "again.dcm", VOLUME[0], (-5.0, 3.0, 10.0))
    assert "0 mm apart" in fault_of(tmp_path).found


def test_several_series_are_listed(tmp_path, dicom_series):
    dicom_series(tmp_path, VOLUME[:2], SeriesDescription="lung")
    for name in ("im001.dcm", "im002.dcm"):
        (tmp_path / name).rename(tmp_path / f"other{name}")
    dicom_series(tmp_path, VOLUME[:3], SeriesInstanceUID="1.2.99")
    fault = fault_of(tmp_path)
    assert "1.2.3.4 (lung, 2 files)" in fault.found
    assert "1.2.99 (no description, 3 files)" in fault.found
    assert fault.file == str(tmp_path)


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        ({"ImageOrientationPatient": [0, 1, 0, 0, 0, -1]}, "turned otherwise"),
        ({"PixelSpacing": [0.5, 0.8]}, "pixel spacing"),
        ({"ImagePositionPatient": None}, "where it lies"),
    ],
)
def test_a_slice_unlike_the_others_is_named(tmp_path, dicom_series, dicom_slice, tags, words):
    dicom_series(tmp_path, VOLUME)
    dicom_slice(tmp_path / "odd.dcm", VOLUME[0], (-5.0, 3.0, 20.0), **tags)
    fault = fault_of(tmp_path)
    assert words in fault.found
    assert "odd.dcm" in fault.found


def test_a_slice_of_another_size_is_named(tmp_path, dicom_series, dicom_slice):
    dicom_series(tmp_path, VOLUME)
    dicom_slice(tmp_path / "odd.dcm", VOLUME[0, :3], (-5.0, 3.0, 20.0))
    assert "odd.dcm has size 3 x 7" in fault_of(tmp_path).found


def test_files_that_are_no_slices_are_passed_over(tmp_path, dicom_series, dicom_slice):
    dicom_series(tmp_path, VOLUME)
    report = dicom_slice(tmp_path / "report.dcm", VOLUME[0], SeriesInstanceUID=generate_uid())
    import pydicom

    header = pydicom.dcmread(report)
    for name in ("PixelData", "Rows", "Columns"):
        delattr(header, name)
    header.save_as(report)
    (tmp_path / "notes.txt").write_text("ask the radiologist")
    (tmp_path / "preview.png").write_bytes(b"no matter")
    np.testing.assert_array_equal(read_image(tmp_path).array[0], VOLUME)
    with pytest.raises(InputError, match="without pixels") as error:
        read_image(report)
    assert error.value.faults[0].file == str(report)


def test_a_broken_slice_is_named(tmp_path, dicom_series):
    dicom_series(tmp_path, VOLUME)
    data = (tmp_path / "im002.dcm").read_bytes()
    (tmp_path / "im002.dcm").write_bytes(data[:-30])
    with pytest.raises(InputError) as error:
        read_image(tmp_path)
    assert error.value.faults[0].file == str(tmp_path / "im002.dcm")


def test_a_slice_beside_the_others_is_named(tmp_path, dicom_slice):
    places = [(0.0, 0.0, 0.0), (30.0, 0.0, 2.0), (0.0, 0.0, 4.0), (0.0, 0.0, 6.0)]
    for i, place in enumerate(places):
        dicom_slice(tmp_path / f"{i}.dcm", VOLUME[0], place)
    fault = fault_of(tmp_path)
    assert "slice 1.dcm lies 30 mm beside the line from 0.dcm to 3.dcm" in fault.found


def test_grey_and_coloured_slices_are_no_volume(tmp_path, dicom_series, dicom_slice):
    dicom_series(tmp_path, VOLUME.astype(np.uint8))
    coloured = np.zeros((*VOLUME.shape[1:], 3), np.uint8)
    place = (-5.0, 3.0, 10.0 + 2.0 * len(VOLUME))
    dicom_slice(tmp_path / "z.dcm", coloured, place)
    assert "z.dcm has 3 values at each pixel" in fault_of(tmp_path).found


def test_a_table_of_units_is_refused(tmp_path, dicom_slice):
    import pydicom

    table = pydicom.Dataset()
    table.LUTDescriptor, table.ModalityLUTType = [8, 0, 16], "US"
    table.LUTData = np.arange(0, 80, 10, dtype=np.uint16).tobytes()
    file = dicom_slice(tmp_path / "a.dcm", VOLUME[0])
    header = pydicom.dcmread(file)
    header.ModalityLUTSequence = [table]
    header.save_as(file)
    with pytest.raises(InputError, match="Modality LUT"):
        read_image(file)
    read_label_array(file)  # labels are read as they are stored
