"""Large steps are computed in halves where the processor multiplies them, and said so."""

import numpy as np
import pytest
import torch

from multirater import dataset_from_arrays
from multirater.training import TrainConfig, precision, train
from multirater.training.config import DEFAULTS
from multirater.training.precision import HALF, WHOLE, computing_in, usual_precision
from multirater.training.run_folder import read_run


@pytest.fixture
def able(monkeypatch):
    """Let the processor have an ability, or none."""

    def of(**found):
        monkeypatch.setattr(precision.torch.cpu, "get_capabilities", lambda: found, raising=False)

    return of


@pytest.mark.parametrize(
    ("found", "expected"),
    [({"avx512_bf16": True}, HALF), ({"amx_bf16": True}, HALF), ({"avx2": True}, WHOLE)],
)
def test_the_processor_decides(able, found, expected):
    able(**found)
    assert usual_precision((192, 192), 2) == expected


@pytest.mark.parametrize(
    ("size", "batch_size"), [((28, 28), 16), ((64, 64, 64), 2), ((16, 4096), 4), ((128, 128), 2)]
)
def test_volumes_small_steps_and_thin_images_are_computed_whole(able, size, batch_size):
    able(avx512_bf16=True)
    assert usual_precision(size, batch_size) == WHOLE


def test_a_torch_that_does_not_tell_computes_in_whole_numbers(monkeypatch):
    monkeypatch.delattr(precision.torch.cpu, "get_capabilities", raising=False)
    assert usual_precision((192, 192), 2) == WHOLE


@pytest.mark.parametrize(("kind", "expected"), [(HALF, torch.bfloat16), (WHOLE, torch.float32)])
def test_convolutions_are_computed_in_it(kind, expected):
    convolution = torch.nn.Conv2d(1, 1, 3)
    with computing_in(kind):
        assert convolution(torch.ones(1, 1, 8, 8)).dtype == expected


def squares(side, n_cases=4):
    """Bright squares that two raters drew."""
    images = np.random.default_rng(0).normal(size=(n_cases, 1, side, side)).astype(np.float32)
    labels = np.zeros((n_cases, 2, side, side), np.uint8)
    labels[:, :, 4:12, 4:12] = 1
    images[:, 0, 4:12, 4:12] += 3
    return dataset_from_arrays(labels, images=images)


@pytest.mark.parametrize(
    ("side", "asked", "expected"),
    [(128, None, HALF), (128, WHOLE, WHOLE), (16, None, WHOLE), (16, HALF, HALF)],
)
def test_large_steps_alone_and_only_where_nothing_was_asked_for(
    tmp_path, able, side, asked, expected
):
    able(avx512_bf16=True)
    config = TrainConfig(method="mode", epochs=1, channels=(4, 8), precision=asked)
    train(squares(side), tmp_path / "run", config)
    assert read_run(tmp_path / "run")[0].precision == expected


def test_every_task_has_one():
    assert {defaults["precision"] for defaults in DEFAULTS.values()} == {WHOLE}
