"""What the labels themselves say against a fusion."""

import warnings

import numpy as np
import pytest

from multirater import fuse
from multirater.errors import MultiraterWarning
from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset


def _dice(found, truth):
    first = np.concatenate([each.ravel() == 1 for each in found])
    second = np.concatenate([each.ravel() == 1 for each in truth])
    return 2 * (first & second).sum() / (first.sum() + second.sum())


def _noisy(seed, skills, n_items=2000, n_classes=2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    wrong = (truth + rng.integers(1, n_classes, (len(skills), n_items))) % n_classes
    right = rng.random(wrong.shape) < np.array(skills)[:, None]
    return truth, np.where(right, truth, wrong)


def _quietly(fuser, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error", MultiraterWarning)
        return fuser(*args, **options)


@pytest.fixture(scope="module")
def nested():
    """Forty digits by a good, an over-, an under-segmenting, a wrong and a blank rater."""
    data = simulate_dataset(digits_dataset(n_train=40, n_test=0), seed=3)
    labels = [case.read_labels(data.raters).array for case in data]
    return data.raters, labels, [case.read_truth().array for case in data]


def test_staple_warns_when_it_follows_nested_errors(nested):
    raters, labels, truth = nested
    with pytest.warns(MultiraterWarning, match="follows rater over.*compare with majority vote"):
        result = fuse.staple(labels, pooled=True, raters=raters)
    assert result.identifiability.follows == "over"
    vote = fuse.majority_vote(labels, pooled=True, raters=raters)
    assert _dice(result.label, truth) < _dice(vote.label, truth) - 0.1


def test_voting_does_not_follow_nested_errors(nested):
    raters, labels, _ = nested
    for fuser in (fuse.majority_vote, fuse.mean):
        result = _quietly(fuser, labels, pooled=True, raters=raters)
        assert result.identifiability.follows is None
        assert result.identifiability.messages() == []


def test_disputed_pixels_alone_do_not_mislead_staple(nested):
    raters, labels, truth = nested
    result = _quietly(fuse.staple, labels, pooled=True, raters=raters, disputed_only=True)
    assert result.identifiability.follows is None
    assert _dice(result.label, truth) > 0.95


def test_a_truth_that_is_one_raters_own():
    """Larger and larger discs: STAPLE takes one of them for the truth, to the pixel."""
    rows, columns = np.indices((80, 80))
    distance = np.hypot(rows - 40, columns - 40)
    labels = np.stack([distance < radius for radius in (8, 14, 20, 30)]).astype(int)
    with pytest.warns(MultiraterWarning, match="follows rater 2"):
        result = fuse.staple(labels)
    assert np.array_equal(result.label, labels[2])


def test_one_biased_rater_among_independent_ones_is_no_alarm():
    rng = np.random.default_rng(0)
    truth = rng.random(5000) < 0.3
    rates = [(0.995, 0.85), (0.9, 0.9), (0.8, 0.95), (0.85, 0.9)]
    labels = np.stack(
        [
            np.where(truth, rng.random(5000) < sensitivity, rng.random(5000) > specificity)
            for sensitivity, specificity in rates
        ]
    )
    result = _quietly(fuse.staple, labels)
    assert result.cm[0, 1, 1] > 0.99
    assert result.identifiability.follows is None


@pytest.mark.parametrize("fuser", [fuse.staple, fuse.dawid_skene, fuse.one_coin, fuse.mace])
def test_nothing_speaks_against_independent_good_raters(fuser):
    truth, labels = _noisy(1, [0.9, 0.85, 0.8, 0.75], n_classes=3)
    result = _quietly(fuser, labels)
    report = result.identifiability
    assert report.is_dominant
    assert report.messages() == []
    assert (result.label == truth).mean() > 0.9


def test_an_adversarial_majority_is_not_dominant():
    truth, labels = _noisy(2, [0.9, 0.1, 0.15, 0.2], n_items=400)
    gold = np.where(np.arange(400) < 100, truth, -1)
    with pytest.warns(MultiraterWarning, match="not right more often than wrong"):
        result = fuse.dawid_skene(labels, gold=gold)
    assert not result.identifiability.is_dominant
    assert (result.identifiability.dominance < 0).all()


def test_dominance_is_the_margin_of_the_mean_matrix():
    truth, labels = _noisy(3, [0.9, 0.7], n_items=3000, n_classes=3)
    report = fuse.staple(labels, gold=truth).identifiability
    # Right 0.8 of the time; the rest falls on two other classes alike.
    assert report.dominance == pytest.approx(np.full(3, 0.8 - 0.1), abs=0.03)
    assert report.mean_cm.sum(1) == pytest.approx(np.ones(3))


def test_dominance_of_a_class_that_never_occurs_is_unknown():
    report = fuse.staple(np.array([[0, 2] * 20] * 3), 4).identifiability
    assert np.isnan(report.dominance[[1, 3]]).all()
    assert report.is_dominant


def test_estimates_that_rest_on_few_labels_are_listed():
    truth = np.repeat([0, 1], [50, 4])
    labels = np.tile(truth, (3, 1))
    labels[2, 5:50] = -1
    report = fuse.staple(labels, raters=["a", "b", "c"], classes=["no", "yes"]).identifiability
    listed = {(rater, name): number for rater, name, number in report.uncertain}
    assert listed == {
        ("a", "yes"): pytest.approx(4),
        ("b", "yes"): pytest.approx(4),
        ("c", "yes"): pytest.approx(4),
        ("c", "no"): pytest.approx(5),
    }
    assert "4 estimates rest on fewer than 10 labels" in report.messages()[-1]
    assert report.labels_per_class[2] == pytest.approx([5, 4])


@pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")
def test_classes_that_could_be_swapped():
    """Raters right 54 % of the time, classes alike: either naming fits as well."""
    _, labels = _noisy(4, [0.54, 0.54, 0.54], n_items=300)
    with pytest.warns(MultiraterWarning, match="0 and 1 could be swapped"):
        result = fuse.one_coin(labels, prior=0.5)
    report = result.identifiability
    assert set(report.swap) == {0, 1}
    assert report.swap_drop == pytest.approx(0, abs=1e-6)
    assert report.is_swap_a_close_call()


def test_frequencies_tell_classes_apart():
    rng = np.random.default_rng(5)
    truth = (rng.random(3000) < 0.15).astype(int)
    labels = truth ^ (rng.random((3, 3000)) < 0.2)
    report = fuse.staple(labels).identifiability
    assert report.swap_drop > 100
    assert not report.is_swap_a_close_call()


def test_swap_names_the_two_classes_most_alike():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 3, 1500)
    confused = np.where(truth == 0, 0, 3 - truth)  # 1 and 2 change places
    labels = np.where(rng.random((4, 1500)) < 0.3, confused, truth)
    assert set(fuse.staple(labels).identifiability.swap) == {1, 2}


def test_swap_needs_two_classes():
    report = fuse.staple(np.zeros((3, 30), dtype=int)).identifiability
    assert report.swap is None
    assert np.isnan(report.swap_drop)
    assert not report.is_swap_a_close_call()


def test_who_gave_no_label_is_not_called_uncertain():
    truth, labels = _noisy(4, [0.9, 0.9, 0.9], n_items=300)
    labels = np.vstack([labels, np.full((1, len(truth)), -1)])
    report = fuse.dawid_skene(labels, 2, raters=["a", "b", "c", "absent"]).identifiability
    assert report.uncertain == ()
