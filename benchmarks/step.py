"""What a training step costs: ratios to the same U-Net with plain cross-entropy, from one run.

    python benchmarks/step.py [--quick] [--write]

CPU time is the median over steps, the two kinds taking turns, so that whatever else the machine
does weighs on both. Memory is what autograd keeps for the backward pass, counted tensor by tensor;
peak is the most that a step takes in a fresh process, above what the process held before it.

For class labels a second table compares few raters with many: cost must grow with the labels in a
batch, not with the raters in the data set.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch

from children import run as run_child
from fusion import status_bytes
from kept import add_write_option, kept
from multirater.nn.backbone import CHANNELS, build_backbone, n_parameters
from multirater.nn.classifier_backbone import build_classifier_backbone
from multirater.nn.confusion import GlobalConfusion, RaterConfusion
from multirater.nn.pixel_confusion import LowRankConfusion, PixelConfusion
from multirater.nn.prism import PrismNetwork
from multirater.nn.rater_network import ConfusionNetwork, Labelled, RaterNetwork, batch_loss
from multirater.training.batches import collate
from multirater.training.samples import Sample

N_FEATURES = 32
ROWS = (
    "cross-entropy",
    "cm pixel, 5 dense raters",
    "cm pixel, one label",
    "cm pixel, one label of 200 raters",
    "cm global, 5 dense raters",
    "cm low rank 1, 5 dense raters",
)


def build(n_classes: int, confusion=None) -> ConfusionNetwork:
    """The default U-Net with a rater head."""
    torch.manual_seed(0)
    backbone = build_backbone("unet", ndim=2, n_channels=1, n_features=N_FEATURES)
    return ConfusionNetwork(
        backbone, n_features=N_FEATURES, n_classes=n_classes, ndim=2, confusion=confusion
    )


def labels_of(batch: int, n_labels: int, size: int, n_classes: int) -> torch.Tensor:
    """Random labels (batch, n_labels, size, size)."""
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, n_classes, (batch, n_labels, size, size), generator=generator)


def total_loss(model: RaterNetwork, image, groups) -> torch.Tensor:
    """Likelihood and trace of labels grouped by who gave them, as in training."""
    loss = batch_loss(model, image, groups)
    return loss.nll + loss.truth + 0.01 * loss.trace


def step(model: RaterNetwork, image, groups, optimizer) -> None:
    """One step of training."""
    optimizer.zero_grad(set_to_none=True)
    total_loss(model, image, groups).backward()
    optimizer.step()


def kept_bytes(loss: Callable[[], torch.Tensor]) -> int:
    """Bytes that autograd keeps between the forward pass of a loss and the backward pass.

    Each storage counts once, parameters and inputs too.
    """
    seen: dict[int, int] = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        kept = loss()
    del kept
    return sum(seen.values())


def compare(kinds: dict[str, Callable[[], None]], repeats: int) -> dict[str, float]:
    """Median CPU seconds of each kind, in turns."""
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(repeats + 1):
        for name, run in kinds.items():
            start = time.process_time()
            run()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(each[1:]) for name, each in times.items()}


def group(raters, labels: torch.Tensor) -> Labelled:
    """Labels of some raters, as training hands them to a network."""
    truth = torch.full_like(labels[:, 0], -1)
    return Labelled(labels, raters, truth, None, True, "marginal")


def dense(batch: int, n_raters: int, size: int, n_classes: int) -> list[Labelled]:
    """Every rater labels every image."""
    return [group(range(n_raters), labels_of(batch, n_raters, size, n_classes))]


def one_each(batch: int, n_raters: int, size: int, n_classes: int) -> list[Labelled]:
    """One label per image, each by another rater as far as there are enough."""
    labels = labels_of(batch, 1, size, n_classes)
    cases: dict[int, list[int]] = {}
    for case in range(batch):
        cases.setdefault(case * 7 % n_raters, []).append(case)
    return [group((rater,), labels[each]) for rater, each in cases.items()]


def plain(batch: int, size: int, n_classes: int) -> list[Labelled]:
    """One label per image, taken for the truth."""
    return [group((0,), labels_of(batch, 1, size, n_classes))]


def setup(name: str, batch: int, size: int) -> tuple[ConfusionNetwork, list[Labelled]]:
    """Network and labels of a row of the table."""
    n_classes, n_raters = 4, 200 if "200" in name else 5
    heads = {
        "pixel": partial(PixelConfusion, n_raters, n_classes, N_FEATURES),
        "global": partial(GlobalConfusion, n_raters, n_classes),
        "low rank": partial(LowRankConfusion, n_raters, n_classes, N_FEATURES),
    }
    head = next((make() for kind, make in heads.items() if kind in name), None)
    if head is None:
        return build(n_classes), plain(batch, size, n_classes)
    supply = dense if "dense" in name else one_each
    return build(n_classes, head), supply(batch, n_raters, size, n_classes)


def class_step(n_raters: int, n_labels: int) -> Callable[[], None]:
    """A step on a batch of 64 images of 28 x 28 with labels of ten classes, batch made anew."""
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    backbone = build_classifier_backbone("cnn", n_channels=1, space=(28, 28), n_features=64)
    model = ConfusionNetwork(
        backbone,
        n_features=64,
        n_classes=10,
        ndim=0,
        confusion=RaterConfusion(n_raters, 10),
    )
    samples = [
        Sample(
            random.normal(size=(1, 28, 28)).astype(np.float32),
            random.integers(0, 10, n_labels).astype(np.int16),
            tuple(random.choice(n_raters, n_labels, replace=False).tolist()),
            np.array(-1, dtype=np.int16),
        )
        for _ in range(64)
    ]
    optimizer = torch.optim.Adam(model.parameters())

    def run() -> None:
        batch = collate(samples)
        (labels,) = batch.groups
        step(model, batch.image, [group(labels.raters, labels.labels)], optimizer)

    return run


def print_class_table(repeats: int) -> None:
    """Speed of class labels by the number of raters, relative to five."""
    runs = {
        f"{n_labels} of {n_raters} raters": class_step(n_raters, n_labels)
        for n_labels in (1, 5)
        for n_raters in (5, 1000)
    }
    seconds = compare(runs, repeats)
    print("\nclass labels, batch 64, 28 x 28, 10 classes")
    print(f"{'labels per image':36}{'CPU s':>8}{'speed':>8}")
    for name, took in seconds.items():
        few = seconds[f"{name.split()[0]} of 5 raters"]
        print(f"{name:36}{took:8.3f}{few / took:7.2f}x")
    print("target: 1000 raters at 0.8x the speed of 5 or more")


def peak_bytes(name: str, quick: bool) -> int:
    """Run this script in a fresh process that takes one step; bytes at its peak."""
    command = [sys.executable, __file__, "--peak-of", name, *(["--quick"] if quick else [])]
    done = run_child(command, capture_output=True, text=True)
    return int(done.stdout.split()[-1])


def print_peak(name: str, batch: int, size: int) -> None:
    """The fresh process: a small step to load everything, then forget the peak, then a step."""
    model, groups = setup(name, 1, 32)
    optimizer = torch.optim.Adam(model.parameters())
    step(model, torch.randn(1, 1, 32, 32), groups, optimizer)
    groups = setup(name, batch, size)[1]
    image = torch.randn(batch, 1, size, size)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = status_bytes("VmRSS")
    step(model, image, groups, optimizer)
    print(status_bytes("VmHWM") - before)


def print_prism(repeats: int) -> None:
    """Print what MrPrism costs beside the plain U-Net: 128 x 128, 7 raters, batch 4."""
    batch, size, n_raters = 4, 128, 7
    image = torch.randn(batch, 1, size, size)
    torch.manual_seed(0)
    prism = PrismNetwork(n_channels=1, n_raters=n_raters, n_classes=2, ndim=2, channels=CHANNELS)
    setups = {
        "cross-entropy": (build(2), plain(batch, size, 2)),
        "prism": (prism, dense(batch, n_raters, size, 2)),
    }
    runs = {}
    for name, (model, groups) in setups.items():
        optimizer = torch.optim.Adam(model.parameters())
        runs[f"{name}, step"] = partial(step, model, image, groups, optimizer)
        runs[f"{name}, prediction"] = partial(predict, model, image)
    seconds = compare(runs, repeats)
    print(
        f"\nprism and the plain U-Net, batch {batch}, {size} x {size}, {n_raters} raters, 2 classes"
    )
    for kind, most in (("step", 6), ("prediction", 4)):
        one, other = seconds[f"prism, {kind}"], seconds[f"cross-entropy, {kind}"]
        print(f"{kind:12}{one:8.2f} CPU s{one / other:7.2f}x  (target: at most {most}x)")


@torch.inference_mode()
def predict(model: RaterNetwork, image: torch.Tensor) -> None:
    """Predict the truth of a batch."""
    model.eval()
    model.outputs(image)
    model.train()


def print_steps(rows: Sequence[str], batch: int, size: int, repeats: int, *, quick: bool) -> None:
    """Print what a step of drawings costs."""
    image = torch.randn(batch, 1, size, size)
    print(f"torch {torch.__version__}, batch {batch}, {size} x {size}, 4 classes")
    setups = {name: setup(name, batch, size) for name in rows}
    runs = {}
    for name, (model, groups) in setups.items():
        optimizer = torch.optim.Adam(model.parameters())
        runs[name] = partial(step, model, image, groups, optimizer)
    seconds = compare(runs, repeats)
    memory = {
        name: kept_bytes(partial(total_loss, model, image, groups))
        for name, (model, groups) in setups.items()
    }
    peak = {name: peak_bytes(name, quick) for name in rows}
    base = ROWS[0]
    print(f"{'':36}{'CPU s':>8}{'time':>8}{'memory':>8}{'peak':>8}{'parameters':>12}")
    for name, (model, _) in setups.items():
        print(
            f"{name:36}{seconds[name]:8.2f}{seconds[name] / seconds[base]:7.2f}x"
            f"{memory[name] / memory[base]:7.2f}x{peak[name] / peak[base]:7.2f}x"
            f"{n_parameters(model):12d}"
        )
    print("targets: 5 dense raters 1.15x time and 1.3x memory; one label 1.1x time")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller images, fewer repeats")
    parser.add_argument("--peak-of", help=argparse.SUPPRESS)
    parser.add_argument("--dense-only", action="store_true", help="five dense raters alone")
    add_write_option(parser)
    arguments = parser.parse_args()
    batch, size, repeats = (4, 96, 3) if arguments.quick else (8, 192, 5)
    if arguments.peak_of:
        print_peak(arguments.peak_of, batch, size)
        return
    rows = ROWS[:2] if arguments.dense_only else ROWS
    with kept("step", arguments.write):
        print_steps(rows, batch, size, repeats, quick=arguments.quick)
        if not arguments.dense_only:
            print_prism(repeats)
            print_class_table(10 if arguments.quick else 40)


if __name__ == "__main__":
    main()
