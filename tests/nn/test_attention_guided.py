import pytest
import torch
from torch.nn import functional

from multirater.errors import InputError
from multirater.nn.attention_guided import AttentionGuidedNetwork, guided_filter
from multirater.nn.rater_network import Labelled, batch_loss


def guide():
    torch.manual_seed(0)
    return torch.randn(2, 3, 16, 16)


def test_a_linear_function_of_the_guide_is_brought_up_exactly():
    fine = guide()
    small = functional.avg_pool2d(fine, 2)
    attention = torch.rand(2, 1, 8, 8)
    found = guided_filter(1.5 * small - 0.5, small, fine, attention, ridge=1e-9)
    assert torch.allclose(found, 1.5 * fine - 0.5, atol=1e-4)


def test_maps_that_the_guide_says_nothing_of_are_smoothed():
    fine = torch.zeros(1, 1, 16, 16)
    maps = torch.zeros(1, 1, 8, 8)
    maps[..., 4, 4] = 25.0
    found = guided_filter(maps, torch.zeros(1, 1, 8, 8), fine, torch.ones(1, 1, 8, 8), radius=1)
    assert float(found.amax()) < 4
    constant = torch.full((1, 1, 8, 8), 3.0)
    found = guided_filter(constant, constant * 0, fine, torch.rand(1, 1, 8, 8))
    assert torch.allclose(found, torch.full_like(found, 3.0), atol=1e-5)


def test_the_fit_is_made_where_attention_looks():
    """Of two relations in one window the one that is looked at is taken."""
    fine = guide()
    small = functional.avg_pool2d(fine, 2)
    left = (torch.arange(8) < 4).float().expand(2, 1, 8, 8)
    maps = torch.where(left > 0, 2 * small, -small)
    found = guided_filter(maps, small, fine, left, radius=8, ridge=1e-9)
    assert torch.allclose(found, 2 * fine, atol=0.05)


def test_every_scale_has_an_output_and_learns():
    torch.manual_seed(0)
    made = AttentionGuidedNetwork(n_channels=1, n_classes=2, ndim=2, channels=(4, 8, 8))
    image = torch.randn(2, 1, 21, 18)
    assert made.features(image).shape == (2, 2 * 2, 21, 18)
    labels = (image > 0).long()
    group = Labelled(labels, [0], torch.full_like(labels[:, 0], -1), None, True, "marginal")
    optimizer = torch.optim.Adam(made.parameters(), lr=1e-2)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = batch_loss(made, image, [group])
        (loss.nll + loss.truth).backward()
        assert all(each.grad is not None for each in made.parameters())
        optimizer.step()
        losses.append(float(loss.nll.detach()))
    assert losses[-1] < 0.6 * losses[0]


def test_volumes_are_refused():
    with pytest.raises(InputError, match="slices"):
        AttentionGuidedNetwork(n_channels=1, n_classes=2, ndim=3, channels=(4, 8))
