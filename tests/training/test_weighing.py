from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multirater.training.pixels import Pixels
from multirater.training.weighing import (
    Foreseen,
    drawn_together,
    foreseen_by_filters,
    out_of_sample,
    predictability,
    standard_error,
    weigh,
)
from multirater.types import MISSING


def soft(drawn, sure=0.98):
    n_classes = int(drawn.max()) + 1
    return sure * np.eye(n_classes)[drawn] + (1 - sure) / n_classes


def nested(n=4000, seed=0):
    """Pixels ordered from the core outwards: a fifth is object, raters draw more or less of it."""
    depth = np.random.default_rng(seed).permutation(n) / n
    truth = (depth < 0.2).astype(int)
    return depth, truth


@given(st.floats(0.01, 0.4), st.floats(0.05, 0.95))
def test_predictability_of_known_noise_has_a_closed_form(flipped, share):
    n = 20_000
    truth = (np.arange(n) < share * n).astype(int)
    period = np.tile(np.arange(1000) < round(1000 * flipped), n // 1000)
    labels = np.where(np.random.default_rng(0).permutation(period), 1 - truth, truth)
    predicted = np.where(truth[:, None] == [0, 1], 1 - flipped, flipped)

    def entropy(p):
        return -(p * np.log(p) + (1 - p) * np.log(1 - p))

    marginal = labels.mean()
    expected = 1 - entropy(flipped) / entropy(marginal)
    found = predictability(Pixels.of_one_case(predicted[None], labels[None]))[0]
    assert found == pytest.approx(np.clip(expected, 0, 1), abs=0.02)


def test_raters_without_labels_or_with_one_class_are_not_predictable():
    predicted = soft(np.tile([[0, 1], [0, 0]], 500))
    labels = np.tile([[MISSING], [0]], 1000)
    assert predictability(Pixels.of_one_case(predicted, labels)).tolist() == [0, 0]


def test_of_nested_raters_the_middle_one_is_followed():
    depth, truth = nested()
    drawn = np.stack([truth, depth < 0.4, depth < 0.1, np.zeros_like(truth)]).astype(int)
    weight = weigh(Pixels.of_one_case(soft(drawn), drawn)).weight
    assert weight.argmax() == 0
    assert weight[3] < 1e-6


def test_spammers_get_no_weight_though_they_are_the_majority():
    random = np.random.default_rng(1)
    _, truth = nested()
    blank = np.zeros_like(truth)
    drawn = np.stack([truth, truth, blank, blank, blank])
    predicted = soft(drawn)
    predicted[2:] = [0.8, 0.2]
    labels = np.stack([truth, truth, *(random.permutation(truth) for _ in range(3))])
    found = weigh(Pixels.of_one_case(predicted, labels))
    assert found.weight[:2].sum() == pytest.approx(1)
    assert found.predictable[0] > 0.9
    assert found.predictable[2:].max() < 0.05


def test_confusion_is_counted_against_the_weighted_truth():
    _, truth = nested()
    noisy = truth.copy()
    noisy[np.flatnonzero(truth)[::4]] = 0
    found = weigh(
        Pixels.of_one_case(soft(np.stack([truth, truth, truth])), np.stack([truth, truth, noisy]))
    )
    assert found.confusion[2] == pytest.approx(np.array([[1, 0], [0.25, 0.75]]), abs=0.01)


def test_raters_who_never_disagree_share_the_weight():
    _, truth = nested()
    found = weigh(Pixels.of_one_case(soft(np.stack([truth, truth])), np.stack([truth, truth])))
    assert found.weight.tolist() == pytest.approx([0.5, 0.5])


def test_nobody_is_weighed_when_nobody_gave_labels():
    drawn = soft(np.array([[0, 1], [1, 0]]))
    found = weigh(Pixels.of_one_case(drawn, np.full((2, 2), MISSING)))
    assert found.weight.sum() == pytest.approx(1)
    assert np.isfinite(found.confusion).all()


def test_locality_tells_errors_of_the_place_from_errors_at_random():
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 4000)
    at_random = np.where(random.random(4000) < 0.2, 1 - truth, truth)
    place = random.random(4000) < 0.2
    by_place = np.where(place, 1 - truth, truth)
    labels = np.stack([truth, truth, at_random, by_place])
    certain = 0.98 * np.eye(2) + 0.01
    predicted = np.stack(
        [certain[truth], certain[truth], 0.6 * certain[truth] + 0.2, certain[by_place]]
    )
    found = weigh(Pixels.of_one_case(predicted, labels)).locality
    assert found[3] > 0.95
    assert found[2] < 0.2


def cases(predicted, labels, n_cases):
    """Pixels dealt out to cases."""
    found = Pixels.of_one_case(predicted, labels)
    number = np.arange(labels.shape[1]) * n_cases // labels.shape[1]
    shown = labels[:1].T.astype(np.float32)
    return replace(found, case=number, features=shown)


def test_who_is_only_predictable_on_cases_that_were_learned_is_not_followed():
    random = np.random.default_rng(2)
    _, truth = nested()
    learned = np.stack([truth, truth, random.permutation(truth)])
    by_heart = cases(soft(learned), learned, 10)
    guess = soft(np.stack([truth, truth, np.zeros_like(truth)]))
    guess[2] = [0.8, 0.2]
    unseen = cases(guess, np.stack([truth, truth, random.permutation(truth)]), 10)
    assert out_of_sample(by_heart, None)[2] > 0.9
    assert out_of_sample(by_heart, unseen)[2] < 0.1
    assert weigh(by_heart, unseen).weight[2] < 0.01


def test_a_rater_without_held_out_cases_is_judged_by_training_cases_less_what_others_lose():
    _, truth = nested()
    drawn = np.stack([truth, truth])
    training = cases(soft(drawn), drawn, 10)
    blurred = cases(soft(drawn, sure=0.7), np.stack([truth, np.full_like(truth, MISSING)]), 10)
    first, second = out_of_sample(training, blurred)
    assert first < 0.8
    assert second == pytest.approx(first, abs=0.01)


def test_agreement_leaves_the_judged_rater_out():
    """Alone against two who agree, nobody wins by agreeing with their own weight."""
    depth, truth = nested()
    drawn = np.stack([truth, truth, depth < 0.4]).astype(int)
    even = soft(drawn)
    weight = weigh(Pixels.of_one_case(even, drawn)).weight
    assert weight[:2].sum() > 0.99


def test_large_drawings_are_not_preferred_to_exact_ones_that_leave_less_unexplained():
    """The larger drawing is foreseen to a larger share, and yet with more nats of surprise."""
    depth, truth = nested(20_000)
    large = (depth < 0.4).astype(int)

    def blurred(edge, width):
        return 1 / (1 + np.exp((depth - edge) / width))

    def as_pixels(object_):
        return np.stack([1 - object_, object_], 1)

    predicted = np.stack([as_pixels(blurred(0.2, 0.014)), as_pixels(blurred(0.4, 0.02))])
    labels = np.stack([truth, large])
    pixels = Pixels.of_one_case(predicted, labels)
    exact, over = predictability(pixels)
    assert over == pytest.approx(exact, abs=0.02)
    assert weigh(pixels).weight.argmax() == 0


def one_label_each(n_raters, foreseen, error):
    """Raters of whom heads know nothing and fixed filters something."""
    random = np.random.default_rng(3)
    labels = np.full((n_raters, 100 * n_raters), MISSING)
    for rater in range(n_raters):
        own = slice(100 * rater, 100 * rater + 100)
        labels[rater, own] = random.integers(0, 2, 100)
    heads = np.full((*labels.shape, 2), 0.5)
    filters = Foreseen(np.asarray(foreseen), np.full(n_raters, error))
    return weigh(Pixels.of_one_case(heads, labels), None, filters).weight


def test_raters_who_cannot_be_told_apart_share_the_weight_whoever_is_ahead():
    unsure = one_label_each(2, [0.75, 0.65], 0.3)
    sure = one_label_each(2, [0.75, 0.65], 0.001)
    assert unsure[0] < 0.62
    assert sure[0] > 0.75


def test_of_raters_nearly_alike_nobody_is_ahead_and_an_outlier_stays_one():
    alike = np.array([0.70, 0.74, 0.69, 0.73, 0.71, 0.75])
    even = one_label_each(6, alike, 0.05)
    assert even.max() < 1.1 * even.min()
    apart = one_label_each(6, [*alike[:5], 0.1], 0.05)
    assert apart[5] < 0.05 * apart[:5].min()


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8), st.floats(0.01, 3))
def test_raters_are_moved_towards_their_mean_and_never_past_one_another(means, spread):
    noise = np.random.default_rng(0).standard_normal((50, len(means)))
    noise = spread * (noise - noise.mean(0)) / noise.std(0)
    moved = drawn_together(np.array(means) + noise)
    found = moved.mean(0)
    assert found.min() >= min(means) - 1e-9
    assert found.max() <= max(means) + 1e-9
    assert (np.diff(found[np.argsort(means, kind="stable")]) >= -1e-9).all()
    assert (moved.std(0) <= spread + 1e-9).all()


def test_a_rater_who_draws_nothing_does_not_blur_what_is_known_of_the_others():
    random = np.random.default_rng(1)
    labels = np.where(np.arange(2400) // 800 == np.arange(3)[:, None], 0, MISSING)
    labels[labels == 0] = random.integers(0, 2, 2400)
    heads = soft(np.maximum(labels, 0), 0.8)
    heads[:, ::200] = 0.5
    without = standard_error([cases(heads, labels, 24)], np.full(3, 0.7), np.full(3, 8))
    labels[2, 1600:], heads[2, 1600:], heads[2, 1600:1700] = 0, [0.99, 0.01], [0.9, 0.1]
    found = standard_error([cases(heads, labels, 24)], np.array([0.7, 0.7, 5e-4]), np.full(3, 8))
    assert found[0] < 1.5 * without[0]


def test_fixed_filters_are_believed_where_the_network_foresees_nobody():
    assert one_label_each(3, [0.2, 0.9, 0.2], 0.01).argmax() == 1


def test_the_network_is_believed_where_it_foresees_more_than_fixed_filters():
    _, truth = nested()
    labels = np.stack([truth, np.random.default_rng(0).permutation(truth)])
    heads = soft(np.stack([truth, np.zeros_like(truth)]))
    heads[1] = [0.8, 0.2]
    poor = Foreseen(np.array([0.02, 0.1]), np.full(2, 0.01))
    assert weigh(Pixels.of_one_case(heads, labels), None, poor).weight.argmax() == 0


def test_filters_foresee_raters_who_follow_the_image_and_nobody_else():
    random = np.random.default_rng(0)
    shown = random.random((4000, 1)).astype(np.float32)
    exact = (shown[:, 0] > 0.7).astype(int)
    labels = np.stack([exact, random.permutation(exact), np.full_like(exact, MISSING)])
    pixels = cases(np.full((3, 4000, 2), 0.5), labels, 8)
    found = foreseen_by_filters(replace(pixels, filters=shown))
    assert found.share[0] > 0.95
    assert found.share[1] < 0.05
    assert found.share[1] < found.share[2] < found.share[0]
    assert found.error[2] > found.error[0]
    assert foreseen_by_filters(pixels) is None
