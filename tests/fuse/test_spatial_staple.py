"""Skill that varies over the image: gains where it does, STAPLE again where it does not."""

import itertools

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from multirater import fuse
from multirater.errors import InputError, MultiraterWarning
from multirater.fuse.spatial_staple import window_in_pixels

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")


def _dice(label, truth):
    found = label == 1
    return 2 * (found & truth).sum() / (found.sum() + truth.sum())


def _smooth(rng, shape, width):
    field = gaussian_filter(rng.normal(size=shape), width)
    return field / field.std()


def _bad_in_halves(seed, shape=(96, 96), n_raters=4):
    """Raters who label 40 % of one half of the image wrongly, 2 % of the other."""
    rng = np.random.default_rng(seed)
    truth = _smooth(rng, shape, 4) > 0.5
    half = np.indices(shape)[-1] < shape[-1] // 2
    labels = []
    for rater in range(n_raters):
        rate = np.where(half == (rater % 2), 0.4, 0.02)
        labels.append(truth ^ (rng.random(shape) < rate))
    return truth, np.stack(labels).astype(np.int8)


def _same_everywhere(seed, shape=(96, 96), n_raters=5):
    rng = np.random.default_rng(seed)
    truth = _smooth(rng, shape, 5) > 0.6
    rates = rng.uniform(0.02, 0.35, n_raters)
    return truth, np.stack([truth ^ (rng.random(shape) < rate) for rate in rates]).astype(np.int8)


def _shifted_outlines(seed, shape=(96, 96), n_raters=5):
    """Raters whose outline wanders, each by another amount."""
    rng = np.random.default_rng(seed)
    height = _smooth(rng, shape, 6)
    truth = height > 0.6
    amounts = rng.uniform(0.1, 0.8, n_raters)
    labels = [height + amount * _smooth(rng, shape, 3) > 0.6 for amount in amounts]
    return truth, np.stack(labels).astype(np.int8)


@pytest.mark.parametrize("seed", range(3))
def test_better_than_staple_and_vote_where_skill_varies(seed):
    truth, labels = _bad_in_halves(seed)
    spatial = _dice(fuse.spatial_staple(labels).label, truth)
    assert spatial > _dice(fuse.staple(labels).label, truth) + 0.05
    assert spatial > _dice(fuse.majority_vote(labels).label, truth) + 0.05


def test_better_in_three_dimensions():
    truth, labels = _bad_in_halves(5, shape=(20, 32, 48))
    spatial = fuse.spatial_staple(labels, window=13)
    assert spatial.converged
    assert _dice(spatial.label, truth) > _dice(fuse.staple(labels).label, truth) + 0.05
    assert _dice(spatial.label, truth) > _dice(fuse.majority_vote(labels).label, truth) + 0.05


@pytest.mark.parametrize("simulate", [_same_everywhere, _shifted_outlines])
def test_little_is_lost_where_skill_does_not_vary(simulate):
    pairs = [simulate(seed) for seed in range(4)]
    spatial, staple, vote = (
        np.mean([_dice(fuser(labels).label, truth) for truth, labels in pairs])
        for fuser in (fuse.spatial_staple, fuse.staple, fuse.majority_vote)
    )
    assert spatial > staple - 0.01
    assert spatial > vote


def _by_hand(labels, size, weight, n_iter, local):
    """The method with explicit windows, pixel by pixel, in double precision."""
    whole = fuse.staple(labels)
    n_raters, *space = labels.shape
    n_classes = len(whole.prior)
    volume = np.prod(size)
    q = whole.probability.astype(float)
    for _ in range(n_iter):
        updated = np.empty_like(q)
        for pixel in itertools.product(*map(range, space)):
            window = tuple(
                slice(max(x - s // 2, 0), x + s // 2 + 1) for x, s in zip(pixel, size, strict=True)
            )
            for t in range(n_classes):
                prior = whole.prior[t]
                if local:
                    prior = q[t][window].sum() / volume + weight * prior
                joint = prior
                for r in range(n_raters):
                    o = labels[(r, *pixel)]
                    if o == -1:
                        continue
                    drawn = labels[r][window]
                    said = q[t][window][drawn == o].sum() / volume + weight * whole.cm[r, t, o]
                    joint *= said / (q[t][window][drawn != -1].sum() / volume + weight)
                updated[(t, *pixel)] = joint
        q = updated / updated.sum(0)
    return q


@pytest.mark.parametrize("prior", ["local", "frequency"])
@pytest.mark.parametrize(
    ("shape", "size"), [((9, 8), (3, 5)), ((4, 5, 6), (3, 3, 3)), ((20,), (7,))]
)
def test_equals_explicit_windows(shape, size, prior):
    rng = np.random.default_rng(1)
    labels = rng.integers(-1, 3, (3, *shape))
    # Disputed corners, so that the whole image is worked on.
    for corner in itertools.product((0, -1), repeat=len(shape)):
        labels[(slice(None), *corner)] = [0, 1, 2]
    result = fuse.spatial_staple(
        labels, window=size, prior=prior, prior_weight=0.2, max_iter=3, tol=-1.0
    )
    expected = _by_hand(labels, size, 0.2, 3, prior == "local")
    assert np.allclose(result.probability, expected, atol=1e-5)
    labelled = (labels != -1).any(0)
    assert np.array_equal(result.label, np.where(labelled, expected.argmax(0), -1))


def test_a_huge_window_is_global_staple():
    _, labels = _same_everywhere(0)
    spatial = fuse.spatial_staple(labels, window=100_001)
    staple = fuse.staple(labels)
    assert np.array_equal(spatial.label, staple.label)
    assert np.allclose(spatial.probability, staple.probability, atol=1e-3)


def test_a_strong_prior_is_global_staple():
    _, labels = _bad_in_halves(1)
    spatial = fuse.spatial_staple(labels, prior="frequency", prior_weight=1e6)
    assert np.allclose(spatial.probability, fuse.staple(labels).probability, atol=1e-3)


def test_an_empty_window_falls_back_on_the_global_matrix():
    truth = np.zeros((40, 40))
    truth[:8, :8] = 1
    drawn = truth.copy()
    drawn[0] = 0
    global_cm = np.array([[0.9, 0.1], [0.25, 0.75]])
    cm = fuse.local_confusion(
        drawn.astype(int), np.stack([1 - truth, truth]), window=5, prior_cm=global_cm
    )
    # No foreground within reach: of its row nothing is known but the global one.
    assert cm[1, :, 30, 30] == pytest.approx(global_cm[1], abs=1e-6)
    assert cm[0, 0, 30, 30] > 0.98


def test_a_window_without_labels_falls_back_too():
    drawn = np.full((20, 20), -1)
    drawn[:5] = 0
    probability = np.stack([np.ones((20, 20)), np.zeros((20, 20))])
    global_cm = np.array([[0.8, 0.2], [0.4, 0.6]])
    cm = fuse.local_confusion(drawn, probability, window=3, prior_cm=global_cm)
    assert np.allclose(cm[:, :, 12, 12], global_cm)


def test_local_matrices_are_window_frequencies():
    rng = np.random.default_rng(2)
    truth, drawn = rng.integers(0, 3, (2, 15, 15))
    cm = fuse.local_confusion(
        drawn, np.eye(3)[truth].transpose(2, 0, 1), window=5, prior_weight=1e-9
    )
    inside = (slice(4, 9), slice(5, 10))
    for t in range(3):
        observed = drawn[inside][truth[inside] == t]
        expected = np.bincount(observed, minlength=3) / len(observed)
        assert cm[t, :, 6, 7] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("shape", [(30,), (12, 13), (6, 7, 8)])
def test_rows_of_local_matrices_sum_to_one(shape, blobs):
    _, labels = blobs(3, shape, n_classes=3)
    label = labels[0].astype(int)
    label[:2] = -1
    cm = fuse.local_confusion(label, fuse.staple(labels, 3).probability, window=5)
    assert cm.shape == (3, 3, *shape)
    assert np.allclose(cm.sum(1), 1, atol=1e-5)
    assert (cm >= 0).all()


def test_default_fallback_is_the_matrix_over_the_whole_image(blobs):
    truth, labels = blobs(4, (16, 16))
    probability = np.stack([truth == 0, truth == 1]).astype(float)
    local = fuse.local_confusion(labels[0], probability, window=5, prior_weight=1e9)
    whole = fuse.staple(labels[:1], gold=truth).cm[0]
    assert np.allclose(local[:, :, 3, 4], whole, atol=1e-6)


def test_local_matrices_show_where_a_rater_errs():
    _, labels = _bad_in_halves(3)
    result = fuse.spatial_staple(labels)
    cm = fuse.local_confusion(labels[0], result.probability)
    skill = (cm[0, 0] + cm[1, 1]) / 2
    assert skill[:, :30].mean() > 0.9  # rater 0 errs in the right half
    assert skill[:, -30:].mean() < 0.7


def test_window_in_millimetres_equals_pixels_times_spacing():
    _, labels = _bad_in_halves(4, shape=(40, 48))
    spacing = (0.5, 2.0)
    in_mm = fuse.spatial_staple(labels, window=(7 * 0.5, 11 * 2.0), spacing=spacing)
    in_pixels = fuse.spatial_staple(labels, window=(7, 11))
    assert np.array_equal(in_mm.probability, in_pixels.probability)


@pytest.mark.parametrize(
    ("window", "spacing", "expected"),
    [
        (31, None, (31, 31)),
        ((3, 5), None, (3, 5)),
        (30, (1.0, 3.0), (31, 11)),
        (0.1, None, (1, 1)),
        (4, (0.8, 0.8), (5, 5)),
        (0.6, (0.2, 0.1), (3, 7)),
    ],
)
def test_windows_have_a_middle(window, spacing, expected):
    assert window_in_pixels(window, spacing, 2) == expected


def test_only_the_surroundings_of_disputes_are_worked_on(blobs):
    _, labels = blobs(6, (30, 30), noise=(0.1, 0.3))
    padded = np.pad(labels, ((0, 0), (200, 200), (200, 200)))
    result = fuse.spatial_staple(padded, window=9)
    assert (result.label[:190] == 0).all()
    assert result.label.shape == (430, 430)


def test_unanimous_raters_need_no_step():
    labels = np.tile((np.indices((10, 10)).sum(0) % 2), (3, 1, 1))
    result = fuse.spatial_staple(labels)
    assert result.n_iter == 0
    assert result.converged
    assert np.array_equal(result.label, labels[0])


def test_too_few_iterations_are_told():
    _, labels = _bad_in_halves(0)
    with pytest.warns(MultiraterWarning, match="spatial-staple stopped after 1 ") as caught:
        assert not fuse.spatial_staple(labels, max_iter=1).converged
    told = next(each for each in caught if "spatial-staple" in str(each.message))
    assert told.filename == __file__


def test_ties_are_counted_and_go_to_the_lower_class():
    result = fuse.spatial_staple(np.array([[[0, 1], [0, 1]], [[1, 0], [0, 1]]]), prior=0.5)
    assert result.n_ties == 2
    assert result.label.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, "window 0"),
        ({"window": (3, 3, 3)}, "window"),
        ({"spacing": (1.0,)}, "spacing"),
        ({"spacing": (1.0, -1.0)}, "spacing"),
        ({"prior_weight": 0}, "prior_weight 0"),
        ({"prior": np.full((2, 5, 5), 0.5)}, "prior map"),
        ({"prior": "nearby"}, "prior 'nearby'"),
    ],
)
def test_settings_that_make_no_sense(options, message):
    with pytest.raises(InputError, match=message):
        fuse.spatial_staple(np.zeros((2, 5, 5), dtype=int), **options)


@pytest.mark.parametrize(
    "options", [{"window": np.inf}, {"window": np.nan}, {"prior_weight": np.inf}]
)
def test_windows_and_weights_that_are_not_finite_are_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        fuse.spatial_staple(np.zeros((2, 4, 4), dtype=int), 2, **options)


def test_a_window_beyond_all_images_is_refused():
    with pytest.raises(InputError, match=r"window 1e.308 .* pixels"):
        window_in_pixels(1e308, (1.0, 1.0), 2)
    assert window_in_pixels(2**20, None, 2) == (2**20 + 1,) * 2


def test_labels_without_pixels_are_refused():
    with pytest.raises(InputError, match="one label per pixel"):
        fuse.spatial_staple(np.array([0, 1, 1]))
