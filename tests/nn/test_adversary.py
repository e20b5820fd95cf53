import pytest
import torch
from torch import nn

from multirater.nn.adversary import (
    PatchDiscriminator,
    adversarial_loss,
    fooling_loss,
    telling_loss,
)


def gradients(module):
    return [each.grad for each in module.parameters() if each.grad is not None]


def test_each_loss_has_a_gradient_for_one_side_alone():
    torch.manual_seed(0)
    judge, network = PatchDiscriminator(2, ndim=2), nn.Conv2d(1, 2, 3, padding=1)
    source, target = (network(torch.randn(2, 1, 16, 16)) for _ in range(2))
    telling_loss(judge, source, target).backward(retain_graph=True)
    assert gradients(judge)
    assert not gradients(network)
    judge.zero_grad(set_to_none=True)
    fooling_loss(judge, target).backward()
    assert all(each.abs().sum() > 0 for each in gradients(network))
    assert gradients(network)
    assert not gradients(judge)


def test_of_undecided_judges_the_losses_are_known():
    judge = PatchDiscriminator(1, ndim=3)
    with torch.no_grad():
        for each in judge.parameters():
            each.zero_()
    maps = torch.randn(2, 1, 4, 8, 8)
    log_2 = float(torch.tensor(2.0).log())
    assert telling_loss(judge, maps, maps).item() == pytest.approx(2 * log_2)
    assert fooling_loss(judge, maps).item() == pytest.approx(log_2)
    both = adversarial_loss([judge, judge], [maps, maps], [maps, maps], weight=0.5)
    assert both.item() == pytest.approx(2 * 2.5 * log_2)


def test_the_output_moves_towards_what_is_taken_for_source():
    """A judge that calls bright maps source makes the network brighter."""
    judge = nn.Conv2d(1, 1, 1)
    with torch.no_grad():
        judge.weight.fill_(3.0)
        judge.bias.zero_()
    shade = torch.zeros(1, 1, 4, 4, requires_grad=True)
    fooling_loss(judge, shade).backward()
    assert (shade.grad < 0).all()


def test_a_discriminator_learns_to_tell_patches_apart():
    torch.manual_seed(0)
    judge = PatchDiscriminator(1, ndim=2)
    optimizer = torch.optim.Adam(judge.parameters(), lr=3e-3)
    for _ in range(30):
        source, target = torch.rand(4, 1, 16, 16) * 0.5, torch.rand(4, 1, 16, 16)
        optimizer.zero_grad()
        telling_loss(judge, source, target).backward()
        optimizer.step()
    dim, bright = torch.rand(4, 1, 16, 16) * 0.5, torch.rand(4, 1, 16, 16)
    assert (judge(dim) > 0).float().mean() > 0.8
    assert (judge(bright) < 0).float().mean() > 0.8
