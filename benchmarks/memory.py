"""Peak memory of training and predicting on large images, by the command line.

    python benchmarks/memory.py volumes            four volumes of 512 x 512 x 200, four raters
    python benchmarks/memory.py chase --data DATA  28 photographs of 999 x 960, two observers

Each command is a process of its own with one thread, whose largest resident size is what the
operating system counted. Training is cut to `--minutes`: memory is that of the whole plan, since a
step, describing raters and the trust statement come in every run. Rows are added to
benchmarks/results/memory.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy import ndimage

from grid import RESULTS, current_commit
from multirater.io.formats.images import write_image
from multirater.io.formats.labels import write_label
from multirater.types import Geometry, Image, LabelMap

SHAPE, N_VOLUMES, N_RATERS = (200, 512, 512), 4, 4
HEADING = """# Peak memory on large images

`python benchmarks/memory.py`, one thread, resident size as the operating system counts it.

| study | command | peak GB | CPU minutes | commit |
| --- | --- | --- | --- | --- |
"""


def write_volumes(folder: Path) -> Path:
    """Write CT-like volumes with a ball of low contrast that four raters draw in four sizes.

    Returns:
        The first of them.
    """
    default = Geometry.default(3)
    distance = np.indices(SHAPE, dtype=np.int16) - np.reshape([100, 256, 256], (3, 1, 1, 1))
    for number in range(N_VOLUMES):
        random = np.random.default_rng(number)
        spacing = (1.5, 0.8, 0.8) if number % 2 else (2.0, 0.7, 0.7)
        geometry = Geometry(spacing, default.origin, default.direction)
        middle = random.integers(-20, 20, 3)
        away = np.sqrt(
            sum(
                ((distance[axis] - middle[axis]) * np.float32(spacing[axis])) ** 2
                for axis in range(3)
            )
        )
        image = np.where(away < 40, 110, 60) + ndimage.zoom(
            random.normal(0, 20, (50, 128, 128)).astype(np.float32), 4, order=1
        )
        write_image(
            Image(image[None].astype(np.int16), geometry), folder / "images" / f"c{number}.nii"
        )
        for rater in range(N_RATERS):
            drawn = LabelMap((away < 37 + 2 * rater).astype(np.int16), geometry)
            write_label(drawn, folder / "raters" / f"r{rater}" / f"c{number}.nii")
    return folder / "images" / "c0.nii"


def write_chase(folder: Path, data: Path) -> Path:
    """Import the photographs as a new user would; return the first."""
    _run(
        ["import", "files", str(data / "chase_db1"), "-o", str(folder)],
        ["--image", "{case}.jpg", "--label", "{case}_{rater}.png"],
    )
    return min((data / "chase_db1").rglob("*.jpg"))


def _apart(folder: Path) -> Path:
    """Write the volumes in another process: what this one has taken counts for those it starts."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(write_volumes, folder).result()


def _run(*parts: list[str]) -> tuple[float, float]:
    """Run a command of multirater; return its peak in GB and its CPU minutes."""
    words = [sys.executable, "-m", "multirater", *(word for part in parts for word in part)]
    started = subprocess.Popen(words, env=os.environ | {"OMP_NUM_THREADS": "1"})
    _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_maxrss / 2**20, (used.ru_utime + used.ru_stime) / 60


def _predict(work: Path) -> list[str]:
    return ["predict", str(work / "run"), str(work / "image"), "-o", str(work / "predicted")]


def commands(
    study: Path, image: Path, work: Path, minutes: float
) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands that are measured, as they are said and as they are run."""
    time = ["--time", f"{minutes:g}m"]
    for name, more in (("run", []), ("run4", ["--memory", "4GB"])):
        said = " ".join(["train", "STUDY", *time, *more])
        yield said, ["train", str(study), "-o", str(work / name), *time, *more]
    (work / "image").mkdir()
    shutil.copy(image, work / "image")
    yield "predict RUN IMAGE", _predict(work)


def main() -> None:
    """Make the study, run the commands and add rows to the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=("volumes", "chase"))
    parser.add_argument("--data", type=Path, help="folder of the data, for chase")
    parser.add_argument("--minutes", type=float, default=3.0, help="of each training")
    given = parser.parse_args()
    table = RESULTS / "memory.md"
    if not table.exists():
        table.write_text(HEADING, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study"
        is_volumes = given.study == "volumes"
        image = _apart(study) if is_volumes else write_chase(study, given.data)
        for said, words in commands(study, image, Path(folder), given.minutes):
            peak, minutes = _run(words)
            row = f"| {given.study} | {said} | {peak:.2f} | {minutes:.1f} | {current_commit()} |\n"
            print(row, end="", flush=True)
            with table.open("a", encoding="utf-8") as stream:
                stream.write(row)


if __name__ == "__main__":
    main()
