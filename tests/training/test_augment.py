import numpy as np
import pytest

from multirater.training.augment import augment
from multirater.training.samples import Sample


def sample(space):
    """A box that is bright in the image and class 1 in every label."""
    mask = np.zeros(space, dtype=np.int16)
    mask[tuple(slice(size // 4, size // 2) for size in space)] = 1
    labels = np.stack([mask, np.where(mask == 1, 1, -1)]).astype(np.int16)
    return Sample(10 * mask[None].astype(np.float32), labels, (0, 2), mask)


@pytest.mark.parametrize("space", [(24, 28), (12, 16, 16)])
def test_image_and_labels_change_alike(space):
    before = sample(space)
    moved = 0
    for seed in range(8):
        after = augment(before, np.random.default_rng(seed))
        assert after.image.shape == before.image.shape
        assert after.raters == before.raters
        bright = after.image[0] > 5
        inside = after.truth >= 0
        assert (bright[inside] == (after.truth[inside] == 1)).mean() > 0.97
        assert np.array_equal(after.labels[0], after.truth)
        moved += not np.array_equal(after.truth, before.truth)
    assert moved >= 4


def test_what_comes_in_from_outside_is_missing_and_missing_stays_so():
    before = sample((24, 28))
    corners = [augment(before, np.random.default_rng(seed)).truth for seed in range(20)]
    values = {int(value) for truth in corners for value in np.unique(truth)}
    assert values == {-1, 0, 1}
    for seed in range(8):
        after = augment(before, np.random.default_rng(seed))
        assert set(np.unique(after.labels[1])) <= {-1, 1}


def test_same_numbers_same_change():
    before = sample((24, 28))
    one, other = (augment(before, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(one.image, other.image)
    assert np.array_equal(one.labels, other.labels)


def test_flips_alone_leave_every_value_where_a_mirror_puts_it():
    before = sample((8, 12))
    seen = set()
    for seed in range(12):
        changed = augment(before, np.random.default_rng(seed), only_mirror=True)
        mirrored = {
            axes: np.flip(before.image, [axis + 1 for axis in axes])
            for axes in ((), (0,), (1,), (0, 1))
        }
        (axes,) = [key for key, image in mirrored.items() if np.array_equal(image, changed.image)]
        expected = np.flip(before.labels, [axis + 1 for axis in axes])
        np.testing.assert_array_equal(changed.labels, expected)
        seen.add(axes)
    assert len(seen) > 2
