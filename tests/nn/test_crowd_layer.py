import torch
from torch import nn

from multirater.nn.crowd_layer import CrowdLayerNetwork


def test_a_rater_says_the_softmax_of_the_truth_times_a_matrix():
    torch.manual_seed(0)
    made = CrowdLayerNetwork(nn.Identity(), n_features=2, n_raters=3, n_classes=4, ndim=0)
    assert torch.equal(made.weight[1], torch.eye(4))
    nn.init.normal_(made.weight)
    found = made.outputs(torch.randn(5, 2), [2, 0])
    for place, rater in enumerate((2, 0)):
        expected = torch.softmax(found.truth @ made.weight[rater], dim=1)
        assert torch.allclose(found.drawn[:, place], expected, atol=1e-6)
    certain = torch.eye(4)
    assert torch.allclose(made.log_said(certain, [1]).exp()[:, 0], made.matrices[1], atol=1e-6)
