import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from multirater.errors import InputError
from multirater.samples import load_digits
from multirater.simulate import (
    MASK_KINDS,
    MaskError,
    apply_mask_error,
    draw_mask_error,
    simulate_mask,
)
from multirater.simulate.shape import centre_line

DIGITS = load_digits("train").masks[:60]


def ball(radius, spacing, room=2.2):
    sizes = [int(np.ceil(room * radius / step)) for step in spacing]
    axes = np.ogrid[tuple(slice(-size, size + 1) for size in sizes)]
    steps = zip(axes, spacing, strict=True)
    return (sum((axis * step) ** 2 for axis, step in steps) <= radius**2).astype(np.int16)


def dice(first, second):
    return 2 * np.sum(first & second) / (np.sum(first) + np.sum(second))


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([(1.0, 1.0), (2.0, 0.7), (1.0, 1.0, 1.0), (3.0, 1.0, 1.0)]),
    st.floats(3.0, 8.0),
    st.floats(0.0, 3.0),
    st.integers(0, 1000),
)
def test_area_and_dice_follow_the_drawn_amount_in_closed_form(spacing, radius, strength, seed):
    truth = ball(radius, spacing)
    area = truth.sum()
    for kind in ("over", "under", "good"):
        label, error = simulate_mask(truth, kind, strength=strength, spacing=spacing, seed=seed)
        gained, lost = round(error.growth * area), min(round(error.loss * area), area - 1)
        assert label.sum() == area + gained - lost
        expected = 2 * (area - lost) / (2 * area + gained - lost)
        assert dice(label == 1, truth == 1) == pytest.approx(expected)


@pytest.mark.parametrize("strength", [0.5, 1.0, 2.0])
def test_mean_dice_of_over_and_under_is_two_over_two_plus_strength(strength):
    for kind in ("over", "under"):
        scores = [
            dice(simulate_mask(truth, kind, strength=strength, seed=i)[0] == 1, truth == 1)
            for i, truth in enumerate(DIGITS)
        ]
        assert np.mean(scores) == pytest.approx(2 / (2 + strength), abs=0.02)


def test_a_smooth_thickening_is_a_level_set_of_another_librarys_distance():
    spacing = (3.0, 1.0, 0.5)
    truth = ball(6.0, spacing)
    error = MaskError("over", target=1, strength=1.0, growth=1.0, roughness=0.0)
    label = apply_mask_error(truth, error, spacing)
    image = sitk.GetImageFromArray(truth.astype(np.uint8))
    image.SetSpacing(spacing[::-1])
    distances = sitk.GetArrayFromImage(
        sitk.SignedMaurerDistanceMap(image, squaredDistance=False, useImageSpacing=True)
    )
    assert distances[label == 1].max() <= distances[label == 0].min() + 1e-3


def test_thickening_is_equally_thick_in_millimetres():
    spacing = (2.0, 1.0, 1.0)
    truth = ball(12.0, spacing)
    error = MaskError("over", target=1, strength=1.0, growth=1.0, roughness=0.1)
    label = apply_mask_error(truth, error, spacing)
    extents = [np.ptp(np.nonzero(label == 1)[axis]) * step / 2 for axis, step in enumerate(spacing)]
    # Twice the volume: the radius grows by the cube root of 2.
    np.testing.assert_allclose(extents, 12 * 2 ** (1 / 3), atol=2.1)


def test_over_contains_the_truth_and_under_lies_in_it():
    for i, truth in enumerate(DIGITS):
        over, _ = simulate_mask(truth, "over", seed=i)
        under, _ = simulate_mask(truth, "under", seed=i)
        assert (over >= truth).all()
        assert (under <= truth).all()


def test_thinning_keeps_the_centre_line_while_there_is_room():
    for i, truth in enumerate(DIGITS):
        label, _ = simulate_mask(truth, "under", strength=0.5, seed=i)
        line, kept = centre_line(truth == 1), label == 1
        smaller, larger = (line, kept) if line.sum() <= kept.sum() else (kept, line)
        assert (smaller <= larger).all()


@pytest.mark.parametrize("strength", [1.0, 10.0, 1e6])
def test_thinning_never_erases(strength):
    for i, truth in enumerate(DIGITS[:20]):
        assert simulate_mask(truth, "under", strength=strength, seed=i)[0].any()


def test_wrong_is_fractured_and_larger_than_the_truth():
    neighbours = np.ones((3, 3))
    more_parts, larger = 0, 0
    for i, truth in enumerate(DIGITS):
        label, error = simulate_mask(truth, "wrong", seed=i)
        assert 2 <= len(error.cuts) <= 4
        more_parts += ndimage.label(label, neighbours)[1] > ndimage.label(truth, neighbours)[1]
        larger += label.sum() > truth.sum()
    assert more_parts > 0.6 * len(DIGITS)
    assert larger > 0.9 * len(DIGITS)


def test_good_is_nearly_the_truth_and_exact_at_strength_zero():
    scores = []
    for i, truth in enumerate(DIGITS):
        np.testing.assert_array_equal(simulate_mask(truth, "good", strength=0.0, seed=i)[0], truth)
        scores.append(dice(simulate_mask(truth, "good", seed=i)[0] == 1, truth == 1))
    assert np.mean(scores) == pytest.approx(0.98, abs=0.005)
    assert min(scores) > 0.95


@pytest.mark.parametrize("kind", ["good", "over", "under", "wrong"])
def test_strength_zero_changes_nothing(kind):
    for i, truth in enumerate(DIGITS[:10]):
        np.testing.assert_array_equal(simulate_mask(truth, kind, strength=0.0, seed=i)[0], truth)


def test_blank_is_background_wherever_the_truth_is_labelled():
    truth = np.array([[0, 1, 2], [-1, 2, 1]])
    label, _ = simulate_mask(truth, "blank", strength=0.0, seed=0)
    assert label.tolist() == [[0, 0, 0], [-1, 0, 0]]


def nested():
    """Class 2 inside class 1 inside background, with a strip that is not labelled."""
    truth = np.zeros((60, 60), dtype=np.int16)
    y, x = np.ogrid[-30:30, -30:30]
    truth[y**2 + x**2 <= 20**2] = 1
    truth[y**2 + x**2 <= 8**2] = 2
    truth[:, 33:35] = -1
    return truth


@pytest.mark.parametrize("kind", ["good", "over", "under", "wrong"])
@pytest.mark.parametrize("target", [1, 2])
def test_only_the_target_class_gains_or_loses(kind, target):
    truth = nested()
    label, error = simulate_mask(truth, kind, target=target, seed=5)
    changed = label != truth
    assert error.target == target
    assert changed.any()
    assert ((truth == target) | (label == target))[changed].all()
    np.testing.assert_array_equal(label == -1, truth == -1)


def test_lost_pixels_go_to_the_nearest_other_class():
    truth = nested()
    core, _ = simulate_mask(truth, "under", target=2, seed=0)
    assert set(core[(truth == 2) & (core != 2)]) == {1}
    shell, _ = simulate_mask(truth, "under", target=1, strength=2.0, seed=0)
    lost = (truth == 1) & (shell != 1)
    y, x = np.ogrid[-30:30, -30:30]
    radius = np.sqrt(y**2 + x**2) + np.zeros(truth.shape)
    assert set(shell[lost & (radius < 12)]) == {2}
    assert set(shell[lost & (radius > 16)]) == {0}


def test_the_target_is_drawn_among_the_classes_that_occur():
    truth = np.zeros((6, 6), dtype=int)
    truth[1, 1], truth[4, 4] = 3, 7
    drawn = {simulate_mask(truth, "over", seed=seed)[1].target for seed in range(30)}
    assert drawn == {3, 7}


def test_without_a_mask_the_target_is_drawn_among_all_foreground_classes():
    drawn = {draw_mask_error("over", n_classes=4, seed=seed).target for seed in range(60)}
    assert drawn == {1, 2, 3}


def test_kinds_do_not_share_their_random_numbers():
    errors = [draw_mask_error(kind, seed=0) for kind in MASK_KINDS]
    assert len({error.outline_seed for error in errors}) == len(MASK_KINDS)


def test_strength_scales_the_error_and_leaves_the_other_draws():
    weak, strong = (draw_mask_error("wrong", strength=s, seed=4) for s in (1.0, 2.0))
    assert strong.growth == pytest.approx(2 * weak.growth)
    assert (strong.outline_seed, strong.roughness) == (weak.outline_seed, weak.roughness)
    assert [cut.position for cut in strong.cuts] == [cut.position for cut in weak.cuts]


@pytest.mark.parametrize("kind", MASK_KINDS)
@pytest.mark.parametrize("strength", [0.5, 1.0, 50.0])
def test_degenerate_objects(kind, strength):
    empty = np.zeros((8, 8), dtype=int)
    whole, point, border = np.ones_like(empty), empty.copy(), empty.copy()
    point[3, 3], border[:, :2] = 1, 1
    for truth in (empty, whole, point, border, np.full_like(empty, -1), np.ones((1, 1), int)):
        label, _ = simulate_mask(truth, kind, strength=strength, seed=0)
        if kind != "blank" and (truth == 1).any():
            assert (label == 1).any()
        if not (truth == 1).any():
            np.testing.assert_array_equal(label, truth)


def test_an_object_at_the_border_is_thinned_from_its_open_side():
    truth = np.zeros((20, 20), dtype=int)
    truth[:, :8] = 1
    error = MaskError("over", target=1, strength=1.0, growth=0.5)
    assert (apply_mask_error(truth, error)[:, :12] == 1).all()


def test_an_object_that_fills_the_image_is_thinned_from_the_border():
    error = MaskError("under", target=1, strength=1.0, loss=0.5)
    label = apply_mask_error(np.ones((12, 12), dtype=int), error)
    assert label[6, 6] == 1
    assert not label[[0, -1]].any()
    assert label.sum() == 72


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kind": "sloppy"}, "sloppy"),
        ({"kind": "over", "strength": -1.0}, "strength"),
        ({"kind": "over", "strength": float("nan")}, "strength"),
        ({"kind": "over", "target": 0}, "target"),
        ({"kind": "over", "target": 5, "n_classes": 3}, "target"),
    ],
)
def test_impossible_wishes_are_named(options, named):
    with pytest.raises(InputError, match=named):
        draw_mask_error(**options, seed=0)


@pytest.mark.parametrize("kind", ["over", "under", "wrong"])
def test_the_greatest_strength_is_drawn_and_beyond_it_none(kind):
    truth = np.zeros((20, 20), dtype=np.int16)
    truth[8:12, 8:12] = 1
    assert simulate_mask(truth, kind, strength=1e6, seed=0)[0].shape == truth.shape
    with pytest.raises(InputError, match="strength"):
        simulate_mask(truth, kind, strength=1e308, seed=0)
