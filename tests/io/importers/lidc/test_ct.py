import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.importers.lidc.ct import crop_ct, index_series
from multirater.io.importers.lidc.masks import fill_mask
from multirater.io.importers.lidc.nodules import Nodule
from multirater.io.importers.lidc.scan import Contour, NoduleDrawing

SHAPE = (12, 40, 50)
Z0, GAP = 10.0, 2.0  # of the series that `dicom_series` writes; pixels are 0.5 x 0.75 mm


@pytest.fixture
def volume(rng):
    return rng.integers(0, 2000, SHAPE).astype(np.uint16)


@pytest.fixture
def series(tmp_path, dicom_series, volume):
    folder = dicom_series(
        tmp_path / "ct" / "P1" / "study" / "series",
        volume,
        RescaleSlope=1,
        RescaleIntercept=-1024,
    )
    return index_series(folder, {"1.2.3.4"})["1.2.3.4"]


def nodule(contours):
    drawn = NoduleDrawing(tuple(Contour(z, inside, np.array(xy)) for z, inside, xy in contours))
    return Nodule("P-nodule-1", "1.2.3.4", {"reader 1": (drawn,)}, np.array([Z0]), None)


def test_finds_series_in_any_layout(tmp_path, dicom_series, volume):
    dicom_series(tmp_path / "flat", volume[:3], SeriesInstanceUID="1.1")
    dicom_series(tmp_path / "a" / "b", volume[:2], SeriesInstanceUID="1.2")
    dicom_series(tmp_path / "other", volume[:2], SeriesInstanceUID="1.3")
    for file in (tmp_path / "a" / "b").iterdir():  # names without suffix, beside another series
        file.rename(tmp_path / "flat" / f"x-{file.stem}")
    (tmp_path / "flat" / "notes.txt").write_text("not an image")
    (tmp_path / "flat" / "broken.dcm").write_bytes(b"not DICOM")
    found = index_series(tmp_path, {"1.1", "1.2", "1.9"})
    assert {uid: sorted(each.z for each in slices) for uid, slices in found.items()} == {
        "1.1": [10.0, 12.0, 14.0],
        "1.2": [10.0, 12.0],
    }


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_place_that_is_no_folder_is_refused(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=name):
        index_series(tmp_path / name, set())


def test_crops_hounsfield_units_around_the_outlines(series, volume, block):
    case = nodule(block(20, 15, 3, [Z0 + 4 * GAP, Z0 + 5 * GAP]))
    crop, image = crop_ct(series, case, margin_mm=2.5)
    # One slice, five rows of 0.5 mm and four columns of 0.75 mm on each side.
    expected = volume[3:7, 12 - 5 : 18 + 5 + 1, 17 - 4 : 23 + 4 + 1].astype(int) - 1024
    assert (image.array[0] == expected).all()
    assert crop.heights.tolist() == [16, 18, 20, 22]
    assert image.geometry.spacing == (2.0, 0.5, 0.75)
    assert np.allclose(image.geometry.origin, [-5 + 13 * 0.75, 3 + 7 * 0.5, 16])
    mask = fill_mask(case.drawings["reader 1"], crop)
    assert mask.shape == image.space
    assert np.argwhere(mask).min(axis=0).tolist() == [1, 6, 5]
    assert mask.sum() == 2 * 25


def test_the_margin_ends_where_the_scan_ends(series, volume, block):
    case = nodule(block(3, 37, 2, [Z0]))
    crop, image = crop_ct(series, case, margin_mm=50)
    assert crop.corner == (0, 0)
    assert image.space == SHAPE
    assert fill_mask(case.drawings["reader 1"], crop).sum() == 9


def test_slices_that_are_not_needed_may_be_missing(series, block):
    case = nodule(block(20, 15, 3, [Z0 + 8 * GAP]))
    kept = [each for each in series if each.z != Z0 + 3 * GAP]
    _, image = crop_ct(kept, case, margin_mm=GAP)
    assert image.space[0] == 3


def test_a_missing_slice_is_said(series, block):
    case = nodule(block(20, 15, 3, [Z0 + 6 * GAP, Z0 + 7 * GAP]))
    kept = [each for each in series if each.z != Z0 + 7 * GAP]
    with pytest.raises(InputError, match="4 mm apart"):
        crop_ct(kept, case, margin_mm=2 * GAP)


def test_a_series_of_another_place_is_said(series, block):
    with pytest.raises(InputError, match="has no slice from z = 900"):
        crop_ct(series, nodule(block(20, 15, 3, [905.0])), margin_mm=5)
