"""Runs on several devices."""

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from multirater.io import write_dataset


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("masks", "cm"),
        ("masks", "coarse"),
        ("masks", "prism"),
        ("classes", "cm"),
        ("classes", "agg-net"),
    ],
)
def test_two_processes_take_the_same_steps_as_one(studies, tmp_path, kind, method):
    data = one_label_each(studies[kind]) if kind == "classes" else studies[kind]
    write_dataset(data, tmp_path / "data")
    script = textwrap.dedent(
        """
        import json, sys
        from multirater.io import read_dataset
        from multirater.training import TrainConfig, train
        settings = dict(n_features=4, epochs=2, batch_size=4, accelerator="cpu")
        settings |= json.loads(sys.argv[4])
        config = TrainConfig(devices=int(sys.argv[3]), **settings)
        train(read_dataset(sys.argv[1]), sys.argv[2], config)
        """
    )
    (tmp_path / "go.py").write_text(script)
    curves = []
    for devices in (1, 2):
        target = tmp_path / f"on-{devices}"
        more = {"method": method, "channels": [4, 8]}
        if kind == "classes":
            more["backbone_options"] = {"channels": [4, 4]}
        command = [sys.executable, "go.py", "data", target, str(devices), json.dumps(more)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        curves.append(pd.read_csv(target / "curves.csv"))
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
