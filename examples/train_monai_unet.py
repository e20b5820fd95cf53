"""Confusion matrices per pixel on a MONAI U-Net, with warm-up and trace penalty.

python examples/train_monai_unet.py
"""

import torch
from monai.networks.nets import UNet

from multirater import nn, samples, simulate

data = simulate.simulate_dataset(samples.digits_dataset(n_train=64, n_test=0), seed=0)
image = torch.stack([torch.tensor(case.read_image().array / 255.0).float() for case in data])
labels = torch.stack([torch.tensor(case.read_labels().array).long() for case in data])

torch.manual_seed(0)
network = UNet(2, in_channels=1, out_channels=16, channels=(16, 32, 64), strides=(2, 2))
truth, raters = torch.nn.Conv2d(16, 2, 1), nn.PixelConfusion(5, n_classes=2, n_features=16)
optimizer = torch.optim.Adam(torch.nn.ModuleList([network, truth, raters]).parameters(), lr=1e-2)
for step in range(40):
    features = network(image)  # (B, 16, H, W)
    log_truth = truth(features).log_softmax(1)
    loss = nn.plain_nll(log_truth, labels)  # warm-up: matrices fixed to the identity
    if step >= 20:
        log_cm = raters(features)  # (B, rater, true, observed, H, W)
        loss = nn.rater_nll(log_truth, log_cm, labels) + 0.01 * nn.trace_penalty(log_cm, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.3f} nats per label; mean trace {nn.trace_penalty(log_cm, labels):.2f}")
