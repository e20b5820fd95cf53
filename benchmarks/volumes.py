"""STAPLE and Spatial STAPLE on a volume of 5 x 400 x 512 x 512: memory and CPU time.

    python benchmarks/volumes.py staple|spatial-staple

Raters draw balls of several sizes that lie beside each other. Memory is the peak above what the
process held with the labels and all code loaded, per voxel and rater; Spatial STAPLE makes two
steps.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from fusion import run_compiled, status_bytes
from kept import add_write_option, kept
from multirater import fuse

SHAPE = (400, 512, 512)
N_RATERS = 5


def balls() -> np.ndarray:
    """Labels (n_raters, z, y, x) as int8."""
    z, y, x = (np.arange(side, dtype=np.int32) - side // 2 for side in SHAPE)
    labels = np.empty((N_RATERS, *SHAPE), dtype=np.int8)
    for rater in range(N_RATERS):
        flat = x[None] ** 2 + (y[:, None] + 3 * rater) ** 2
        for plane, height in enumerate(z):
            labels[rater, plane] = flat + height**2 < (120 + 4 * rater) ** 2
    return labels


def main() -> None:
    """Fuse the volume and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("method", choices=("staple", "spatial-staple"))
    add_write_option(parser)
    arguments = parser.parse_args()
    with kept(f"volumes-{arguments.method}", arguments.write):
        measure(arguments.method)


def measure(method: str) -> None:
    """Fuse by a method and print what it took."""
    warnings.simplefilter("ignore")
    run = fuse.staple if method == "staple" else lambda a: fuse.spatial_staple(a, max_iter=2)
    labels = balls()
    run_compiled(lambda: run(labels[:, :16, :16, :16]))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before, start = status_bytes("VmRSS"), time.process_time()
    result = run(labels)
    peak = (status_bytes("VmHWM") - before) / labels.size
    spent = time.process_time() - start
    print(
        f"{method}: {peak:.1f} bytes per voxel and rater, {spent:.1f} CPU s, {result.n_iter} steps"
    )


if __name__ == "__main__":
    main()
