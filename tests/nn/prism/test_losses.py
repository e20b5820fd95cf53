import numpy as np
import pytest
import torch
from skimage.metrics import structural_similarity

from multirater.nn.posterior import one_hot
from multirater.nn.prism.losses import dissimilarity, shuffle_loss
from multirater.nn.prism.start import likelihood


def test_dissimilarity_is_one_minus_the_similarity_that_scikit_image_finds():
    rng = np.random.default_rng(0)
    one, other = rng.random((2, 40, 36))
    expected = structural_similarity(
        one, other, data_range=1.0, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
    )
    found = dissimilarity(*(torch.from_numpy(each)[None, None] for each in (one, other)))
    assert float(found) == pytest.approx(1 - expected, abs=1e-5)


@pytest.mark.parametrize("space", [(1, 1), (2, 23), (5, 7), (12, 10)])
def test_equal_maps_of_any_size_have_none_and_unequal_ones_some(space):
    maps = torch.rand(2, 3, *space)
    assert float(dissimilarity(maps, maps)) == pytest.approx(0, abs=1e-5)
    assert float(dissimilarity(maps, 1 - maps)) > 0.01


def draws():
    return torch.Generator().manual_seed(0)


def confident(n_raters):
    return likelihood(torch.linspace(0.2, 0.9, n_raters).reshape(1, n_raters, 1, 1), 2)


def drawn_as(labels, certainty):
    votes = one_hot(labels, 2)
    return votes * certainty + (1 - votes) * (1 - certainty)


def test_shuffling_finds_nothing_wrong_with_labels_foretold():
    torch.manual_seed(0)
    labels = torch.randint(0, 2, (1, 4, 6, 6))
    votes = one_hot(labels, 2)
    right = shuffle_loss(confident(4), drawn_as(labels, 0.9), votes, range(4), draws())
    wrong = shuffle_loss(confident(4), drawn_as(1 - labels, 0.9), votes, range(4), draws())
    assert right < wrong


def test_shuffling_teaches_what_raters_draw_and_leaves_confidences_alone():
    torch.manual_seed(0)
    labels = torch.randint(0, 2, (1, 3, 4, 4))
    confidence = confident(3).requires_grad_()
    drawn = drawn_as(1 - labels, 0.7).requires_grad_()
    shuffle_loss(confidence, drawn, one_hot(labels, 2), range(3), draws()).backward()
    assert confidence.grad is None
    towards = -drawn.grad * (one_hot(labels, 2) - one_hot(1 - labels, 2))
    assert towards.sum() > 0


def test_confidences_that_learn_from_shuffling_fade():
    """With less confidence the two fusions differ less: gradients lead there."""
    torch.manual_seed(0)
    labels = torch.randint(0, 2, (1, 3, 4, 4))
    strength = torch.tensor(1.0, requires_grad=True)
    drawn = drawn_as(1 - labels, 0.9)
    shuffle_loss(
        confident(3) * strength,
        drawn,
        one_hot(labels, 2),
        range(3),
        draws(),
        confidences_learn=True,
    ).backward()
    assert float(strength.grad) > 0


def test_pixels_without_labels_do_not_count():
    torch.manual_seed(0)
    labels = torch.randint(0, 2, (1, 2, 4, 4))
    labels[..., 2:] = -1
    drawn = torch.rand(1, 2, 1, 4, 4)
    drawn = torch.cat([drawn, 1 - drawn], dim=2).requires_grad_()
    shuffle_loss(confident(2), drawn, one_hot(labels, 2), range(2), draws()).backward()
    assert (drawn.grad[..., 2:] == 0).all()
