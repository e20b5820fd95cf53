"""Label files in and out, next to the image they were drawn on."""

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image as Pillow

from multirater.errors import Fault, InputError
from multirater.io.formats.images import WRITABLE, image_shape
from multirater.io.formats.labels import read_label, write_label
from multirater.types import MISSING, Classes, Geometry, LabelClass, LabelMap

MASK = np.array([[0, 1, 0, 0], [2, 1, 0, 2], [0, 0, 0, 1]], np.uint8)
BINARY = (MASK > 0).astype(np.uint8)
OBLIQUE = Geometry((2.0, 0.5), (7.0, -3.0), ((0.0, 1.0), (1.0, 0.0)))


def like(space, geometry=None):
    return lambda: (space, geometry or Geometry.default(len(space)))


def no_image():
    raise InputError(Fault("the image cannot be read", file="image.png"))


def png(path, array):
    Pillow.fromarray(array).save(path)
    return path


def nifti(path, array, affine=None):
    """Save an array (z, y, x) or (y, x) the way nibabel's users do."""
    nibabel.save(nibabel.Nifti1Image(array.T, np.eye(4) if affine is None else affine), path)
    return path


def test_the_rule_is_stated(tmp_path):
    label = read_label(png(tmp_path / "a.png", BINARY * 255))
    assert np.array_equal(label.array, BINARY)
    assert label.rule == "0 is background, 255 is foreground"


def test_suffixes_in_capitals(tmp_path):
    png(tmp_path / "a.png", MASK).rename(tmp_path / "A.PNG")
    assert np.array_equal(read_label(tmp_path / "A.PNG").array, MASK)


def pngs():
    grey, alpha = Pillow.fromarray(MASK), Pillow.fromarray(np.full_like(MASK, 255))
    palette = grey.copy()
    palette.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    return {
        "grey": grey,
        "grey with opacity": Pillow.merge("LA", [grey, alpha]),
        "colour": Pillow.merge("RGB", [grey] * 3),
        "colour with opacity": Pillow.merge("RGBA", [grey] * 3 + [alpha]),
        "16 bits": Pillow.fromarray(MASK.astype(np.uint16)),
        "palette": palette,
    }


@pytest.mark.parametrize("kind", list(pngs()))
def test_png_masks_of_every_kind_hold_the_same_indices(tmp_path, kind):
    pngs()[kind].save(tmp_path / "a.png")
    assert np.array_equal(read_label(tmp_path / "a.png").array, MASK)


def test_one_bit_masks(tmp_path):
    Pillow.fromarray(BINARY.astype(bool)).save(tmp_path / "a.png")
    assert np.array_equal(read_label(tmp_path / "a.png").array, BINARY)


@pytest.mark.parametrize("kind", ["f4", "f8", "i2", "u1"])
def test_nifti_masks_of_whole_numbers_in_any_type(tmp_path, kind):
    label = read_label(nifti(tmp_path / "a.nii.gz", MASK[None].astype(kind)))
    assert np.array_equal(label.array, MASK[None])


def test_nifti_masks_with_nan_or_fractions_are_refused_by_name(tmp_path):
    values = MASK[None].astype(np.float32)
    values[0, 0, 0] = np.nan
    with pytest.raises(InputError, match="1 label values are NaN") as caught:
        read_label(nifti(tmp_path / "a.nii", values))
    assert caught.value.faults[0].file == str(tmp_path / "a.nii")
    values[0, 0, 0] = 0.5
    with pytest.raises(InputError, match=r"fractions such as 0\.5"):
        read_label(nifti(tmp_path / "b.nii", values))


def test_a_jpeg_label_is_refused_with_the_reason(tmp_path):
    grey = np.repeat(np.repeat(BINARY * 255, 5, 0), 5, 1)
    Pillow.fromarray(grey).save(tmp_path / "a.jpg", quality=50)
    with pytest.raises(InputError, match="JPEG changes the values it stores"):
        read_label(tmp_path / "a.jpg")
    Pillow.fromarray(np.full((8, 8), 255, np.uint8)).save(tmp_path / "b.jpg")
    assert (read_label(tmp_path / "b.jpg").array == 1).all()


def test_a_label_with_a_slice_axis_fits_a_flat_image(tmp_path):
    path = nifti(tmp_path / "a.nii.gz", MASK[None])
    assert read_label(path).array.shape == (1, 3, 4)
    assert np.array_equal(read_label(path, like=like((3, 4))).array, MASK)


def test_a_flat_label_fits_an_image_of_one_slice(tmp_path):
    grid = like(
        (1, 3, 4), Geometry((5.0, 2.0, 2.0), (0.0, 0.0, 9.0), Geometry.default(3).direction)
    )
    label = read_label(png(tmp_path / "a.png", MASK), like=grid)
    assert np.array_equal(label.array, MASK[None])
    assert label.geometry == grid()[1]


def test_a_label_of_another_size_keeps_its_own(tmp_path):
    path = png(tmp_path / "a.png", MASK)
    assert read_label(path, like=like((3, 5), OBLIQUE)).array.shape == (3, 4)
    assert read_label(path, like=like((6, 3, 4))).array.shape == (3, 4)
    assert read_label(path, like=like((3, 5), OBLIQUE)).geometry == Geometry.default(2)


@pytest.mark.parametrize("suffix", [".png", ".npy", ".tif"])
def test_a_format_without_geometry_takes_that_of_the_image(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    if suffix == ".npy":
        np.save(path, MASK)
    elif suffix == ".png":
        png(path, MASK)
    else:
        tifffile.imwrite(path, MASK)
    assert read_label(path, like=like((3, 4), OBLIQUE)).geometry == OBLIQUE
    assert read_label(path).geometry == Geometry.default(2)


def test_a_format_with_geometry_keeps_its_own(tmp_path):
    label = read_label(nifti(tmp_path / "a.nii", MASK[None], np.diag([3, 3, 3, 1])))
    grid = like((1, 3, 4), Geometry((1.0, 2.0, 2.0), (0.0,) * 3, Geometry.default(3).direction))
    assert read_label(tmp_path / "a.nii", like=grid).geometry == label.geometry


@pytest.mark.parametrize("suffix", [".npy", ".tif"])
def test_the_image_says_whether_a_third_axis_is_depth_or_classes(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    channels = np.stack([MASK == 0, MASK == 1, MASK == 2]).astype(np.uint8)
    if suffix == ".npy":
        np.save(path, channels)
    else:
        tifffile.imwrite(path, channels, photometric="minisblack")
    flat = read_label(path, like=like((3, 4)))
    assert np.array_equal(flat.array, MASK)
    assert flat.rule == "one channel per class"
    assert np.array_equal(read_label(path, like=like((3, 3, 4))).array, channels)


def test_a_volume_with_a_place_of_its_own_does_not_ask_for_the_image(tmp_path):
    volume = np.stack([MASK, MASK])
    path = nifti(tmp_path / "a.nii.gz", volume)
    assert np.array_equal(read_label(path, like=no_image).array, volume)


def test_an_image_that_cannot_be_read_does_not_spoil_its_label(tmp_path):
    path = png(tmp_path / "a.png", MASK)
    assert np.array_equal(read_label(path, like=no_image).array, MASK)


def test_a_png_mask_of_a_dicom_slice(tmp_path, dicom_slice):
    image = dicom_slice(tmp_path / "a.dcm", MASK.astype(np.int16))
    path = png(tmp_path / "a.png", MASK)
    label = read_label(path, like=lambda: image_shape(image))
    assert np.array_equal(label.array, MASK)
    assert label.geometry.spacing == (0.5, 0.75)


def test_a_dicom_segmentation_that_omits_slices_lies_on_the_grid_of_its_series(
    tmp_path, dicom_series
):
    from multirater.io.formats.dicom_seg import write_dicom_seg

    series = dicom_series(tmp_path / "ct", np.zeros((4, 3, 4), np.int16))
    space, geometry = image_shape(series)
    whole = np.zeros(space, np.int16)
    whole[1:3] = BINARY
    part = Geometry(
        geometry.spacing, (*geometry.origin[:2], geometry.origin[2] + 2.0), geometry.direction
    )
    write_dicom_seg(LabelMap(whole[1:3], part), tmp_path / "seg", classes=Classes.numbered(2))
    (tmp_path / "seg").rename(tmp_path / "seg.dcm")
    label = read_label(tmp_path / "seg.dcm", like=lambda: (space, geometry))
    assert np.array_equal(label.array, whole)
    assert label.geometry.is_close(geometry)
    assert read_label(tmp_path / "seg.dcm").array.shape == (2, 3, 4)


def test_a_dicom_segmentation_next_to_a_picture_without_geometry(tmp_path):
    from multirater.io.formats.dicom_seg import write_dicom_seg

    placed = LabelMap(BINARY.astype(np.int16), OBLIQUE)
    write_dicom_seg(placed, tmp_path / "seg.dcm", classes=Classes.numbered(2))
    assert np.array_equal(read_label(tmp_path / "seg.dcm", like=like((3, 4))).array, BINARY)


@pytest.mark.parametrize("content", [b"", b"not a picture", None])
def test_a_file_that_cannot_be_read_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_label(tmp_path / "a.png")
    assert caught.value.faults[0].file == str(tmp_path / "a.png")
    assert caught.value.faults[0].fix


@pytest.mark.parametrize(
    ("suffix", "ndim"),
    [
        (suffix, ndim)
        for suffix in sorted(WRITABLE)
        for ndim in (2, 3)
        if (suffix, ndim) != (".png", 3)
    ],
)
def test_labels_with_unlabelled_pixels_come_back_from_every_format(tmp_path, suffix, ndim):
    indices = np.stack([MASK.astype(np.int16), -BINARY.astype(np.int16)])
    indices = indices if ndim == 3 else indices[0] - (MASK == 2) * 3
    assert MISSING in indices
    geometry = Geometry.default(ndim)
    if suffix != ".npy":
        geometry = Geometry((2.0, 0.5, 0.75)[-ndim:], (7.0, -3.0, 1.5)[:ndim], geometry.direction)
    classes = Classes.numbered(3)
    classes = Classes(classes.items, 255) if suffix == ".png" else classes
    write_label(
        LabelMap(indices.astype(np.int16), geometry), tmp_path / f"a{suffix}", classes=classes
    )
    back = read_label(tmp_path / f"a{suffix}", classes=classes)
    assert np.array_equal(back.array, indices)
    assert back.geometry.is_close(geometry)


def test_writing_names_the_file_that_cannot_be_made(tmp_path):
    label = LabelMap(np.array([[0, MISSING]], np.int16), Geometry.default(2))
    with pytest.raises(InputError, match="without negative values") as caught:
        write_label(label, tmp_path / "a.png")
    assert caught.value.faults[0].file == str(tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_unasked(tmp_path):
    path = png(tmp_path / "a.png", MASK)
    label = LabelMap(np.zeros((2, 2), np.int16), Geometry.default(2))
    with pytest.raises(InputError, match="already exists"):
        write_label(label, path)
    write_label(label, path, overwrite=True)
    assert read_label(path).array.shape == (2, 2)


def test_values_declared_for_classes_are_written(tmp_path):
    items = (LabelClass("none", value=0), LabelClass("lesion", value=255))
    label = LabelMap(BINARY.astype(np.int16), Geometry.default(2))
    write_label(label, tmp_path / "a.png", classes=Classes(items))
    assert np.array_equal(np.asarray(Pillow.open(tmp_path / "a.png")), BINARY * 255)


def test_whole_numbers_beyond_all_classes(tmp_path):
    np.save(tmp_path / "a.npy", np.full((4, 4), 2**64 - 1, dtype=np.uint64))
    with pytest.raises(InputError, match="as large as 1"):
        read_label(tmp_path / "a.npy")
