import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import ndimage
from skimage.draw import ellipse_perimeter

from multirater.errors import InputError
from multirater.io.formats.grid import steps_of
from multirater.io.importers.lidc.masks import crop_of, extent_of, fill_mask, fill_outline
from multirater.io.importers.lidc.nodules import Nodule
from multirater.io.importers.lidc.scan import Contour, NoduleDrawing

HEIGHTS = np.arange(-10.0, 11.0, 2.5)


def drawing(contours):
    made = [Contour(z, inside, np.array(points)) for z, inside, points in contours]
    return NoduleDrawing(tuple(made))


def nodule(*drawings, pixel=0.5):
    by_reader = {f"reader {i}": (drawing(each),) for i, each in enumerate(drawings, start=1)}
    return Nodule("P-nodule-1", "1.2", by_reader, HEIGHTS, pixel)


@given(st.lists(st.integers(3, 19), min_size=12, max_size=12))
def test_filled_pixels_obey_picks_theorem(radii):
    """Inside = shoelace area - half the points on the outline + 1, for any polygon of pixels."""
    angles = np.arange(12) * np.pi / 6
    directions = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    corners = np.rint(20 + np.array(radii)[:, None] * directions).astype(np.int64)
    following = np.roll(corners, -1, axis=0)
    (y, x), (next_y, next_x) = corners.T, following.T
    area = abs((x * next_y - next_x * y).sum()) / 2
    on_outline = np.gcd(*np.abs(following - corners).T).sum()
    inside = fill_outline(corners, (41, 41))
    assert inside.sum() == area - on_outline / 2 + 1
    assert fill_outline(corners, (41, 41), with_outline=True).sum() == inside.sum() + on_outline


@given(st.integers(2, 12), st.integers(2, 12), st.floats(0, 3))
def test_a_closed_chain_of_pixels_is_filled_as_a_flood_would(a, b, turn):
    rows, columns = ellipse_perimeter(20, 20, a, b, turn, shape=(41, 41))
    order = np.argsort(np.arctan2(rows - 20, columns - 20))
    chain = np.stack([rows, columns], axis=1)[order]
    # In a thin ellipse the order by angle is not the order along the outline.
    assume(np.abs(np.roll(chain, -1, axis=0) - chain).max() == 1)
    outline = np.zeros((41, 41), dtype=bool)
    outline[rows, columns] = True
    flooded = ndimage.binary_fill_holes(outline) & ~outline
    assert (fill_outline(chain, (41, 41)) == flooded).all()


@pytest.mark.parametrize("points", [[(3, 3)], [(3, 3), (3, 6)], [(3, 3), (3, 3), (3, 3)]])
def test_an_outline_without_inside_fills_nothing(points):
    assert not fill_outline(np.array(points), (8, 8)).any()


def test_a_mask_is_the_inside_without_the_outline_and_without_holes(block):
    case = nodule(block(20, 30, 6, [0.0], hole=2))
    mask = fill_mask(case.drawings["reader 1"], crop_of(case, margin_mm=0))
    assert mask.shape == (1, 13, 13)
    assert mask.dtype == np.int16
    expected = np.zeros((13, 13))
    expected[1:12, 1:12] = 1
    expected[4:9, 4:9] = 0
    assert (mask[0] == expected).all()


def test_outlines_on_one_slice_add_up_and_holes_cut_whatever_the_order(square):
    left, right = (0.0, True, square(20, 30, 4)), (0.0, True, square(24, 30, 4))
    hole = (0.0, False, square(22, 30, 1))
    ordered, mixed = nodule([left, right, hole]), nodule([hole, right, left])
    masks = [fill_mask(each.drawings["reader 1"], crop_of(each, 0)) for each in (ordered, mixed)]
    assert (masks[0] == masks[1]).all()
    # 7 x 11 pixels in all: the outline of one square does not cut into the other.
    assert masks[0].sum() == 7 * 11 - 9


def test_a_hole_cuts_only_its_own_drawing(block, square):
    parts = (
        drawing(block(20, 30, 4, [0.0])),
        drawing([(0.0, False, square(20, 30, 2)), (0.0, True, square(20, 30, 3))]),
    )
    case = Nodule("P-nodule-1", "1.2", {"reader 1": parts}, HEIGHTS, 0.5)
    assert fill_mask(parts, crop_of(case, 0)).sum() == 49


def test_all_readers_share_a_box_around_all_outlines(block):
    case = nodule(block(20, 30, 3, [0.0, 2.5]), block(25, 33, 3, [2.5, 5.0]))
    extent = extent_of(case)
    assert (extent.rows, extent.columns, extent.heights) == ((27, 36), (17, 28), (0.0, 5.0))
    crop = crop_of(case, margin_mm=3)
    assert crop.corner == (27 - 6, 17 - 6)
    assert crop.size == (10 + 12, 12 + 12)
    assert crop.heights.tolist() == [-5.0, -2.5, 0.0, 2.5, 5.0, 7.5, 10.0]
    first, second = (fill_mask(each, crop) for each in case.drawings.values())
    assert np.flatnonzero(first.any(axis=(1, 2))).tolist() == [2, 3]
    assert np.flatnonzero(second.any(axis=(1, 2))).tolist() == [3, 4]
    # On the slice of both, the squares of 5 x 5 overlap on no column.
    assert (first * second).sum() == 0


def test_voxels_lie_where_the_outlines_say(block):
    case = nodule(block(20, 30, 2, [-7.5, -5.0]), pixel=0.7)
    crop = crop_of(case, margin_mm=4)
    mask = fill_mask(case.drawings["reader 1"], crop)
    centre = np.argwhere(mask).mean(axis=0)
    world = np.asarray(crop.geometry.origin) + steps_of(crop.geometry) @ centre
    assert np.allclose(world, [20 * 0.7, 30 * 0.7, -6.25])
    assert crop.geometry.spacing == (2.5, 0.7, 0.7)


def test_an_unknown_pixel_spacing_counts_as_one_millimetre(block):
    crop = crop_of(nodule(block(20, 30, 2, [0.0]), pixel=None), margin_mm=3)
    assert crop.geometry.spacing == (2.5, 1.0, 1.0)
    assert crop.corner == (25, 15)


def test_an_outline_between_slices_is_refused(block):
    case = nodule(block(20, 30, 2, [0.0, 5.0]))
    crop = crop_of(nodule(block(20, 30, 2, [0.0])), margin_mm=0)
    with pytest.raises(InputError, match=r"z = 5 mm is 5 mm from the nearest slice"):
        fill_mask(case.drawings["reader 1"], crop)
