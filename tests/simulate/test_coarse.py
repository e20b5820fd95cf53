import numpy as np
import pytest
from scipy import ndimage

from multirater.errors import InputError
from multirater.samples import load_digits
from multirater.simulate import COARSE_RATIOS, draw_coarse, simulate_coarse

DIGITS = load_digits("train").masks[:25]
every_polarity = pytest.mark.parametrize("polarity", ["positive", "negative"])


def disc(radius=30, size=101):
    y, x = np.ogrid[:size, :size]
    return ((y - size // 2) ** 2 + (x - size // 2) ** 2 <= radius**2).astype(np.int16)


def three_classes():
    truth = disc()
    truth[40:60, 60:95] = 2
    truth[:5] = -1
    return truth


@every_polarity
@pytest.mark.parametrize("ratio", COARSE_RATIOS)
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_the_area_is_the_ratio_asked_for(polarity, ratio, noise):
    for i, truth in enumerate(DIGITS):
        label, _ = simulate_coarse(truth, polarity, ratio=ratio, noise=noise, seed=i)
        ground = np.sum(truth == (1 if polarity == "positive" else 0))
        assert np.sum(label == 1) == max(round(ratio * ground), 1)


@every_polarity
@pytest.mark.parametrize("ratio", COARSE_RATIOS)
def test_without_noise_nothing_false_is_drawn(polarity, ratio):
    truth = three_classes()
    label, _ = simulate_coarse(truth, polarity, ratio=ratio, noise=0.0, seed=0)
    drawn = label != -1
    assert set(label[drawn]) == {1, 2}
    assert (label[truth == -1] == -1).all()
    right = label == truth if polarity == "positive" else label != truth
    assert right[drawn].all()


@every_polarity
def test_all_is_drawn_at_ratio_one_without_noise(polarity):
    truth = disc()
    label, _ = simulate_coarse(truth, polarity, ratio=1.0, noise=0.0, seed=0)
    np.testing.assert_array_equal(label == 1, truth == (polarity == "positive"))


@pytest.mark.parametrize("ratio", [1.0, 0.8, 0.5, 0.3])
def test_noise_crosses_the_outline_as_far_as_drawn(ratio):
    for i, truth in enumerate(DIGITS):
        label, drawing = simulate_coarse(truth, "positive", ratio=ratio, seed=i)
        spill = drawing.strokes[0].spill
        assert 0.05 <= spill <= 0.15
        false = np.sum((label == 1) & (truth == 0))
        assert false == round(spill * round(ratio * truth.sum()))


def test_negative_noise_wipes_out_no_more_than_its_share_of_the_object():
    for i, truth in enumerate(DIGITS):
        label, drawing = simulate_coarse(truth, "negative", ratio=0.8, seed=i)
        false = np.sum((label == 1) & (truth == 1))
        assert false == round(drawing.strokes[0].spill * drawing.ratio * truth.sum())


def test_what_crosses_the_outline_lies_beside_the_drawing():
    truth = disc()
    for seed in range(10):
        label, _ = simulate_coarse(truth, "positive", ratio=0.5, seed=seed)
        drawn = ndimage.binary_dilation((label == 1) & (truth == 1), iterations=12)
        assert drawn[(label == 1) & (truth == 0)].all()


def test_fractures_leave_gaps():
    truth = disc()
    gaps = 0
    for seed in range(10):
        whole, _ = simulate_coarse(truth, "positive", ratio=0.8, noise=0.0, seed=seed)
        noisy, _ = simulate_coarse(truth, "positive", ratio=0.8, noise=1.0, seed=seed)
        gaps += ndimage.label(noisy == 1)[1] > ndimage.label(whole == 1)[1]
    assert gaps >= 8


@pytest.mark.parametrize("ratio", [0.5, 0.3])
def test_a_partial_drawing_is_one_patch_about_its_centre(ratio):
    for seed in range(5):
        label, drawing = simulate_coarse(disc(), "positive", ratio=ratio, noise=0.0, seed=seed)
        assert ndimage.label(label == 1)[1] == 1
        places = np.argwhere(disc() == 1)
        centre = places[int(drawing.strokes[0].centre * len(places))]
        assert label[tuple(centre)] == 1


def test_centres_are_spread_over_the_object():
    places = np.argwhere(disc() == 1)
    centres = [draw_coarse("positive", ratio=0.3, seed=s).strokes[0].centre for s in range(200)]
    found = places[(np.array(centres) * len(places)).astype(int)]
    np.testing.assert_allclose(found.mean(axis=0), 50, atol=4)


@every_polarity
def test_a_scribble_is_a_thin_connected_curve(polarity):
    truth = disc()
    for seed in range(5):
        label, _ = simulate_coarse(truth, polarity, ratio=0.01, noise=0.0, seed=seed)
        scribble = label == 1
        assert ndimage.label(scribble, np.ones((3, 3)))[1] == 1
        assert not ndimage.binary_erosion(scribble, iterations=2).any()
        assert np.ptp(np.argwhere(scribble), axis=0).max() > 10


def test_three_dimensions_with_thick_slices():
    z, y, x = np.ogrid[-5:6, -20:21, -20:21]
    truth = ((4 * z) ** 2 + y**2 + x**2 <= 15**2).astype(int)
    for ratio in COARSE_RATIOS:
        label, _ = simulate_coarse(
            truth, "positive", ratio=ratio, noise=0.0, spacing=(4, 1, 1), seed=0
        )
        assert np.sum(label == 1) == round(ratio * truth.sum())
        assert (truth[label == 1] == 1).all()


def test_a_patch_is_round_in_millimetres():
    truth = np.ones((41, 161), dtype=int)
    label, _ = simulate_coarse(
        truth, "positive", ratio=0.1, noise=0.0, targets=[1], spacing=(4.0, 1.0), seed=3
    )
    rows, columns = np.ptp(np.argwhere(label == 1), axis=0) + 1
    assert 0.5 < (4 * rows) / columns < 2


def test_a_negative_drawing_names_the_nearest_class_that_is_not_the_pixels_own():
    truth = np.zeros((5, 40), dtype=int)
    truth[:, 5:10], truth[:, 30:35] = 1, 2
    label, _ = simulate_coarse(truth, "negative", ratio=1.0, noise=0.0, seed=0)
    row = label[2]
    assert set(row[:5]) == {1}
    assert set(row[35:]) == {2}
    assert set(row[5:10]) == {2}
    assert set(row[30:35]) == {1}
    assert row[12] == 1
    assert row[27] == 2


def test_the_background_may_be_a_target():
    truth = disc()
    label, _ = simulate_coarse(truth, "positive", ratio=1.0, noise=0.0, targets=[0, 1], seed=0)
    np.testing.assert_array_equal(label, truth)


def test_an_absent_class_is_not_drawn_and_can_be_denied_everywhere():
    truth = np.zeros((6, 6), dtype=int)
    assert (simulate_coarse(truth, "positive", ratio=0.5, seed=0)[0] == -1).all()
    denied, _ = simulate_coarse(truth, "negative", ratio=1.0, noise=0.0, seed=0)
    assert (denied == 1).all()


def test_ratio_zero_draws_nothing():
    assert (simulate_coarse(disc(), "negative", ratio=0.0, seed=0)[0] == -1).all()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"polarity": "neutral", "ratio": 0.5}, "neutral"),
        ({"polarity": "positive", "ratio": 1.5}, "ratio"),
        ({"polarity": "positive", "ratio": 0.5, "noise": -1.0}, "noise"),
        ({"polarity": "positive", "ratio": 0.5, "targets": [-1]}, "target"),
    ],
)
def test_impossible_wishes_are_named(options, named):
    with pytest.raises(InputError, match=named):
        draw_coarse(**options, seed=0)
