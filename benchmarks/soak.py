"""Whether memory stays flat over many rounds of fuse, train, predict and report in one process.

    python benchmarks/soak.py [--minutes 60] [--rounds 1000] [--write]

Every round makes a small study of digits with other raters, fuses it, trains two epochs, predicts
and writes the page. After it the resident size is told (Linux). The first rounds load what is
loaded late; growth is told from the fourth on, by a straight line through what follows. The loop
ends after so many minutes or rounds, whichever comes first.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import logging
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from kept import add_write_option, kept
from multirater import (
    TrainConfig,
    fuse_dataset,
    predict,
    read_dataset,
    train,
    write_dataset,
    write_report,
)
from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset

WARM_UP = 3
"""Rounds that are not counted."""


def one_round(folder: Path, seed: int) -> None:
    """Go through a study from raters to page."""
    truth = digits_dataset(n_train=24, n_test=8)
    write_dataset(simulate_dataset(truth, seed=seed), folder / "data")
    data = read_dataset(folder / "data")
    fuse_dataset(data.split("train"), folder / "fused")
    config = TrainConfig(
        method="mode", channels=(8, 16), epochs=2, batch_size=8, accelerator="cpu", seed=seed
    )
    train(data, folder / "run", config)
    predict(folder / "run", data.split("test"), folder / "predictions")
    write_report([folder / "data", folder / "fused", folder / "run"], folder / "report.html")


def resident() -> float:
    """Return the resident size of this process in megabytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise LookupError("VmRSS")


def main() -> None:
    """Loop, print the size after each round, and the growth at the end."""
    parser = argparse.ArgumentParser(description="Memory over many rounds.")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=1000)
    add_write_option(parser)
    arguments = parser.parse_args()
    with kept("soak", arguments.write):
        soak(arguments.minutes, arguments.rounds)


def soak(minutes: float, rounds: int) -> None:
    """Go round until the time or the rounds are over."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    sizes: list[float] = []
    end = time.monotonic() + 60 * minutes
    while len(sizes) < rounds and time.monotonic() < end:
        silent = contextlib.redirect_stderr(io.StringIO())
        with tempfile.TemporaryDirectory() as folder, silent:
            one_round(Path(folder), seed=len(sizes))
        gc.collect()
        sizes.append(resident())
        print(f"round {len(sizes)}: {sizes[-1]:.0f} MB", flush=True)
    counted = np.array(sizes[WARM_UP:])
    if len(counted) > 2:
        slope = np.polyfit(np.arange(len(counted)), counted, 1)[0]
        print(f"{slope:+.2f} MB per round over {len(counted)} rounds after {WARM_UP}")


if __name__ == "__main__":
    main()
