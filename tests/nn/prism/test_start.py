import pytest
import torch

from multirater.nn.prism.start import LEAST, MOST, SPREAD, likelihood, random_start


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_likelihoods_are_distributions_over_what_is_drawn(n_classes):
    log_likelihood = likelihood(torch.rand(2, 3, 4, 5), n_classes)
    assert log_likelihood.shape == (2, 3, n_classes, n_classes, 4, 5)
    assert torch.allclose(log_likelihood.exp().sum(3), torch.ones(2, 3, n_classes, 4, 5))
    assert torch.isfinite(likelihood(torch.tensor([[0.0, 1.0]]), n_classes)).all()


def test_confidence_orders_raters_from_no_say_to_certainty():
    right = likelihood(torch.linspace(0, 1, 5)[None], 2).exp()[0, :, 0, 0]
    assert (right.diff() > 0).all()
    assert right[0] == pytest.approx(0.5, abs=0.02)
    assert right[-1] > 0.98


def test_the_random_start_is_as_the_paper_says():
    generator = torch.Generator().manual_seed(0)
    drawn = torch.cat([random_start(50, (32, 32), generator) for _ in range(20)])
    means = drawn.mean((2, 3))
    assert drawn.shape == (20, 50, 32, 32)
    assert float(drawn.min()) >= 0
    assert float(drawn.max()) <= 1
    assert float(means.mean()) == pytest.approx((LEAST + MOST) / 2, abs=0.02)
    middle = drawn[(means > 0.45) & (means < 0.55)]
    assert float(middle.std((1, 2)).mean()) == pytest.approx(SPREAD, abs=0.02)


def test_noise_is_the_same_within_a_patch():
    drawn = random_start(3, (32, 32), torch.Generator().manual_seed(0))
    patches = drawn.reshape(3, 8, 4, 8, 4)
    assert torch.equal(patches.amax((2, 4)), patches.amin((2, 4)))
