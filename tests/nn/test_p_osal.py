import pytest
import torch
from torch import nn

from multirater.nn.p_osal import PatchAdversarialNetwork, object_loss, smoothness_loss
from multirater.nn.rater_network import Labelled


def square(n_cases=1):
    labels = torch.zeros(n_cases, 1, 8, 8, dtype=torch.int64)
    labels[:, :, 2:6, 2:6] = 1
    return labels


def as_probability(labels, sure=1.0):
    drawn = labels[:, 0].float() * (2 * sure - 1) + 1 - sure
    return torch.stack([1 - drawn, drawn], 1)


def test_objects_that_are_drawn_as_said_cost_nothing():
    labels = square()
    assert float(object_loss(as_probability(labels), labels)) == pytest.approx(0, abs=1e-6)
    shifted = as_probability(labels.roll(2, -1))
    assert float(object_loss(shifted, labels)) == pytest.approx(0.5, abs=1e-6)  # half overlaps
    half = torch.full((1, 2, 8, 8), 0.5)
    expected = 1 - 2 * 0.5 * 16 / (0.25 * 64 + 16)
    assert float(object_loss(half, labels)) == pytest.approx(expected, abs=1e-6)


def test_pixels_without_label_count_for_nothing():
    labels = square()
    labels[..., 4:] = -1
    one, other = as_probability(square()), as_probability(square())
    other[..., 4:] = 0.3
    assert float(object_loss(one, labels)) == pytest.approx(float(object_loss(other, labels)))


def test_only_away_from_boundaries_must_probabilities_be_smooth():
    labels = square()
    assert float(smoothness_loss(as_probability(labels), labels)) == 0
    spot = as_probability(labels)
    spot[0, 1, 3, 3] = 0.5  # inside, with neighbours at two boundaries and two insides
    # Inside are 3..4 x 3..4: (3, 3) differs from four neighbours, two of which are counted too.
    assert float(smoothness_loss(spot, labels)) == pytest.approx((4 + 2) * 0.5 / 64)
    missing = torch.full_like(labels, -1)
    assert float(smoothness_loss(spot, missing)) == 0


def network(weight=0.01):
    torch.manual_seed(0)
    backbone = nn.Conv2d(1, 4, 3, padding=1)
    return PatchAdversarialNetwork(
        backbone, adversarial_weight=weight, n_features=4, n_classes=2, ndim=2
    )


def labelled(labels):
    return Labelled(labels, [0], torch.full_like(labels[:, 0], -1), None, True, "marginal")


def test_the_target_reaches_network_and_discriminator_in_training_alone():
    made, image = network(), torch.randn(2, 1, 8, 8)
    group = labelled(square(2))
    made.target = torch.randn(2, 1, 8, 8)
    made.eval()
    plain = float(made.loss(made.features(image), group).truth.detach())
    made.train()
    loss = made.loss(made.features(image), group)
    assert float(loss.truth.detach()) > plain + 1  # two logarithms of two, about
    assert not loss.nll.requires_grad
    loss.truth.backward()
    assert all(each.grad is not None for each in made.parameters())
    made.target = None
    assert float(made.loss(made.features(image), group).truth.detach()) == pytest.approx(plain)


def test_without_weight_no_target_is_looked_at():
    made, image = network(weight=0.0), torch.randn(2, 1, 8, 8)
    made.target = torch.randn(2, 1, 8, 8)
    assert made.target_features() is None
    made.loss(made.features(image), labelled(square(2))).truth.backward()
    assert all(each.grad is None for each in made.discriminator.parameters())
