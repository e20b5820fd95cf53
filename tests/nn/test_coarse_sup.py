import pytest
import torch
from torch import nn

from multirater.nn.coarse_sup import CoarseSupNetwork
from multirater.nn.rater_network import Labelled


def network(n_classes=2):
    torch.manual_seed(0)
    return CoarseSupNetwork(
        nn.Conv2d(1, 4, 1), n_features=4, n_classes=n_classes, ndim=2, kinds=["positive"]
    )


def test_a_style_says_the_truth_to_begin_with():
    net, truth = network(3), torch.full((1, 3, 2, 2), 1 / 3)
    expected = torch.tensor([0.0, -2.0, 2.0, -2.0]).softmax(0)  # nothing, then each class
    for drawn, probability in zip(range(-1, 3), expected, strict=True):
        found = net.log_drawn(truth, torch.full((1, 2, 2), drawn)).exp()
        assert torch.allclose(found[:, 1], probability, atol=1e-6)


def step(net, optimizer, image, labelled):
    optimizer.zero_grad()
    loss = net.loss(image, labelled)
    (loss.nll + loss.truth).backward()
    optimizer.step()
    return loss


def test_the_style_of_drawings_is_learned_beside_the_truth():
    """Of the object one in five pixels is drawn, of the rest half; brightness tells."""
    net = network()
    truth = (torch.arange(400).reshape(1, 1, 20, 20) % 2).expand(8, 1, 20, 20)
    left_out = torch.rand(truth.shape) > torch.where(truth == 1, 0.2, 0.5)
    drawn = torch.where(left_out, -1, truth)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-2)
    for number in range(250):
        labelled = Labelled(drawn, [0], torch.empty(0), None, number >= 50, "marginal")
        step(net, optimizer, truth.float(), labelled)
    assert (net.outputs(truth.float()).truth.argmax(1, keepdim=True) == truth).all()
    shares = torch.cat([1 - truth, truth], 1).float()
    nothing = net.log_drawn(shares, torch.full_like(drawn[:, 0], -1)).exp()[:, :, 2:-2, 2:-2]
    inner = shares[:, :, 2:-2, 2:-2]
    found = (nothing * inner).sum((0, 2, 3)) / inner.sum((0, 2, 3))
    assert found.tolist() == pytest.approx([0.5, 0.8], abs=0.05)


def test_drawings_are_taken_as_they_are_first_and_when_held_out():
    net, image = network(), torch.randn(2, 1, 8, 8)
    seeds = torch.randint(-1, 2, (2, 1, 8, 8))
    labelled = Labelled(seeds, [0], torch.empty(0), None, False, "marginal")
    first = net.loss(image, labelled)
    assert first.truth == 0.0
    held_out = net.eval().loss(image, labelled)
    assert torch.allclose(first.nll, held_out.nll)
