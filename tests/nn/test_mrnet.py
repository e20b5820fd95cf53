import numpy as np
import pytest
import torch

from multirater.nn.mrnet import MRNet, weighted_mean
from multirater.nn.rater_network import Labelled


def network(n_raters=2, ndim=2):
    torch.manual_seed(0)
    return MRNet(torch.nn.Identity(), n_features=4, n_raters=n_raters, n_classes=2, ndim=ndim)


def labelled(labels, raters=None):
    return Labelled(
        labels,
        raters or range(labels.shape[1]),
        torch.full_like(labels[:, 0], -1),
        None,
        True,
        "marginal",
    )


def test_the_target_is_the_mean_by_expertness_of_those_who_labelled():
    labels = torch.tensor([[[1, 1, -1], [0, -1, -1]]])
    mean, weight = weighted_mean(labels, torch.tensor([[0.25, 0.75]]), 2)
    assert np.allclose(mean[0, 1], [0.25, 1.0, 0.0])
    assert np.allclose(weight[0], [1.0, 0.25, 0.0])


def test_it_follows_the_raters_it_is_told_to():
    net, image = network(), torch.randn(4, 4, 6, 6)
    labels = torch.stack([torch.zeros(4, 6, 6), torch.ones(4, 6, 6)], 1).long()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(150):
        optimizer.zero_grad()
        loss = net.loss(net.features(image), labelled(labels))
        (loss.nll + loss.truth).backward()
        optimizer.step()
    net.eval()
    for expertness, expected in (([1.0, 0.0], 0.0), ([0.0, 2.0], 1.0), ([1.0, 1.0], 0.5)):
        found = net.calibrated(image, torch.tensor(expertness)).truth[:, 1]
        assert float(found.mean()) == pytest.approx(expected, abs=0.15)
    drawn = net.outputs(image, [0, 1]).drawn[:, :, 1].mean((0, 2, 3))
    assert drawn.tolist() == pytest.approx([0.0, 1.0], abs=0.1)


@pytest.mark.parametrize("ndim", [2, 3])
def test_raters_who_are_absent_weigh_nothing(ndim):
    space = (5, 6, 4)[:ndim]
    net = network(n_raters=3, ndim=ndim)
    labels = torch.randint(0, 2, (2, 1, *space))
    expertness = net._expertness(torch.zeros(2, 4, *space), labelled(labels, (1,)))
    assert expertness.tolist() == [[0.0, 1.0, 0.0]] * 2
    loss = net.loss(torch.randn(2, 4, *space), labelled(labels, (1,)))
    assert torch.isfinite(loss.nll + loss.truth)
