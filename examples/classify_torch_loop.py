"""Confusion matrices of class labels on your own network; one label per item.

python examples/classify_torch_loop.py
"""

import numpy as np
import torch

from multirater import nn, simulate

rng = np.random.default_rng(0)
truth = rng.integers(0, 4, 2000)
features = torch.tensor(np.eye(4)[truth] + rng.normal(0, 0.3, (2000, 4))).float()
cms = [simulate.pairwise_flipper_cm(4, p, seed=seed) for seed, p in enumerate((0.9, 0.7, 0.6))]
labels = torch.tensor(simulate.simulate_class_labels(truth, cms, seed=0).T).long()  # (n, rater)
labels[rng.integers(0, 3, (2000, 1)) != np.arange(3)] = -1  # each item has one of the three

torch.manual_seed(0)
network, raters = torch.nn.Linear(4, 4), nn.RaterConfusion(n_raters=3, n_classes=4)
groups = [{"params": network.parameters()}, {"params": raters.parameters(), "lr": 3e-2}]
optimizer = torch.optim.Adam(groups, lr=1e-2)
for _ in range(400):
    log_truth, log_cm = network(features).log_softmax(1), raters(features)
    loss = nn.rater_nll(log_truth, log_cm, labels) + 0.01 * nn.trace_penalty(log_cm, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
error = (log_cm[0].exp().detach().numpy() - cms) ** 2
print(f"{(log_truth.argmax(1).numpy() == truth).mean():.0%} right; CM error {error.mean() * 4:.4f}")
