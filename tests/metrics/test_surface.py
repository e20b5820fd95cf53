"""Distances between outlines against MONAI, SimpleITK and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multirater.errors import InputError
from multirater.metrics import hausdorff_distance, surface_distance

SPACINGS = {2: (0.7, 1.6), 3: (2.5, 0.8, 1.1)}
SHAPES = {2: (20, 24), 3: (10, 12, 14)}


def random_blob(ndim, rng):
    """A smooth mask that may touch the border, and is never empty."""
    from scipy.ndimage import gaussian_filter

    field = gaussian_filter(rng.normal(size=SHAPES[ndim]), 2)
    return field > np.quantile(field, rng.uniform(0.5, 0.95))


def ball(radius, centre, shape=(40, 40, 40)):
    offsets = np.indices(shape) - np.reshape(centre, (-1, 1, 1, 1))
    return (offsets**2).sum(axis=0) <= radius**2


@pytest.mark.parametrize("ndim", [2, 3])
def test_agree_with_monai(ndim):
    import torch
    from monai.metrics import compute_average_surface_distance, compute_hausdorff_distance

    rng = np.random.default_rng(ndim)
    spacing = SPACINGS[ndim]
    for _ in range(10):
        a, b = random_blob(ndim, rng), random_blob(ndim, rng)
        batch = [torch.from_numpy(each[None, None]) for each in (b, a)]
        options = {"include_background": True, "spacing": spacing}
        for percentile in (50, 95, 100):
            theirs = compute_hausdorff_distance(*batch, percentile=percentile, **options).item()
            ours = hausdorff_distance(a, b, spacing=spacing, percentile=percentile)
            assert ours == pytest.approx(theirs, rel=1e-5)
        theirs = compute_average_surface_distance(*batch, symmetric=True, **options).item()
        assert surface_distance(a, b, spacing=spacing) == pytest.approx(theirs, rel=1e-5)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from([2, 3]))
def test_agree_with_simpleitk_where_every_pixel_is_surface(seed, ndim):
    import SimpleITK as sitk

    # Fields of one colour of a checkerboard do not touch: every pixel is surface.
    board = np.indices(SHAPES[ndim]).sum(axis=0) % 2 == 0
    random = np.random.default_rng(seed).random((2, *SHAPES[ndim]))
    masks = [board & (each < 0.1) for each in random]
    images = [sitk.GetImageFromArray(mask.astype(np.uint8)) for mask in masks]
    for image in images:
        image.SetSpacing(SPACINGS[ndim][::-1])
    measure = sitk.HausdorffDistanceImageFilter()
    measure.Execute(*images)
    found = hausdorff_distance(*masks, spacing=SPACINGS[ndim])
    assert found == pytest.approx(measure.GetHausdorffDistance(), rel=1e-5)


def test_concentric_balls_are_apart_by_the_difference_of_their_radii():
    centre = (20, 20, 20)
    small, large = ball(6, centre), ball(15, centre)
    assert hausdorff_distance(small, large) == pytest.approx(9, abs=0.6)
    assert surface_distance(small, large) == pytest.approx(9, abs=0.6)


def test_a_shift_is_measured_in_millimetres_along_its_own_axis():
    square = np.zeros((30, 30), dtype=bool)
    square[5:15, 5:15] = True
    for axis, step in enumerate((0.5, 3.0)):
        shifted = np.roll(square, 4, axis=axis)
        assert hausdorff_distance(square, shifted, spacing=(0.5, 3.0)) == pytest.approx(4 * step)


def test_one_far_pixel_rules_the_maximum_but_not_the_percentile():
    plate = np.zeros((40, 40), dtype=bool)
    plate[5:25, 5:25] = True
    stained = plate.copy()
    stained[39, 39] = True
    assert hausdorff_distance(plate, stained) == pytest.approx(15 * np.sqrt(2))
    assert hausdorff_distance(plate, stained, percentile=95) == 0


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_symmetric_and_zero_for_itself(seed):
    rng = np.random.default_rng(seed)
    a, b = random_blob(2, rng), random_blob(2, rng)
    for distance in (hausdorff_distance, surface_distance):
        assert distance(a, b) == pytest.approx(distance(b, a))
        assert distance(a, a) == 0
    assert surface_distance(a, b) <= hausdorff_distance(a, b)


@pytest.mark.parametrize("distance", [hausdorff_distance, surface_distance])
def test_empty_masks(distance):
    empty, full = np.zeros((3, 3)), np.ones((3, 3))
    assert distance(empty, empty) == 0
    assert distance(empty, full) == distance(full, empty) == np.inf


@pytest.mark.parametrize("distance", [hausdorff_distance, surface_distance])
def test_nothing_to_compare_is_nan(distance):
    assert np.isnan(distance(np.full((3, 3), -1), np.ones((3, 3))))


def test_any_class_can_be_the_foreground():
    labels = np.zeros((8, 8), dtype=int)
    labels[2:4, 2:4], labels[5:7, 5:7] = 1, 2
    mask = labels == 2
    other = np.roll(labels, 1, axis=0)
    assert hausdorff_distance(labels, other, foreground=2) == hausdorff_distance(
        mask, np.roll(mask, 1, axis=0)
    )


def test_unlabelled_pixels_are_outside_in_both():
    a, b = np.zeros((2, 10, 10), dtype=int)
    a[2:5, 2:5] = b[2:5, 2:5] = 1
    a[9, 9], b[9, 9] = 1, -1
    assert hausdorff_distance(a, b) == 0


@pytest.mark.parametrize("spacing", [(1.0,), (1.0, 0.0), (1.0, np.nan)])
def test_refuses_a_spacing_that_does_not_fit(spacing):
    with pytest.raises(InputError, match="per array axis"):
        hausdorff_distance(np.ones((2, 2)), np.ones((2, 2)), spacing=spacing)


def test_refuses_a_percentile_out_of_range():
    with pytest.raises(InputError, match="percentile 120"):
        hausdorff_distance(np.ones((2, 2)), np.ones((2, 2)), percentile=120)
