import numpy as np
import pytest

from multirater.errors import InputError
from multirater.metrics import mean_iou_score
from multirater.training.drawing_masks import (
    MASKS_OF_SEEDS,
    box_mask,
    filled_mask,
    grabcut_mask,
    random_walker_mask,
    seeds_of,
)
from multirater.training.lazy_snapping import lazy_snapping_mask


@pytest.fixture
def disc():
    """A bright disc with noise, and where it is."""
    y, x = np.mgrid[:40, :40]
    truth = ((x - 20) ** 2 + (y - 18) ** 2 < 100).astype(np.int16)
    noise = np.random.default_rng(0).normal(0, 12, truth.shape)
    return (truth * 120 + 60 + noise)[None], truth


def scribbles(truth):
    seeds = np.full(truth.shape, -1, dtype=np.int16)
    seeds[17:20, 15:26] = 1
    seeds[2, :] = seeds[37, :] = 0
    return seeds


@pytest.mark.parametrize("method", ["grabcut", "random-walker", "lazy-snapping"])
def test_scribbles_on_a_clear_image_grow_to_the_object(disc, method):
    image, truth = disc
    seeds = scribbles(truth)
    before = seeds.copy()
    assert mean_iou_score(truth, MASKS_OF_SEEDS[method](image, seeds)) > 0.97
    np.testing.assert_array_equal(seeds, before)


def test_a_box_is_enough_for_a_clear_image(disc):
    image, truth = disc
    seeds = np.where(truth == 1, np.int16(1), np.int16(-1))
    assert mean_iou_score(truth, box_mask(image, seeds)) > 0.97


def test_several_classes_grow_side_by_side():
    truth = np.zeros((30, 60), dtype=np.int16)
    truth[8:22, 6:24], truth[8:22, 34:54] = 1, 2
    image = np.array([30.0, 120.0, 220.0])[truth][None]
    seeds = np.full(truth.shape, -1, dtype=np.int16)
    seeds[14:16, 10:20], seeds[14:16, 40:50], seeds[2] = 1, 2, 0
    for method in (grabcut_mask, random_walker_mask, lazy_snapping_mask):
        assert mean_iou_score(truth, method(image, seeds)) > 0.95


def test_undrawn_is_background_only_where_background_is_not_drawn():
    seeds = np.array([[1, -1, -1]], dtype=np.int16)
    image = np.zeros((1, 1, 3))
    assert filled_mask(image, seeds).tolist() == [[1, 0, 0]]
    with_background = np.array([[1, -1, 0]], dtype=np.int16)
    assert filled_mask(image, with_background).tolist() == [[1, -1, 0]]


@pytest.mark.parametrize("method", sorted(MASKS_OF_SEEDS))
@pytest.mark.parametrize("drawn", [0, 1, 3])
def test_few_seeds_do_no_harm(disc, method, drawn):
    image, truth = disc
    seeds = np.full(truth.shape, -1, dtype=np.int16)
    seeds[18, 20 : 20 + drawn] = 1
    for shown in (image, np.zeros_like(image)):
        found = MASKS_OF_SEEDS[method](shown, seeds)
        assert found.shape == truth.shape
        assert set(np.unique(found)) <= {-1, 0, 1}
        kept = found[seeds == 1] == 1
        assert kept.any() == bool(drawn) if method == "grabcut-boxes" else kept.all()


@pytest.mark.parametrize("method", ["grabcut", "random-walker", "lazy-snapping"])
def test_what_is_not_the_object_says_nothing_of_the_rest(disc, method):
    image, truth = disc
    seeds = np.full(truth.shape, -1, dtype=np.int16)
    seeds[:5] = 0
    np.testing.assert_array_equal(MASKS_OF_SEEDS[method](image, seeds), seeds)


def test_a_box_over_the_whole_image_leaves_what_was_drawn(disc):
    image, truth = disc
    seeds = np.full(truth.shape, -1, dtype=np.int16)
    np.fill_diagonal(seeds, 1)
    np.testing.assert_array_equal(box_mask(image, seeds), np.where(seeds == 1, 1, 0))
    assert (box_mask(image, np.full_like(seeds, -1)) == -1).all()


def test_not_k_is_background_when_there_are_more_classes():
    positive = np.array([[1, 2, -1, -1, 1]], dtype=np.int16)
    negative = np.array([[-1, 1, 2, 0, 1]], dtype=np.int16)
    assert seeds_of([positive], [negative], 3).tolist() == [[1, 2, 0, -1, -1]]


def test_two_raters_who_contradict_each_other_give_no_seed():
    first, second = np.array([[1, 2]], dtype=np.int16), np.array([[2, 2]], dtype=np.int16)
    assert seeds_of([first, second], [], 3).tolist() == [[-1, 2]]


def test_grabcut_refuses_volumes():
    seeds = np.full((4, 4, 4), -1, dtype=np.int16)
    seeds[1, 1, 1] = 1
    with pytest.raises(InputError, match="GrabCut of a volume"):
        grabcut_mask(np.zeros((1, 4, 4, 4)), seeds)
    assert random_walker_mask(np.zeros((1, 4, 4, 4)), seeds).shape == (4, 4, 4)
