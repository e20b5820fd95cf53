"""Fuse masks in memory, and see how far the result can be trusted.

python examples/fuse_arrays.py
"""

import numpy as np

from multirater import fuse, metrics

rng = np.random.default_rng(0)
truth = np.hypot(*np.mgrid[-32:32, -32:32]) < 20
error_rates = [0.05, 0.10, 0.25, 0.40]
masks = np.stack([truth ^ (rng.random(truth.shape) < rate) for rate in error_rates]).astype(int)
masks[3, :, :16] = -1  # the fourth rater did not label the left quarter

for method in (fuse.majority_vote, fuse.staple):
    result = method(masks, raters=["anna", "bert", "carl", "dora"])
    dice = metrics.dice_score(truth.astype(int), result.label)
    print(f"{result.method}: Dice {dice:.3f}, skills {result.skill.round(2)}")
    for message in result.identifiability.messages():
        print("  note:", message)
