import numpy as np
import pytest

pytest.importorskip("numba")

import importlib

from multirater.fuse import spatial_blocks
from multirater.fuse.methods import METHODS

module = importlib.import_module("multirater.fuse.spatial_staple")


@pytest.mark.parametrize(
    ("shape", "window", "n_classes", "missing"),
    [
        ((40, 33), 7, 2, 0.0),
        ((40, 33), (5, 61), 3, 0.1),
        ((300,), 9, 2, 0.0),
        ((11, 17, 19), (3, 5, 7), 2, 0.2),
        ((11, 17, 19), 31, 3, 0.0),
    ],
)
@pytest.mark.parametrize("prior", ["local", "frequency"])
def test_blocks_give_what_whole_maps_give(
    shape, window, n_classes, missing, prior, blobs, monkeypatch
):
    _, labels = blobs(1, shape, n_raters=9, n_classes=n_classes)
    labels = labels.astype(np.int8)
    labels[np.random.default_rng(0).random(labels.shape) < missing] = -1
    monkeypatch.setattr(spatial_blocks, "_BLOCK", 1)
    found = []
    for worth in (1 << 62, 0):
        monkeypatch.setattr(module, "_WORTH_COMPILING", worth)
        found.append(METHODS["spatial-staple"](labels, window=window, prior=prior, max_iter=4))
    plain, quick = found
    assert quick.n_iter == plain.n_iter
    assert np.allclose(quick.probability, plain.probability, atol=2e-5)
    assert np.allclose(quick.log_likelihood, plain.log_likelihood, rtol=1e-5)
