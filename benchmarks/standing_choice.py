"""How good `auto` becomes, by each way to let a rater's own label stand against the heads.

    python benchmarks/standing_choice.py [--seeds 50,51] [--jobs 2]

Regimes of the arena with one label per image, as they are and `few`: *alike*, where labels had
better stand, and those in which many must not. Compared are the weight of the jury, which agreement
where raters disagree is part of (as it was), `multirater.training.standing` (as it is), labels that
always stand, and a network on the labels. Dice on unseen images; the table goes to
benchmarks/results/standing_choice.md.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from arena_ways import compare_ways, trained
from grid import Job
from multirater.training import weighing
from multirater.training.pixels import Pixels

REGIMES = ("alike", "noisy", "multi-class", "real texture")
Array = NDArray[np.float64]


def by_weight(_: Pixels, weight: Array, log_evidence: Array) -> Array:
    """Let labels stand as far as their raters are followed."""
    return np.asarray(weight / weight.max())


def always(_: Pixels, weight: Array, log_evidence: Array) -> Array:
    """Let every label stand."""
    return np.ones(len(weight))


WAYS = {"by weight": by_weight, "standing": weighing.standing, "always": always}


def work(job: Job) -> dict[str, Any]:
    """Train one network of the arena."""
    with patch.object(weighing, "standing", WAYS.get(job["way"], always)):
        return trained(job, "mode" if job["way"] == "mode" else "auto")


def main() -> None:
    """Run what is missing, and write the table."""
    compare_ways("standing_choice", "Labels that stand", work, REGIMES, (*WAYS, "mode"))


if __name__ == "__main__":
    main()
