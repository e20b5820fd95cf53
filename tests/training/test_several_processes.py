"""Runs on several devices."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from multirater.io import write_dataset
from multirater.training import TrainConfig, train

RUNS = [
    ("masks", "cm"),
    ("masks", "coarse"),
    ("masks", "prism"),
    ("classes", "cm"),
    ("classes", "agg-net"),
]

SCRIPT = """
import json
from multirater.io import read_dataset
from multirater.training import TrainConfig, train

for kind, method, settings in json.load(open("runs.json")):
    train(read_dataset(kind), f"{kind}-{method}", TrainConfig(devices=2, **settings))
"""


def settings_of(kind, method):
    found = {"method": method, "channels": (4, 8), "n_features": 4, "epochs": 2, "batch_size": 4}
    more = {"backbone_options": {"channels": (4, 4)}} if kind == "classes" else {}
    return {**found, **more, "accelerator": "cpu"}


@pytest.fixture(scope="module")
def prepared(studies):
    return {"masks": studies["masks"], "classes": one_label_each(studies["classes"])}


@pytest.fixture(scope="module")
def on_two(prepared, tmp_path_factory):
    """Folder of all runs on two devices, by a script as users would write it."""
    folder = tmp_path_factory.mktemp("on-two")
    for kind, data in prepared.items():
        write_dataset(data, folder / kind)
    runs = [(kind, method, settings_of(kind, method)) for kind, method in RUNS]
    (folder / "runs.json").write_text(json.dumps(runs))
    (folder / "go.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "go.py"],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.mark.parametrize(("kind", "method"), RUNS)
def test_two_processes_take_the_same_steps_as_one(prepared, on_two, tmp_path, kind, method):
    train(prepared[kind], tmp_path / "on-one", TrainConfig(**settings_of(kind, method)))
    folders = tmp_path / "on-one", on_two / f"{kind}-{method}"
    curves = [pd.read_csv(folder / "curves.csv") for folder in folders]
    for name in ("train_nll", "val_nll", "train_trace"):
        one, two = (curve[name].dropna().to_numpy() for curve in curves)
        assert np.allclose(one, two, rtol=1e-4), name


def one_label_each(data):
    """Keep the first label of each case: every process then has as many."""
    cases = tuple(
        replace(case, labels=dict(list(case.labels.items())[:1])) if case.labels else case
        for case in data
    )
    raters = tuple(dict.fromkeys(rater for case in cases for rater in case.labels))
    return replace(data, cases=cases, raters=raters)
