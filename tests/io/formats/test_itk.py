"""NRRD and MetaImage, held against SimpleITK and the text of the files."""

import re

import numpy as np
import pytest
import SimpleITK as sitk

from multirater.errors import InputError
from multirater.io.formats.grid import steps_of
from multirater.io.formats.images import image_shape, read_image, write_image
from multirater.types import Geometry, Image

RNG = np.random.default_rng(3)
TURNED = ((0.0, -0.6, 0.8), (0.0, 0.8, 0.6), (1.0, 0.0, 0.0))
GEOMETRY = Geometry((3.0, 0.5, 0.75), (-20.0, 30.0, 40.0), TURNED)


@pytest.mark.parametrize("suffix", [".nrrd", ".mha", ".mhd"])
@pytest.mark.parametrize("n_channels", [1, 2, 5])
def test_itk_sees_the_same_voxels_at_the_same_places(tmp_path, suffix, n_channels):
    array = RNG.integers(0, 99, (n_channels, 4, 5, 6)).astype(np.int16)
    write_image(Image(array, GEOMETRY), tmp_path / f"a{suffix}")
    seen = sitk.ReadImage(tmp_path / f"a{suffix}")
    assert seen.GetNumberOfComponentsPerPixel() == n_channels
    values = sitk.GetArrayFromImage(seen).reshape(4, 5, 6, n_channels)
    np.testing.assert_array_equal(np.moveaxis(values, -1, 0), array)
    place = seen.TransformIndexToPhysicalPoint((3, 2, 1))
    meant = np.asarray(GEOMETRY.origin) + steps_of(GEOMETRY) @ [1, 2, 3]
    np.testing.assert_allclose(place, meant, atol=1e-4)


def test_an_mhd_file_is_whole(tmp_path):
    write_image(Image(np.zeros((1, 3, 4), np.uint8), Geometry.default(2)), tmp_path / "a.mhd")
    assert [path.name for path in tmp_path.iterdir()] == ["a.mhd"]
    assert b"ElementDataFile = LOCAL" in (tmp_path / "a.mhd").read_bytes()


@pytest.mark.parametrize("suffix", [".mhd", ".nhdr"])
def test_headers_beside_their_data(tmp_path, suffix):
    values = RNG.integers(0, 99, (4, 5, 6)).astype(np.int16)
    sitk.WriteImage(sitk.GetImageFromArray(values), tmp_path / f"a{suffix}")
    (data,) = (path for path in tmp_path.iterdir() if path.suffix == ".raw")
    np.testing.assert_array_equal(read_image(tmp_path / f"a{suffix}").array[0], values)
    whole = data.read_bytes()
    data.write_bytes(whole[:-20])
    with pytest.raises(InputError) as error:
        read_image(tmp_path / f"a{suffix}")
    assert error.value.faults[0].file == str(tmp_path / f"a{suffix}")
    data.unlink()
    with pytest.raises(InputError):
        read_image(tmp_path / f"a{suffix}")


def test_a_world_of_another_handedness_is_turned_to_lps(tmp_path):
    header = (
        "NRRD0004\ntype: uchar\ndimension: 3\nspace: right-anterior-superior\nsizes: 3 2 1\n"
        "space directions: (2,0,0) (0,3,0) (0,0,4)\nspace origin: (10,20,30)\nencoding: raw\n\n"
    )
    (tmp_path / "a.nrrd").write_bytes(header.encode() + bytes(range(6)))
    image = read_image(tmp_path / "a.nrrd")
    assert image.array.ravel().tolist() == list(range(6))
    assert image.geometry == Geometry(
        (4.0, 3.0, 2.0), (-10.0, -20.0, 30.0), ((0.0, 0.0, -1.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0))
    )


def test_a_fourth_axis_is_channels(tmp_path):
    values = RNG.integers(0, 99, (3, 4, 5, 6)).astype(np.int16)
    file = sitk.GetImageFromArray(values, isVector=False)
    file.SetSpacing((0.5, 0.75, 2.0, 1.0))
    sitk.WriteImage(file, tmp_path / "a.nrrd")
    image = read_image(tmp_path / "a.nrrd")
    np.testing.assert_array_equal(image.array, values)
    assert image.geometry.spacing == (2.0, 0.75, 0.5)
    assert image_shape(tmp_path / "a.nrrd") == ((4, 5, 6), image.geometry)


@pytest.mark.parametrize("suffix", [".nrrd", ".mha"])
def test_a_sheared_grid_is_kept(tmp_path, suffix):
    direction = ((0.0, 0.6, 1.0), (0.0, 0.8, 0.0), (1.0, 0.0, 0.0))
    geometry = Geometry((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), direction)
    write_image(Image(np.zeros((1, 2, 3, 4), np.uint8), geometry), tmp_path / f"a{suffix}")
    read = read_image(tmp_path / f"a{suffix}").geometry
    np.testing.assert_allclose(steps_of(read), steps_of(geometry), atol=1e-5)


def test_the_terminal_stays_quiet_and_the_switch_is_put_back(tmp_path):
    before = sitk.ProcessObject.GetGlobalWarningDisplay()
    write_image(Image(np.zeros((1, 3, 4), np.uint8), Geometry.default(2)), tmp_path / "a.mha")
    read_image(tmp_path / "a.mha")
    assert sitk.ProcessObject.GetGlobalWarningDisplay() == before


def test_packed_data_of_which_the_header_counts_too_few_bytes_are_refused(tmp_path):
    drawn = RNG.integers(0, 2, (1, 9, 9, 9)).astype(np.uint8)
    write_image(Image(drawn, Geometry.default(3)), tmp_path / "a.mha")
    whole = (tmp_path / "a.mha").read_bytes()
    size = re.search(rb"CompressedDataSize = (\d+)", whole)[1]
    fewer = str(int(size) - 20).encode().rjust(len(size), b"0")
    (tmp_path / "a.mha").write_bytes(whole.replace(b"Size = " + size, b"Size = " + fewer))
    with pytest.raises(InputError, match="end too soon"):
        read_image(tmp_path / "a.mha")
