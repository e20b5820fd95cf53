import torch
from torch import nn

from multirater.nn.max_mig import MaxMigNetwork, information_gain
from multirater.nn.rater_network import Labelled


def test_the_gain_is_the_mean_over_all_pairs():
    torch.manual_seed(0)
    one, other = torch.rand(7, 3).softmax(1), torch.rand(7, 3).softmax(1)
    prior = torch.tensor([0.2, 0.3, 0.5])
    ratio = torch.einsum("ic,jc,c->ij", one, other, 1 / prior)
    same = ratio.diagonal()
    different = (ratio.sum() - same.sum()) / (7 * 6)
    expected = (1 + same.log()).mean() - different
    assert torch.allclose(information_gain(one, other, prior), expected)


def test_the_gain_is_largest_when_both_say_the_same_and_all_classes():
    truth, prior = torch.eye(3).repeat(4, 1), torch.full((3,), 1 / 3)
    agree = information_gain(truth, truth, prior)
    assert agree > information_gain(truth, truth.roll(1, 0) * 0.98 + 0.01, prior)
    constant = torch.tensor([[1.0, 0.0, 0.0]]).expand(12, 3)
    assert agree > information_gain(constant, constant, prior)


def test_the_prior_follows_the_labels_in_training_only():
    made = MaxMigNetwork(nn.Identity(), n_features=2, n_raters=1, n_classes=2, ndim=0)
    unknown = torch.full((4,), -1)
    group = Labelled(
        torch.ones(4, 1, dtype=torch.long),
        *(torch.zeros(4, 1, dtype=torch.long), unknown, None, True, "marginal"),
    )
    made.eval().loss(torch.randn(4, 2), group)
    assert made.prior.tolist() == [0.5, 0.5]
    made.train().loss(torch.randn(4, 2), group)
    assert made.prior[1] > 0.5


def test_matrices_do_not_depend_on_what_the_aggregator_leaves_open():
    """A constant for each label changes no aggregate; a rater who says one thing says it always."""
    net = MaxMigNetwork(nn.Identity(), n_features=2, n_raters=2, n_classes=2, ndim=0)
    with torch.no_grad():
        net.said.copy_(torch.tensor([[1e6, 1.0], [500.0, 500.0]]))
        before = net.matrices.clone()
        net.weight[:, :, 0] += 3.0
    assert torch.allclose(net.matrices, before, atol=1e-5)
    assert (net.matrices[0, :, 0] > 0.999).all()
    assert net.matrices[1].diagonal().min() > 0.8
