import pytest
import torch
from torch import nn

from multirater.nn.beal import (
    BoundaryEntropyNetwork,
    boundary_loss,
    drawn_boundary,
    entropy_map,
)
from multirater.nn.rater_network import Labelled


def square():
    labels = torch.zeros(1, 1, 12, 12, dtype=torch.int64)
    labels[..., 3:9, 3:9] = 1
    return labels


def test_the_boundary_of_a_square_is_two_pixels_wide():
    edge = drawn_boundary(square(), blur=0)[0, 0]
    expected = torch.zeros(12, 12)
    expected[2:10, 2:10] = 1
    expected[4:8, 4:8] = 0
    assert torch.equal(edge, expected)
    assert int(edge.sum()) == 8 * 8 - 4 * 4


def test_a_smeared_boundary_keeps_its_mass_and_its_place():
    sharp, smeared = drawn_boundary(square(), blur=0), drawn_boundary(square())
    assert float(smeared.sum()) == pytest.approx(float(sharp.sum()), rel=0.02)
    assert 0 <= float(smeared.min()) <= float(smeared.max()) <= 1
    assert float(smeared[0, 0, 2, 6]) > 0.5 > float(smeared[0, 0, 6, 6])


def test_where_nothing_is_labelled_there_is_no_boundary():
    labels = square()
    labels[..., 6:] = -1
    edge = drawn_boundary(labels, blur=0)
    assert float(edge[..., 6:].sum()) == 0
    assert float(edge[0, 0, 6, 5]) == 0  # its only other neighbours are not labelled
    assert float(drawn_boundary(torch.full_like(labels, -1), blur=0).sum()) == 0


def test_boundaries_of_volumes():
    labels = torch.zeros(1, 1, 6, 6, 6, dtype=torch.int64)
    labels[..., 3:] = 1
    edge = drawn_boundary(labels, blur=0)
    assert edge.sum((0, 1, 2, 3)).tolist() == [0, 0, 36, 36, 0, 0]


def test_the_right_boundary_costs_nothing():
    labels = square()
    assert float(boundary_loss(drawn_boundary(labels), labels)) == 0
    assert float(boundary_loss(torch.zeros(1, 1, 12, 12), labels)) > 0.05


def test_entropy_is_that_of_the_classes():
    even = torch.full((1, 4, 2, 2), 0.25).log()
    assert torch.allclose(entropy_map(even).sum(1), torch.tensor(4.0).log())
    sure = torch.tensor([0.0, -40.0]).reshape(1, 2, 1, 1)
    assert float(entropy_map(sure).sum()) < 1e-12


def test_boundary_and_entropy_of_the_target_reach_the_network():
    torch.manual_seed(0)
    sizes = {"n_features": 4, "n_classes": 2, "ndim": 2}
    made = BoundaryEntropyNetwork(nn.Conv2d(1, 4, 3, padding=1), adversarial_weight=1.0, **sizes)
    labels = square()
    group = Labelled(labels, [0], torch.full_like(labels[:, 0], -1), None, True, "marginal")
    made.target = torch.randn(2, 1, 12, 12, requires_grad=True)
    loss = made.loss(made.features(torch.randn(1, 1, 12, 12)), group)
    loss.truth.backward()
    assert made.target.grad.abs().sum() > 0
    for judge in (made.boundary_discriminator, made.entropy_discriminator):
        assert all(each.grad.abs().sum() > 0 for each in judge.parameters())
