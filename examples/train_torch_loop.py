"""Confusion matrices on your own network, in a plain torch loop; one label per image.

python examples/train_torch_loop.py
"""

import torch

from multirater import nn, samples, simulate

data = samples.digits_dataset(n_train=100, n_test=0)
data = simulate.simulate_dataset(data, supply="one", seed=0)
image = torch.stack([torch.tensor(case.read_image().array / 255.0).float() for case in data])
labels = torch.stack([torch.tensor(case.read_labels(data.raters).array).long() for case in data])

torch.manual_seed(0)
network = torch.nn.Sequential(torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU())
truth, raters = torch.nn.Conv2d(16, 2, 1), nn.GlobalConfusion(n_raters=5, n_classes=2)
optimizer = torch.optim.Adam(torch.nn.ModuleList([network, truth, raters]).parameters(), lr=3e-2)
for _ in range(80):
    features = network(image)  # (B, 16, H, W)
    log_truth, log_cm = truth(features).log_softmax(1), raters(features)
    loss = nn.rater_nll(log_truth, log_cm, labels)  # labels: (B, 5, H, W), -1 where missing
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for rater, share in zip(data.raters, log_cm[0, :, 1, 1].detach().exp().flatten(), strict=True):
    print(f"{rater} draws {share:.0%} of the digit")
