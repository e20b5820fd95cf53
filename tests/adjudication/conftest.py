"""Small studies of every kind, and desks to decide them at."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from multirater import dataset_from_arrays, read_dataset, write_dataset
from multirater.adjudication.server import make_desk, make_server

SIDE = 24


def squares(n=4):
    """Three raters draw a square of 8; bert a column more, cleo also a spot far away.

    The later the case, the larger is what bert adds; the last one is not disputed.
    """
    labels = np.zeros((n, 3, SIDE, SIDE), dtype=np.int16)
    labels[:, :, 8:16, 8:16] = 1
    for case in range(n - 1):
        labels[case, 1, 8:16, 16 : 17 + 2 * case] = 1
        labels[case, 2, 2:4, 2:4] = 1
    random = np.random.default_rng(0)
    return dataset_from_arrays(
        labels,
        images=random.integers(0, 255, (n, 1, SIDE, SIDE)).astype(np.uint8),
        raters=["anna", "bert", "cleo"],
        cases=[f"s{number}" for number in range(n)],
    )


def balls(n=2):
    """Volumes with slices twice as far apart as pixels, and two classes beside background."""
    z, y, x = np.indices((6, 16, 20))
    far = np.sqrt(((z - 3) * 2) ** 2 + (y - 8) ** 2 + (x - 9) ** 2)
    true = (far < 6).astype(np.int16) + (far < 3)
    labels = np.stack([true, np.maximum(true, np.roll(true, 1, 2)), np.where(true == 2, 1, true)])
    return dataset_from_arrays(
        np.stack([labels] * n),
        images=np.stack([true * 70 + 20] * n)[:, None].astype(np.int16),
        raters=["anna", "bert", "cleo"],
        cases=[f"v{number}" for number in range(n)],
    )


def animals():
    """What three raters call five animals; of the last they say the same."""
    said = [("cat", "dog", "dog"), ("cat", "cat", "owl"), ("owl", "dog", "cat")]
    said += [("dog", "owl", "owl"), ("cat", "cat", "cat")]
    return pd.DataFrame(
        [
            (f"a{number}", rater, label)
            for number, answers in enumerate(said)
            for rater, label in zip(("anna", "bert", "cleo"), answers, strict=True)
        ],
        columns=["case", "rater", "label"],
    )


@pytest.fixture
def studies(tmp_path):
    """Folders of studies by kind."""
    write_dataset(squares(), tmp_path / "masks")
    write_dataset(balls(), tmp_path / "volumes", suffix=".nii.gz")
    (tmp_path / "classes").mkdir()
    animals().to_csv(tmp_path / "classes" / "manifest.csv", index=False)
    return {kind: tmp_path / kind for kind in ("masks", "volumes", "classes")}


@pytest.fixture
def desk_of(studies, tmp_path):
    """Open desks one after the other or at once; they are closed at the end."""

    @contextmanager
    def opened(kind):
        with make_desk(read_dataset(studies[kind]), tmp_path / f"gold-{kind}") as desk:
            yield desk

    return opened


@pytest.fixture
def served(desk_of):
    """Serve a desk; yields the desk, and the address of its page."""

    @contextmanager
    def serving(kind):
        with desk_of(kind) as desk:
            server = make_server(desk)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                yield desk, f"http://127.0.0.1:{server.server_address[1]}/{desk.token}/"
            finally:
                server.shutdown()
                server.server_close()

    return serving
