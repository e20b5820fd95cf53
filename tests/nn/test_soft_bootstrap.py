import torch
from torch import nn

from multirater.nn.rater_network import Labelled
from multirater.nn.soft_bootstrap import BETA, BootstrapNetwork


def test_the_target_is_the_label_mixed_with_the_prediction():
    torch.manual_seed(0)
    made = BootstrapNetwork(nn.Identity(), n_features=3, n_classes=3, ndim=0)
    image, labels = torch.randn(4, 3), torch.tensor([[0], [2], [-1], [1]])
    group = Labelled(labels, torch.zeros_like(labels), labels[:, 0] * 0 - 1, None, True, "marginal")
    loss = made.loss(made.features(image), group)
    p = made.outputs(image).truth[[0, 1, 3]]
    target = BETA * torch.eye(3)[[0, 2, 1]] + (1 - BETA) * p
    assert torch.allclose(loss.nll + loss.truth, -(target * p.log()).sum(1).mean())
