"""Low-rank confusion matrices on a SegResNet of volumes, one truth shared by the raters of a case.

python examples/train_segresnet.py
"""

import torch
from monai.networks.nets import SegResNet

from multirater import nn

torch.manual_seed(0)
image = torch.nn.functional.avg_pool3d(torch.randn(2, 1, 24, 24, 24), 9, 1, 4)
truth = (image[:, 0] > 0.02).long() + (image[:, 0] > 0.05)  # three classes
swapped = torch.tensor([0, 2, 1])[truth]  # one rater mixes up two of them
labels = torch.stack([truth, swapped, truth], dim=1)  # (B, rater, D, H, W)
labels[0, 2] = -1  # the third rater did not label the first volume

network = SegResNet(spatial_dims=3, init_filters=8, in_channels=1, out_channels=8)
truth_head, raters = torch.nn.Conv3d(8, 3, 1), nn.LowRankConfusion(3, n_classes=3, n_features=8)
parts = torch.nn.ModuleList([network, truth_head, raters])
optimizer = torch.optim.Adam(parts.parameters(), lr=1e-2)
for _ in range(30):
    features = network(image)
    log_truth, log_cm = truth_head(features).log_softmax(1), raters(features)
    loss = nn.rater_nll(log_truth, log_cm, labels, likelihood="joint")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{(log_truth.argmax(1) == truth).float().mean():.0%} of the voxels right")
