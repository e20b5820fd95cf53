import numpy as np
import pytest

from multirater.errors import InputError
from multirater.samples import load_digits
from multirater.simulate import MASK_KINDS, mean_rater_dice, strength_for_dice

DIGITS = load_digits("train").masks[:40]


@pytest.mark.parametrize("kind", ["good", "over", "under", "wrong"])
def test_mean_dice_falls_with_strength(kind):
    strengths = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0]
    scores = [mean_rater_dice(DIGITS, [kind], strength=s, seed=0) for s in strengths]
    assert scores[0] == 1.0
    assert (np.diff(scores) < 0).all()


@pytest.mark.parametrize(("kinds", "target"), [(MASK_KINDS, 0.7), (["over", "wrong"], 0.4)])
def test_the_strength_found_gives_the_dice_wanted(kinds, target):
    strength = strength_for_dice(DIGITS[:20], kinds, target, seed=1)
    assert mean_rater_dice(DIGITS[:20], kinds, strength=strength, seed=1) == pytest.approx(
        target, abs=2e-3
    )


def test_strength_of_over_segmentation_has_its_closed_form():
    y, x = np.ogrid[-40:41, -40:41]
    disc = (y**2 + x**2 <= 12**2).astype(int)
    strength = strength_for_dice([disc] * 60, ["over"], 0.5, seed=0)
    # Drawn evenly from 0.7 to 1.3 times the strength, 60 amounts have a mean within 7 %.
    assert strength == pytest.approx(2.0, rel=0.08)


def test_strength_in_three_dimensions_with_thick_slices():
    z, y, x = np.ogrid[-4:5, -12:13, -12:13]
    ball = ((3 * z) ** 2 + y**2 + x**2 <= 6**2).astype(int)
    strength = strength_for_dice([ball] * 10, ["under"], 0.8, spacing=(3, 1, 1), seed=0)
    assert strength == pytest.approx(0.5, rel=0.2)


def test_a_perfect_dice_needs_no_strength():
    assert strength_for_dice(DIGITS[:5], ["over"], 1.0, seed=0) < 0.05


def test_a_dice_out_of_reach_is_named_with_the_limit():
    with pytest.raises(InputError, match=r"at most 0\.800"):
        strength_for_dice(DIGITS[:5], MASK_KINDS, 0.9, seed=0)
    with pytest.raises(InputError, match="at least"):
        strength_for_dice(DIGITS[:5], ["good", "over"], 0.01, seed=0)


def test_masks_without_foreground_do_not_count():
    empty = np.zeros((28, 28), dtype=int)
    assert mean_rater_dice([empty, DIGITS[0]], ["over"], strength=0.0, seed=0) == 1.0
    with pytest.raises(InputError, match="foreground"):
        mean_rater_dice([empty], ["over"], seed=0)
