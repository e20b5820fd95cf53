from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from multirater import dataset_from_arrays, read_dataset, write_dataset
from multirater.io import write_image, write_label
from multirater.io.naming import file_names
from multirater.report.figures import CaseView
from multirater.report.subject import Result, Subject
from multirater.types import Classes, Image, LabelMap


@pytest.fixture
def classes():
    return Classes.numbered(2)


@pytest.fixture
def view():
    """A square drawn in three sizes, as fused, as true and as a network sees it."""
    labels = {name: _square(side) for name, side in (("anna", 6), ("bert", 8), ("cleo", 10))}
    rng = np.random.default_rng(0)
    foreground = rng.uniform(size=(20, 24))
    confusion = rng.uniform(size=(3, 2, 2, 20, 24))
    return CaseView(
        "p1",
        labels,
        {"staple": _square(9), "network": _square(8)},
        truth=_square(8),
        image=rng.uniform(size=(20, 24)),
        detailed="network",
        probability=np.stack([1 - foreground, foreground]),
        drawn={name: _square(7) for name in labels},
        confusion=dict(zip(labels, confusion / confusion.sum(2, keepdims=True), strict=True)),
    )


def _square(side: int) -> np.ndarray:
    label = np.zeros((20, 24), dtype=np.int16)
    label[4 : 4 + side, 5 : 5 + side] = 1
    return label


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """Three cases of three raters with truth, on disk; raters differ more from case to case."""
    folder = tmp_path_factory.mktemp("figures") / "study"
    labels = np.zeros((3, 3, 24, 24), dtype=np.int16)
    for case in range(3):
        for rater in range(3):
            side = 8 + (rater - 1) * (case + 1)
            labels[case, rater, 3 : 3 + side, 4 : 4 + side] = 1
    data = dataset_from_arrays(
        labels,
        images=np.random.default_rng(0).uniform(size=(3, 24, 24)).astype(np.float32),
        truths=labels[:, 1],
        raters=["anna", "bert", "cleo"],
        cases=["c1", "c2", "c3"],
    )
    write_dataset(data, folder)
    return folder


@pytest.fixture
def predict(tmp_path):
    """Write predictions of a made-up network that knows the raters of a data set."""

    def written(data):
        folder = tmp_path / "predicted"
        rows = [_predict_case(case, f"case{n}", data.raters, folder) for n, case in enumerate(data)]
        pd.DataFrame(rows).to_csv(folder / "manifest.csv", index=False)
        result = Result("network", "predictions", read_dataset(folder))
        return Subject("demo", ("data set", "predictions"), data, (result,))

    return written


def _predict_case(case, stem, raters, folder):
    labels = case.read_labels(raters)
    maps = np.full((4, *labels.array.shape[1:]), 0.5, dtype=np.float32)
    write_label(LabelMap(labels.array[0], labels.geometry), folder / "truth" / f"{stem}.png")
    write_image(Image(maps[:2], labels.geometry), folder / "probability" / f"{stem}.tif")
    for label, name in zip(labels.array, file_names(raters).values(), strict=True):
        write_label(LabelMap(label, labels.geometry), folder / "raters" / name / f"{stem}.png")
        write_image(Image(maps, labels.geometry), folder / "confusion" / name / f"{stem}.tif")
    return {"case": case.name, "rater": "network", "label": f"truth/{stem}.png"}
