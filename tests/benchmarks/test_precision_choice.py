"""Both precisions take the same steps of the same study."""

import numpy as np

import precision_choice
from multirater import dataset_from_arrays


def test_a_run_measures_what_the_tables_show(monkeypatch, tmp_path):
    random = np.random.default_rng(0)
    labels = np.zeros((6, 2, 16, 16), np.uint8)
    labels[:, :, 4:10, 4:10] = 1
    images = labels[:, :1] + 0.1 * random.normal(size=(6, 1, 16, 16))
    splits = ["train"] * 5 + ["test"]
    data = dataset_from_arrays(labels, images=images.astype(np.float32), splits=splits)
    monkeypatch.setattr(precision_choice, "study", lambda *_: data)
    monkeypatch.setenv(precision_choice.DATA, str(tmp_path))
    job = {"study": "made", "method": "mode", "precision": "bf16-mixed", "seed": 0, "epochs": 1}
    found = precision_choice.work(job)
    assert 0 <= found["Dice"] <= 1
    assert found["CPU minutes"] > 0
