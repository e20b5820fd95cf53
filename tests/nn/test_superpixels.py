import numpy as np
import pytest

from multirater.nn.superpixels import borders, channels_last, mean_colours, sums, superpixels


@pytest.mark.parametrize("space", [(24, 20), (8, 12, 12)])
def test_superpixels_keep_to_edges(space):
    image = np.zeros((2, *space))
    image[0, ..., 10:] = 3.0
    colours = channels_last(image)
    segments = superpixels(colours)
    assert segments.shape == space
    assert set(np.unique(segments)) == set(range(int(segments.max()) + 1))
    assert set(mean_colours(colours, segments)[:, 0].round(6)) == {0.0, 1.0}


def test_neighbours_meet_along_every_axis():
    segments = np.array([[[0, 0], [1, 1]], [[2, 2], [2, 2]]])
    pairs, length, apart = borders(segments, np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]))
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert length.tolist() == [2, 2, 2]
    assert apart.tolist() == [5.0, 0.0, 5.0]


def test_sums_are_those_of_pixels():
    random = np.random.default_rng(0)
    values, segments = random.random((6, 7, 3)), random.integers(0, 5, (6, 7))
    segments[0, 0] = 4
    for number, found in enumerate(sums(values, segments)):
        np.testing.assert_allclose(found, values[segments == number].sum(0))
