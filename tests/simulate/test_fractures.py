import numpy as np
import pytest
from scipy import ndimage

from multirater.simulate.fractures import Cut, cut_shape, draw_cuts
from multirater.simulate.shape import depth, half_thickness

ONE = np.ones(2)


def bar(ndim=2, half=4, length=80):
    shape = np.zeros((length + 20, *(2 * half + 11,) * (ndim - 1)), dtype=bool)
    shape[(slice(10, 10 + length), *(slice(5, 6 + 2 * half),) * (ndim - 1))] = True
    return shape


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_a_cut_runs_across_a_stroke_and_parts_it(ndim, seed):
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(3)
    cut = Cut(0.5, 1.0, tuple(direction / np.linalg.norm(direction)))
    shape = bar(ndim)
    fractured = cut_shape(shape, (cut,), np.ones(ndim))
    assert ndimage.label(fractured)[1] == 2
    unit = half_thickness(depth(shape, np.ones(ndim)))
    cross_section = np.count_nonzero(shape[50])
    # Tilted by at most 0.4 against about 0.9, a gap is at most 1.1 times as long.
    removed = np.count_nonzero(shape & ~fractured)
    assert removed == pytest.approx(cut.width * unit * cross_section, rel=0.35)


def test_a_cut_stays_local():
    two = np.concatenate([bar(), bar()], axis=1)
    fractured = cut_shape(two, (Cut(0.3, 1.0, (1.0, 0.0, 0.0)),), ONE)
    touched = [np.any(fractured[:, part] != two[:, part]) for part in (slice(19), slice(19, None))]
    assert sorted(touched) == [False, True]


def test_round_shapes_are_cut_perpendicular_to_the_drawn_direction():
    y, x = np.ogrid[-20:21, -20:21]
    disc = y**2 + x**2 <= 15**2
    gone = np.argwhere(disc & ~cut_shape(disc, (Cut(0.5, 0.3, (1.0, 0.0, 0.0)),), ONE))
    assert np.ptp(gone[:, 0]) < 5
    assert np.ptp(gone[:, 1]) == 30


def test_gaps_are_as_wide_in_millimetres_along_every_axis():
    axes = np.ogrid[-10:11, -40:41]
    disc = (axes[0] * 4.0) ** 2 + axes[1] ** 2 <= 30**2
    spacing = np.array([4.0, 1.0])
    unit = half_thickness(depth(disc, spacing))
    for axis, direction in enumerate([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]):
        gone = disc & ~cut_shape(disc, (Cut(0.5, 0.5, direction),), spacing)
        width = np.count_nonzero(gone) * spacing.prod() / 60
        assert width == pytest.approx(0.5 * unit, rel=0.2)
        extents = np.ptp(np.argwhere(gone), axis=0) * spacing
        assert extents[axis] < extents[1 - axis] / 2


def test_a_cut_that_would_leave_nothing_is_skipped():
    point = np.zeros((5, 5), dtype=bool)
    point[2, 2] = True
    cuts = draw_cuts(np.random.default_rng(0), width=3.0)
    np.testing.assert_array_equal(cut_shape(point, cuts, ONE), point)
    empty = np.zeros((5, 5), dtype=bool)
    assert not cut_shape(empty, cuts, ONE).any()


def test_drawn_cuts_have_the_width_asked_for():
    for seed in range(20):
        cuts = draw_cuts(np.random.default_rng(seed), width=0.6)
        assert 2 <= len(cuts) <= 4
        assert all(0.42 <= cut.width <= 0.78 and 0 <= cut.position < 1 for cut in cuts)
        assert all(np.linalg.norm(cut.direction) == pytest.approx(1) for cut in cuts)
    assert draw_cuts(np.random.default_rng(0), width=0.0) == ()


def test_the_width_does_not_shift_what_is_drawn_next():
    first, second = np.random.default_rng(0), np.random.default_rng(0)
    draw_cuts(first, width=0.0)
    draw_cuts(second, width=2.0)
    assert first.random() == second.random()
