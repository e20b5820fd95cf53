"""Data sets of every kind that a report has to cope with."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from multirater import dataset_from_arrays, write_dataset
from multirater.samples import digits_dataset
from multirater.simulate import SimulatedRater, parse_rater, simulate_dataset
from multirater.types import Classes, LabelClass

WICKED_RATER = "<script>window.owned = 1</script>"
WICKED_CASE = '</script><img src=x onerror="window.owned = 2">'


def without(dataset, *parts):
    cases = tuple(replace(case, **dict.fromkeys(parts)) for case in dataset)
    return replace(dataset, cases=cases)


def digits(n=8, raters=None, supply="dense"):
    truth = digits_dataset(n_train=n, n_test=0)
    if raters is None:
        return simulate_dataset(truth, seed=3, supply=supply)
    return simulate_dataset(truth, raters, seed=3, supply=supply)


def several(n):
    """Raters of several habits, none alike."""
    kinds = ("over", "good", "under", "wrong")
    return [parse_rater(f"{kinds[i % 4]}:{0.2 + 0.8 * i / n:.3f}") for i in range(n)]


def ball_volumes(n=3):
    """Two nested balls in volumes with slices 2.5 times as far apart as pixels."""
    z, y, x = np.indices((10, 32, 40))
    true = []
    for case in range(n):
        far = np.sqrt(((z - 5) * 2.5) ** 2 + (y - 15) ** 2 + (x - 18 - case) ** 2)
        true.append((far < 11).astype(int) + (far < 5))
    truth = np.array(true)
    larger = np.stack([np.maximum(v, np.roll(v, 1, 2)) for v in truth])
    labels = np.stack([truth, larger, np.where(truth == 2, 1, truth)], axis=1)
    labels[0, 2] = -1
    names = ("background", "oedema", "core")
    return dataset_from_arrays(
        labels,
        images=(truth * 70 + 20)[:, None].astype(np.int16),
        raters=["anna", "bert", "cleo"],
        classes=Classes(tuple(LabelClass(name) for name in names)),
    )


def write_class_labels(folder, *, wicked=False):
    """Digits that four people named, with their images; no truth."""
    from PIL import Image

    rng = np.random.default_rng(0)
    raters = {"anna": 0.95, "bert": 0.8, WICKED_RATER if wicked else "cleo": 0.5, "dora": 0.9}
    (folder / "images").mkdir(parents=True)
    rows = []
    for number in range(24):
        name = WICKED_CASE if wicked and number == 0 else f"p{number:02}"
        file = f"images/{number}.png"
        Image.fromarray(rng.integers(0, 255, (20, 20)).astype(np.uint8)).save(folder / file)
        for rater, skill in raters.items():
            answer = number % 3 if rng.random() < skill else (number + 1) % 3
            rows.append([name, file, rater, ("cat", "dog", "owl")[answer]])
    with (folder / "manifest.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["case", "image", "rater", "label"])
        writer.writerows(rows)
    return folder


@pytest.fixture(scope="session")
def kinds(tmp_path_factory):
    """Folders of data sets by kind."""
    root = tmp_path_factory.mktemp("kinds")
    forty = [
        parse_rater(f"{('good', 'over', 'under', 'wrong', 'blank')[i % 5]}:{0.3 + 0.1 * (i // 5)}")
        for i in range(40)
    ]
    made = {
        "truth": digits(),
        "no truth": without(digits(), "truth"),
        "no images": without(digits(), "truth", "image"),
        "single rater": without(digits(4, [SimulatedRater("over")]), "truth"),
        "forty raters": digits(12, forty, supply=(6, 12)),
        **{f"{n} raters": without(digits(6, several(n)), "truth") for n in (2, 15, 60)},
    }
    folders = {}
    for name, dataset in made.items():
        folders[name] = root / name.replace(" ", "-")
        write_dataset(dataset, folders[name])
    folders["volumes"] = root / "volumes"
    write_dataset(ball_volumes(), folders["volumes"], suffix=".nii.gz")
    folders["classes"] = write_class_labels(root / "classes")
    folders["wicked"] = write_class_labels(root / "wicked", wicked=True)
    return folders
