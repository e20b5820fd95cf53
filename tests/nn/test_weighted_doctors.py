import pytest
import torch
from torch import nn

from multirater.nn.rater_network import Labelled
from multirater.nn.weighted_doctors import WeightedDoctorNet


def network(n_raters=4):
    torch.manual_seed(0)
    sizes = {"n_features": 3, "n_raters": n_raters, "n_classes": 2, "ndim": 0}
    made = WeightedDoctorNet(nn.Linear(3, 3), **sizes)
    nn.init.normal_(made.weight)
    nn.init.normal_(made.averaging)
    return made


def labelled(raters):
    places = torch.tensor(raters)
    unknown = torch.full((len(raters),), -1)
    return Labelled(torch.zeros_like(places), places, unknown, None, True, "marginal")


def test_the_answer_is_the_weighted_mean_of_the_heads():
    made, image = network(), torch.randn(5, 3)
    found = made.outputs(image, range(4))
    weight = torch.tensor(made.followed)
    assert torch.allclose(found.truth, (weight[None, :, None] * found.drawn).sum(1), atol=1e-6)


def test_weights_learn_from_all_heads_but_the_raters_own():
    made, image = network(), torch.randn(2, 3)
    loss = made.loss(made.features(image), labelled([[1], [3]])).truth
    said = made.outputs(image, range(4)).drawn.detach()
    weight = torch.tensor(made.followed)
    expected = 0.0
    for case, own in enumerate((1, 3)):
        others = [rater for rater in range(4) if rater != own]
        mean = (weight[others, None] * said[case, others]).sum(0) / weight[others].sum()
        expected -= float(mean[0].log()) / 2
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-4)


def test_weights_have_no_say_in_features_and_heads():
    made = network()
    made.loss(made.features(torch.randn(2, 3)), labelled([[1], [3]])).truth.backward()
    assert made.averaging.grad.abs().sum() > 0
    assert made.weight.grad is None
    assert made.backbone.weight.grad is None


def test_a_single_rater_is_the_answer():
    made, image = network(n_raters=1), torch.randn(3, 3)
    loss = made.loss(made.features(image), labelled([[0]] * 3))
    assert torch.isfinite(loss.nll + loss.truth)
    found = made.outputs(image, [0])
    assert torch.allclose(found.truth, found.drawn[:, 0])
