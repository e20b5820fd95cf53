"""How fusion methods fare as raters get worse: simulated raters on built-in digits.

python examples/simulate_and_compare.py
"""

import warnings

import numpy as np

from multirater import fuse, metrics
from multirater.errors import MultiraterWarning
from multirater.samples import digits_dataset
from multirater.simulate import SimulatedRater, simulate_dataset

warnings.simplefilter("ignore", MultiraterWarning)
KINDS = ("good", "over", "under", "wrong", "blank")
digits = digits_dataset(n_train=60, n_test=0)

print("strength  majority vote  STAPLE  STAPLE on disputed pixels")
for strength in (0.25, 0.5, 1.0, 2.0):
    raters = [SimulatedRater(kind, strength) for kind in KINDS]
    data = simulate_dataset(digits, raters, seed=0)
    labels = [case.read_labels(data.raters).array for case in data]
    truths = [case.read_truth().array for case in data]
    results = [
        fuse.majority_vote(labels, 2, pooled=True),
        fuse.staple(labels, 2, pooled=True),
        fuse.staple(labels, 2, pooled=True, disputed_only=True),
    ]
    dice = [np.mean(list(map(metrics.dice_score, truths, each.label))) for each in results]
    print(f"{strength:8.2f}  {dice[0]:13.3f}  {dice[1]:6.3f}  {dice[2]:25.3f}")
