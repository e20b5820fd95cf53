import pytest
import torch

from multirater.nn.multi_hypothesis import RELAXED, MultiHypothesisNetwork
from multirater.nn.rater_network import Labelled


def network(n_hypotheses):
    torch.manual_seed(0)
    return MultiHypothesisNetwork(
        torch.nn.Identity(), n_features=1, n_raters=n_hypotheses, n_classes=2, ndim=2
    )


def labelled(labels):
    return Labelled(
        labels, range(labels.shape[1]), torch.full_like(labels[:, 0], -1), None, True, "marginal"
    )


def test_hypotheses_spread_over_the_answers_that_occur():
    net = network(2)
    image = torch.ones(2, 1, 3, 3)
    labels = torch.stack([torch.zeros(2, 3, 3), torch.ones(2, 3, 3)], 1).long()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        net.loss(net.features(image), labelled(labels)).nll.backward()
        optimizer.step()
    drawn = net.outputs(image, [0, 1]).drawn[0, :, 1, 0, 0]
    assert sorted(drawn.tolist()) == pytest.approx([RELAXED, 1 - RELAXED], abs=0.02)
    assert net.outputs(image).truth.flatten().tolist() == pytest.approx([0.5] * 36, abs=0.02)


def test_one_hypothesis_is_plain_cross_entropy():
    net, image = network(1), torch.randn(2, 1, 4, 4)
    labels = torch.randint(-1, 2, (2, 3, 4, 4))
    expected = torch.nn.functional.cross_entropy(
        net.heads(image).repeat_interleave(3, 0), labels.flatten(0, 1), ignore_index=-1
    )
    assert float(net.loss(image, labelled(labels)).nll) == pytest.approx(float(expected), rel=1e-5)


def test_more_raters_than_hypotheses_share_them():
    found = network(2).outputs(torch.randn(1, 1, 4, 4), range(5))
    assert found.drawn.shape == (1, 5, 2, 4, 4)
    assert torch.equal(found.drawn[:, 0], found.drawn[:, 4])
