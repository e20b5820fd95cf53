"""Fusion against its peers: CPU time, memory, and how both grow.

    python benchmarks/fusion.py [--quick] [--write]

Times are CPU seconds of the process, summed over its threads (`time.process_time`), the least of
several runs; wall-clock seconds stand beside them. Ratios are ratios of CPU time, measured in one
run, so that a busy machine slows both sides. SimpleITK gets its images ready-made: nothing is
charged for conversion. Memory is the peak of a fresh process above what it held with the input
loaded. Masks are blobs whose outline wanders from rater to rater, with a little speckle.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from children import run
from kept import add_write_option, kept
from multirater import fuse
from multirater.patterns import encode_patterns

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Time:
    """CPU and wall-clock seconds of the quickest run."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Sizes:
    """How large the problems are."""

    cube: int
    plane: int
    spatial_cube: int
    tasks: int
    many_tasks: int
    steps: int
    repeat: int


FULL = Sizes(
    cube=128, plane=512, spatial_cube=256, tasks=100_000, many_tasks=1_000_000, steps=20, repeat=5
)
QUICK = Sizes(
    cube=64, plane=512, spatial_cube=96, tasks=10_000, many_tasks=100_000, steps=10, repeat=3
)


def quickest(function: Callable[[], Any], repeat: int) -> Time:
    """Run a function several times; least CPU and least wall-clock time."""
    cpu, wall = [], []
    for _ in range(repeat):
        before = time.process_time(), time.perf_counter()
        function()
        cpu.append(time.process_time() - before[0])
        wall.append(time.perf_counter() - before[1])
    return Time(min(cpu), min(wall))


# --- problems -------------------------------------------------------------------------------------


def smooth_field(rng: np.random.Generator, side: int, width: float, n_axes: int = 3) -> np.ndarray:
    """A smooth random field over a cube or square, mean 0, spread 1; `width` in voxels."""
    from scipy.ndimage import gaussian_filter, zoom

    noise = rng.normal(size=(-(-side // 4),) * n_axes).astype(np.float32)
    field = zoom(gaussian_filter(noise, width / 4), 4, order=1)[(slice(side),) * n_axes]
    return (field - field.mean()) / field.std()


def rater_masks(
    side: int, n_raters: int, n_classes: int, *, n_axes: int = 3, seed: int = 0
) -> np.ndarray:
    """Labels (n_raters, side, ...) of raters who agree but for outlines and speckle."""
    rng = np.random.default_rng(seed)
    height = smooth_field(rng, side, side / 16, n_axes)
    cuts = np.linspace(0.5, 1.7, n_classes - 1) if n_classes > 2 else np.array([1.0])
    labels = np.empty((n_raters, *height.shape), dtype=np.uint8)
    for label in labels:
        drawn = height + rng.uniform(0.1, 0.4) * smooth_field(rng, side, side / 32, n_axes)
        label[...] = np.digitize(drawn, cuts + rng.normal(0, 0.05))
        speckle = rng.random(label.shape, dtype=np.float32) < 0.005
        label[speckle] = rng.integers(0, n_classes, int(speckle.sum()))
    return labels


def crowd_table(
    n_tasks: int, n_raters: int, n_classes: int, *, n_answers: int = 5, seed: int = 0
) -> pd.DataFrame:
    """Answers of a crowd: every task by `n_answers` raters, right 40 to 95 % of the time."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, (n_tasks, 1), dtype=np.int32)
    skill = rng.uniform(0.4, 0.95, n_raters)
    steps = rng.integers(1, n_raters // n_answers, (n_tasks, n_answers), dtype=np.int32)
    first = rng.integers(0, n_raters, (n_tasks, 1), dtype=np.int32)
    rater = (first + steps.cumsum(1, dtype=np.int32)) % np.int32(n_raters)
    guess = rng.integers(0, n_classes, rater.shape, dtype=np.int32)
    label = np.where(rng.random(rater.shape) < skill[rater], truth, guess)
    task = np.repeat(np.arange(n_tasks, dtype=np.int32), n_answers)
    return pd.DataFrame({"task": task, "worker": rater.ravel(), "label": label.ravel()})


# --- speed against peers --------------------------------------------------------------------------


def compare_staple(sizes: Sizes) -> list[list[str]]:
    """Binary STAPLE and multi-class STAPLE against SimpleITK."""
    import SimpleITK

    rows = []
    for n_classes, peer, target in ((2, "STAPLE", 300), (4, "MultiLabelSTAPLE", 200)):
        labels = rater_masks(sizes.cube, 5, n_classes)
        images = [SimpleITK.GetImageFromArray(label) for label in labels]
        theirs_filter = getattr(SimpleITK, f"{peer}ImageFilter")()
        if peer == "STAPLE":
            theirs_filter.SetForegroundValue(1)
        warm_up(lambda labels=labels: fuse.staple(labels))
        ours = quickest(lambda labels=labels: fuse.staple(labels), 8 * sizes.repeat)
        theirs = quickest(lambda run=theirs_filter.Execute, images=images: run(images), 2)
        name = f"5 raters, {sizes.cube}^3, {n_classes} classes: SimpleITK {peer}"
        rows.append(ratio_row(name, ours, theirs, target))
    return rows


def compare_dawid_skene(sizes: Sizes) -> list[list[str]]:
    """Dawid-Skene from a DataFrame against crowd-kit, the same number of steps."""
    from crowdkit.aggregation import DawidSkene

    table = crowd_table(sizes.tasks, 200, 10)
    warm_up(lambda: fuse.dawid_skene(table, max_iter=1))
    ours = quickest(lambda: fuse.dawid_skene(table, max_iter=sizes.steps, tol=-1.0), sizes.repeat)
    theirs = quickest(lambda: DawidSkene(n_iter=sizes.steps, tol=-np.inf).fit(table), 1)
    name = f"{sizes.tasks} tasks x 5, 200 raters, 10 classes, {sizes.steps} steps: crowd-kit"
    return [ratio_row(name, ours, theirs, 50)]


def compare_spatial_staple(sizes: Sizes) -> list[list[str]]:
    """Spatial STAPLE in compiled loops against its form in numpy, which is that of 577380b."""
    labels = rater_masks(sizes.plane, 13, 2, n_axes=2)
    module = import_module("multirater.fuse.spatial_staple")
    warm_up(lambda: fuse.spatial_staple(labels, max_iter=1))
    ours = quickest(lambda: fuse.spatial_staple(labels), 2)
    worth, module._WORTH_COMPILING = module._WORTH_COMPILING, 1 << 62
    theirs = quickest(lambda: fuse.spatial_staple(labels), 1)
    module._WORTH_COMPILING = worth
    return [ratio_row(f"13 raters, {sizes.plane}^2: Spatial STAPLE in numpy", ours, theirs, 5)]


def warm_up(function: Callable[[], Any]) -> None:
    """Call until what is loaded late is loaded: compiled loops are, after enough labels."""
    for _ in range(8):
        function()


def ratio_row(name: str, ours: Time, theirs: Time, target: float) -> list[str]:
    """One line of the table of ratios."""
    ratio = theirs.cpu / ours.cpu
    return [
        name,
        f"{ours.cpu:.4f}",
        f"{ours.wall:.4f}",
        f"{theirs.cpu:.3f}",
        f"{theirs.wall:.3f}",
        f"{ratio:.3g} x",
        f"{theirs.wall / ours.wall:.3g} x",
        f">= {target} x",
        "yes" if ratio >= target else "NO",
    ]


# --- memory ---------------------------------------------------------------------------------------


def measure_memory(sizes: Sizes) -> list[list[str]]:
    """Peak memory of a fresh process above the input."""
    with tempfile.TemporaryDirectory() as folder:
        table_file, labels_file = Path(folder) / "table.npy", Path(folder) / "labels.npy"
        table = crowd_table(sizes.many_tasks, 1000, 10)
        np.save(table_file, table.to_numpy().T)
        n_bytes = peak_of("dawid-skene", table_file)
        side = sizes.spatial_cube
        np.save(labels_file, rater_masks(side, 5, 2).astype(np.int8))
        per_label = peak_of("spatial-staple", labels_file) / (5 * side**3)
    megabytes = n_bytes / MEGABYTE
    return [
        [
            f"Dawid-Skene, {sizes.many_tasks} tasks x 5, 1000 raters, 10 classes",
            f"{megabytes:.0f} MB",
            "< 300 MB",
            "yes" if megabytes < 300 else "NO",
        ],
        [
            f"Spatial STAPLE, 5 raters, {side}^3, int8: per voxel and rater",
            f"{per_label:.1f} bytes",
            "<= 12 bytes",
            "yes" if per_label <= 12 else "NO",
        ],
    ]


def peak_of(what: str, file: Path) -> float:
    """Run this script in a fresh process that fuses the content of a file; bytes above input."""
    command = [sys.executable, __file__, "--peak-of", what, str(file)]
    done = run(command, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def print_peak(what: str, file: Path) -> None:
    """The fresh process: load, forget the peak of loading, fuse, print the new peak."""
    stored = np.load(file)
    if what == "dawid-skene":
        data: Any = pd.DataFrame(dict(zip(("task", "worker", "label"), stored, strict=True)))
        del stored
        small, run = data.iloc[:500], lambda x: fuse.dawid_skene(x, max_iter=5)
    else:
        data = stored
        small, run = data[:, :16, :16, :16], lambda x: fuse.spatial_staple(x, max_iter=2)
    run_compiled(lambda: run(small))  # imports what is imported late
    # Linux: sets the recorded peak back to the present use. Where this is not allowed the peak of
    # loading the input may count as well, never less.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = status_bytes("VmRSS")
    run(data)
    print(status_bytes("VmHWM") - before)


def run_compiled(function: Callable[[], Any]) -> None:
    """Run something small in the compiled loops that only large problems take."""
    modules = [
        import_module(f"multirater.fuse.{name}") for name in ("expectation", "spatial_staple")
    ]
    kept = [module._WORTH_COMPILING for module in modules]
    for module in modules:
        module._WORTH_COMPILING = 0
    function()
    for module, worth in zip(modules, kept, strict=True):
        module._WORTH_COMPILING = worth


def status_bytes(field: str) -> int:
    """A figure from this process's status."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


# --- growth ---------------------------------------------------------------------------------------


def growth(sizes: Sizes) -> list[list[str]]:
    """CPU time of STAPLE over voxels, raters and classes, one varied at a time."""
    half = sizes.cube // 2
    shapes = [(side, 5, 2) for side in (half // 2, half, sizes.cube, sizes.cube * 3 // 2)]
    shapes += [(half, n_raters, 2) for n_raters in (2, 10, 15, 20)]
    shapes += [(half, 5, n_classes) for n_classes in (4, 8, 16)]
    rows = []
    for side, n_raters, n_classes in shapes:
        labels = rater_masks(side, n_raters, n_classes)
        result = fuse.staple(labels, n_classes)
        took = quickest(lambda labels=labels, n=n_classes: fuse.staple(labels, n), sizes.repeat)
        one_step = quickest(
            lambda labels=labels, n=n_classes: fuse.staple(labels, n, max_iter=1), sizes.repeat
        )
        per_step = (took.cpu - one_step.cpu) / max(result.n_iter - 1, 1)
        rows.append(
            [
                f"{side}^3",
                str(n_raters),
                str(n_classes),
                str(len(encode_patterns(labels).rows)),
                str(result.n_iter),
                f"{1000 * took.cpu:.1f}",
                f"{1000 * max(per_step, 0):.2f}",
                f"{1e9 * took.cpu / labels.size:.1f}",
            ]
        )
    return rows


def table_growth(sizes: Sizes) -> list[list[str]]:
    """CPU time of Dawid-Skene over tasks, raters and classes, one varied at a time."""
    most = sizes.many_tasks
    shapes = [(most // 100, 200, 10), (most // 10, 200, 10), (most, 200, 10)]
    shapes += [(most // 10, 20, 10), (most // 10, 2000, 10)]
    shapes += [(most // 10, 200, 2), (most // 10, 200, 40)]
    rows = []
    for n_tasks, n_raters, n_classes in shapes:
        table = crowd_table(n_tasks, n_raters, n_classes)
        took = [
            quickest(lambda t=table, k=steps: fuse.dawid_skene(t, max_iter=k, tol=-1.0), 2).cpu
            for steps in (1, 11)
        ]
        rows.append(
            [
                str(n_tasks),
                str(n_raters),
                str(n_classes),
                f"{1000 * took[0]:.0f}",
                f"{100 * (took[1] - took[0]):.1f}",
            ]
        )
    return rows


# --- printing -------------------------------------------------------------------------------------


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns aligned, the first to the left."""
    widths = [max(len(line[i]) for line in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}")
    for line in [header, *rows]:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print("  " + "  ".join(cells))


def print_versions() -> None:
    """Say what was measured, and on what."""
    names = ("multirater", "numpy", "scipy", "pandas", "SimpleITK", "crowd-kit", "numba")
    print(", ".join(f"{name} {version(name)}" for name in names))
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}")


SPEED = {"staple": compare_staple, "dawid-skene": compare_dawid_skene}
SPEED["spatial-staple"] = compare_spatial_staple


def print_all(sizes: Sizes, only: str = "") -> None:
    """Print every table, or the speed of one method."""
    print_versions()
    if sizes is QUICK:
        print("quick run: the targets are meant for the full sizes")
    print_table(
        "Speed: CPU and wall-clock seconds, least of several runs",
        ["problem: peer", "ours", "wall", "peer", "wall", "ratio", "by wall", "target", "met"],
        [row for name, each in SPEED.items() if only in ("", name) for row in each(sizes)],
    )
    if only:
        return
    print_table(
        "Memory above the input",
        ["problem", "peak", "target", "met"],
        measure_memory(sizes),
    )
    print_table(
        "Growth of STAPLE: CPU time",
        ["voxels", "raters", "classes", "patterns", "steps", "ms", "ms/step", "ns/label"],
        growth(sizes),
    )
    print_table(
        "Growth of Dawid-Skene, 5 answers per task: CPU time",
        ["tasks", "raters", "classes", "ms, one step", "ms per further step"],
        table_growth(sizes),
    )


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description="Fusion against its peers.")
    parser.add_argument("--quick", action="store_true", help="smaller problems, a minute in all")
    parser.add_argument("--peak-of", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", choices=list(SPEED), help="the speed of one method")
    add_write_option(parser)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.peak_of:
        print_peak(arguments.peak_of[0], Path(arguments.peak_of[1]))
        return
    with kept("fusion", arguments.write):
        print_all(QUICK if arguments.quick else FULL, arguments.only)


if __name__ == "__main__":
    main()
