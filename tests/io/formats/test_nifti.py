"""NIfTI, held against SimpleITK and nibabel."""

import struct
import subprocess
import sys

import nibabel
import numpy as np
import pytest
import SimpleITK as sitk

from multirater.errors import InputError
from multirater.io.formats.grid import steps_of
from multirater.io.formats.images import image_shape, read_image, write_image
from multirater.types import Geometry, Image

RNG = np.random.default_rng(2)
TURN_2D = ((0.8, -0.6), (0.6, 0.8))
TURN_3D = ((0.0, -0.6, 0.8), (0.0, 0.8, 0.6), (1.0, 0.0, 0.0))
SOLID = Geometry((3.0, 0.5, 0.75), (-20.0, 30.0, 40.0), TURN_3D)
FLAT = Geometry((0.5, 0.75), (-20.0, 30.0), TURN_2D)


@pytest.mark.parametrize("n_channels", [1, 3])
@pytest.mark.parametrize("geometry", [SOLID, FLAT])
def test_itk_sees_the_same_voxels_at_the_same_places(tmp_path, n_channels, geometry):
    space = (4, 5, 6)[-geometry.ndim :]
    array = RNG.integers(0, 99, (n_channels, *space)).astype(np.int16)
    write_image(Image(array, geometry), tmp_path / "a.nii.gz")
    seen = sitk.ReadImage(tmp_path / "a.nii.gz")
    values = sitk.GetArrayFromImage(seen)
    if geometry.ndim == 3 and n_channels > 1:  # ITK takes the fourth axis for one more of space
        assert values.shape == (n_channels, *space)
    else:
        assert seen.GetDimension() == geometry.ndim
        values = np.moveaxis(values, -1, 0) if n_channels > 1 else values[None]
    np.testing.assert_array_equal(values, array)
    index = [1, 2, 3][: geometry.ndim]
    place = seen.TransformIndexToPhysicalPoint(index + [0] * (seen.GetDimension() - geometry.ndim))
    meant = np.asarray(geometry.origin) + steps_of(geometry) @ index[::-1]
    np.testing.assert_allclose(place[: geometry.ndim], meant, atol=1e-4)


@pytest.mark.parametrize("geometry", [SOLID, FLAT])
def test_what_itk_wrote_is_read_alike(tmp_path, geometry):
    space = (4, 5, 6)[-geometry.ndim :]
    array = RNG.integers(0, 99, (*space, 3)).astype(np.uint8)
    written = sitk.GetImageFromArray(array, isVector=True)
    written.SetSpacing(geometry.spacing[::-1])
    written.SetOrigin(geometry.origin)
    written.SetDirection(np.asarray(geometry.direction)[:, ::-1].ravel().tolist())
    sitk.WriteImage(written, tmp_path / "a.nii.gz")
    image = read_image(tmp_path / "a.nii.gz")
    np.testing.assert_array_equal(image.array, np.moveaxis(array, -1, 0))
    np.testing.assert_allclose(image.geometry.spacing, geometry.spacing, rtol=1e-5)
    np.testing.assert_allclose(image.geometry.origin, geometry.origin, rtol=1e-5)
    np.testing.assert_allclose(image.geometry.direction, geometry.direction, atol=1e-5)


def test_nibabel_sees_the_affine_in_ras(tmp_path):
    write_image(Image(np.zeros((1, 4, 5, 6), np.uint8), SOLID), tmp_path / "a.nii")
    file = nibabel.load(tmp_path / "a.nii")
    assert file.shape == (6, 5, 4)
    assert file.header.get_xyzt_units()[0] == "mm"
    assert (int(file.header["qform_code"]), int(file.header["sform_code"])) == (1, 1)
    x, y, z = file.affine[:3] @ [3, 2, 1, 1]
    meant = np.asarray(SOLID.origin) + steps_of(SOLID) @ [1, 2, 3]
    np.testing.assert_allclose([-x, -y, z], meant, atol=1e-4)


def test_channels_may_lie_on_the_fourth_or_fifth_axis(tmp_path):
    values = RNG.integers(0, 99, (6, 5, 4, 3)).astype(np.int16)
    for stored in (values, values[:, :, :, None, :]):
        nibabel.save(nibabel.Nifti1Image(stored, np.eye(4)), tmp_path / "a.nii")
        np.testing.assert_array_equal(read_image(tmp_path / "a.nii").array, values.T)
        assert image_shape(tmp_path / "a.nii")[0] == (4, 5, 6)
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 3, 3, 2, 2)), np.eye(4)), tmp_path / "b.nii")
    with pytest.raises(InputError, match="3 x 3 x 3 x 2 x 2"):
        read_image(tmp_path / "b.nii")


def test_colours_are_channels(tmp_path):
    for names in ("RGB", "RGBA"):
        kind = np.dtype([(name, "u1") for name in names])
        values = RNG.integers(0, 255, (6, 5, 4, len(names))).astype(np.uint8)
        stored = values.copy().view(kind).reshape(6, 5, 4)
        nibabel.save(nibabel.Nifti1Image(stored, np.eye(4)), tmp_path / "a.nii.gz")
        np.testing.assert_array_equal(read_image(tmp_path / "a.nii.gz").array, values.T)


def test_a_scale_is_applied_and_its_absence_keeps_the_type(tmp_path):
    file = nibabel.Nifti1Image(np.arange(24, dtype=np.int16).reshape(2, 3, 4), np.eye(4))
    file.header.set_slope_inter(0.5, 10)
    nibabel.save(file, tmp_path / "a.nii")
    raw = bytearray((tmp_path / "a.nii").read_bytes())
    header = nibabel.Nifti1Header.from_fileobj((tmp_path / "a.nii").open("rb"), check=False)
    stored = np.frombuffer(raw, np.int16, 24, offset=int(header["vox_offset"])).reshape(4, 3, 2)
    slope, intercept = float(header["scl_slope"]), float(header["scl_inter"])
    read = read_image(tmp_path / "a.nii").array[0]
    np.testing.assert_allclose(read, stored * slope + intercept, atol=1e-3)
    assert read.dtype.kind == "f"


def test_a_sheared_grid_is_kept(tmp_path):
    affine = np.array([[2, 0.5, 0, 1], [0, 1, 0.2, 2], [0.1, 0, 3, 3], [0, 0, 0, 1.0]])
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 4, 5), np.uint8), affine), tmp_path / "a.nii")
    image = read_image(tmp_path / "a.nii")
    to_lps = np.diag([-1, -1, 1])
    np.testing.assert_allclose(steps_of(image.geometry), (to_lps @ affine[:3, :3])[:, ::-1], 1e-5)
    write_image(image, tmp_path / "b.nii")
    np.testing.assert_allclose(nibabel.load(tmp_path / "b.nii").affine, affine, atol=1e-5)


def test_a_singular_grid_is_told(tmp_path):
    file = nibabel.Nifti1Image(np.zeros((3, 4, 5), np.uint8), np.eye(4))
    file.header["srow_x"] = file.header["srow_y"]
    file.header["sform_code"] = 1
    nibabel.save(nibabel.Nifti1Image(file.dataobj, None, file.header), tmp_path / "a.nii")
    for ask in (read_image, image_shape):
        with pytest.raises(InputError, match="unusable geometry") as error:
            ask(tmp_path / "a.nii")
        assert error.value.faults[0].file == str(tmp_path / "a.nii")


def test_a_file_without_a_world_has_only_its_voxel_sizes(tmp_path):
    file = nibabel.Nifti1Image(np.zeros((3, 4, 5), np.uint8), None)
    file.header.set_zooms((0.5, 0.75, 3.0))
    nibabel.save(file, tmp_path / "a.nii")
    geometry = read_image(tmp_path / "a.nii").geometry
    assert geometry == Geometry((3.0, 0.75, 0.5), (0.0,) * 3, Geometry.default(3).direction)


def test_only_the_quaternion_form(tmp_path):
    write_image(Image(np.zeros((1, 4, 5, 6), np.uint8), SOLID), tmp_path / "a.nii")
    file = nibabel.load(tmp_path / "a.nii")
    file.set_sform(None, code=0)
    nibabel.save(file, tmp_path / "b.nii")
    assert read_image(tmp_path / "b.nii").geometry.is_close(SOLID, 1e-5)


@pytest.mark.parametrize(("unit", "scale"), [("meter", 1000.0), ("micron", 0.001), ("mm", 1.0)])
def test_units_become_millimetres(tmp_path, unit, scale):
    file = nibabel.Nifti1Image(np.zeros((3, 4, 5), np.uint8), np.diag([2.0, 2.0, 2.0, 1.0]))
    file.header.set_xyzt_units(unit)
    nibabel.save(file, tmp_path / "a.nii")
    np.testing.assert_allclose(read_image(tmp_path / "a.nii").geometry.spacing, [2 * scale] * 3)


def test_a_picture_outside_the_x_y_plane_keeps_its_spacing(tmp_path):
    affine = np.array([[0, 0, 1, 5], [0.5, 0, 0, 6], [0, 0.25, 0, 7], [0, 0, 0, 1.0]])
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 4), np.uint8), affine), tmp_path / "a.nii")
    assert read_image(tmp_path / "a.nii").geometry == Geometry(
        (0.25, 0.5), (0.0, 0.0), Geometry.default(2).direction
    )


def test_an_axis_too_long_for_the_first_version(tmp_path):
    array = np.zeros((1, 2, 40000), np.uint8)
    array[0, 1, 39999] = 7
    write_image(Image(array, Geometry.default(2)), tmp_path / "a.nii.gz")
    np.testing.assert_array_equal(read_image(tmp_path / "a.nii.gz").array, array)
    assert isinstance(nibabel.load(tmp_path / "a.nii.gz"), nibabel.Nifti2Image)


def test_big_endian_files_are_read(tmp_path):
    header = nibabel.Nifti1Header(endianness=">")
    header.set_data_dtype(np.int16)
    values = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    nibabel.save(nibabel.Nifti1Image(values, np.eye(4), header), tmp_path / "a.nii")
    array = read_image(tmp_path / "a.nii").array
    np.testing.assert_array_equal(array[0], values.T)
    assert array.dtype == np.int16


@pytest.mark.parametrize("size", [0.0, -1.0, float("nan")])
@pytest.mark.parametrize("qform", [0, 1])
def test_voxels_that_cannot_be_are_refused_and_not_made_up(tmp_path, size, qform):
    path = tmp_path / "a.nii"
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 4, 5), dtype=np.int16), np.eye(4)), path)
    content = bytearray(path.read_bytes())
    content[80:84] = struct.pack("<f", size)  # pixdim[1]
    content[252:256] = struct.pack("<hh", qform, 0)  # no sform
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"has voxels of {size:g} x 1 x 1 mm"):
        read_image(path)
    if (size, qform) != (-1.0, 1):  # another process, where nothing of the tests catches logs
        return
    read = f"from multirater.io import read_image; read_image({str(path)!r})"
    said = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=False)
    assert "pixdim" not in said.stderr


@pytest.mark.parametrize("place", [112, 116])  # scl_slope, scl_inter
def test_a_scale_without_end_is_refused_and_not_left_out(tmp_path, place):
    nibabel.save(nibabel.Nifti1Image(np.ones((2, 3, 4), np.int16), np.eye(4)), tmp_path / "a.nii")
    raw = bytearray((tmp_path / "a.nii").read_bytes())
    raw[place : place + 4] = np.float32(np.inf).tobytes()
    (tmp_path / "a.nii").write_bytes(raw)
    with pytest.raises(InputError, match="scl_"):
        read_image(tmp_path / "a.nii")
