import numpy as np
import torch
from torch import nn

from multirater.nn.agg_net import AggregationNetwork
from multirater.nn.rater_network import Labelled
from multirater.simulate import hammer_spammer_cm, simulate_class_labels


def test_matrices_are_learned_while_the_network_learns():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 600)
    cms = np.stack([hammer_spammer_cm(3, p, seed=0) for p in (0.9, 0.8, 0.5)])
    labels = torch.from_numpy(simulate_class_labels(truth, cms, seed=0).T.astype(np.int64))
    image = torch.from_numpy(np.eye(3)[truth] + rng.normal(0, 0.3, (600, 3))).float()
    torch.manual_seed(0)
    made = AggregationNetwork(nn.Linear(3, 3), n_features=3, n_raters=3, n_classes=3, ndim=0)
    optimizer = torch.optim.Adam(made.parameters(), lr=0.05)
    for step in range(120):
        chosen = torch.from_numpy(rng.permutation(600)[:100])
        places = torch.arange(3).repeat(100, 1)
        unknown = torch.full((100,), -1)
        group = Labelled(labels[chosen], places, unknown, None, step >= 20, "marginal")
        loss = made.loss(made.features(image[chosen]), group)
        optimizer.zero_grad()
        (loss.nll + loss.truth).backward()
        optimizer.step()
    answer = made.outputs(image).truth.argmax(1).numpy()
    assert (answer == truth).mean() > 0.9
    assert np.abs(made.matrices.numpy() - cms).max() < 0.1


def test_nothing_is_counted_outside_of_training():
    made = AggregationNetwork(nn.Identity(), n_features=2, n_raters=1, n_classes=2, ndim=0).eval()
    before = made.counts.clone()
    zeros = torch.zeros(3, 1, dtype=torch.long)
    group = Labelled(zeros, zeros, torch.full((3,), -1), None, True, "marginal")
    made.loss(torch.randn(3, 2), group)
    assert torch.equal(made.counts, before)
