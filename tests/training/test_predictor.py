from dataclasses import replace

import numpy as np
import pytest
import torch

from multirater.errors import InputError
from multirater.io import dataset_from_arrays
from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset
from multirater.training import Predictor, TrainConfig, train
from multirater.training import predictor as module
from multirater.training.posterior import fuse_by_network
from multirater.types import Image, Source

SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 1, "batch_size": 4, "accelerator": "cpu"}


@pytest.fixture(scope="module")
def data():
    return simulate_dataset(digits_dataset(n_train=10, n_test=3), seed=1)


@pytest.fixture(scope="module", params=["cm", "prob-unet", "separate"])
def predictor(request, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / request.param
    train(data, folder, TrainConfig(method=request.param, **SMALL, warmup_epochs=0))
    return Predictor(folder)


def batches_of(predictor, monkeypatch):
    """Keep the shapes that the network gets."""
    shapes = []
    outputs = predictor.network.outputs
    monkeypatch.setattr(
        predictor.network,
        "outputs",
        lambda image, raters: shapes.append(tuple(image.shape)) or outputs(image, raters),
    )
    return shapes


def assert_alike(one, other):
    for name in ("probability", "drawn", "confusion"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert np.allclose(mine, theirs, atol=1e-5), name


def test_together_as_one_by_one(predictor, data, monkeypatch):
    wanted = [0, 3]
    alone = [predictor(case.read_image().array, raters=wanted) for case in data]
    shapes = batches_of(predictor, monkeypatch)
    together = list(predictor.of_cases(data, lambda _: wanted))
    assert shapes == [(13, 1, 28, 28)]
    assert [each.case.name for each in together] == [case.name for case in data]
    for one, other in zip(alone, together, strict=True):
        assert_alike(one, other.prediction)


def test_batches_are_bounded_and_of_one_size_and_the_same_raters(predictor, monkeypatch):
    sizes = [(8, 9), (8, 9), (8, 9), (8, 9), (7, 9), (8, 9), (8, 9)]
    images = [np.full((1, *size), n, dtype=np.float32) for n, size in enumerate(sizes)]
    nobody = [np.empty((0, *size), dtype=np.int16) for size in sizes]
    cases = dataset_from_arrays(nobody, images=images)
    monkeypatch.setattr(module, "_BATCH_PIXELS", 3 * 8 * 9)
    shapes = batches_of(predictor, monkeypatch)
    found = list(predictor.of_cases(cases, lambda case: [1] if case.name == "6" else []))
    assert [shape[0] for shape in shapes] == [3, 1, 1, 1, 1]
    assert [each.prediction.probability.shape[1:] for each in found] == sizes
    assert [each.case.name for each in found] == [str(n) for n in range(7)]


def test_batches_are_smaller_when_more_is_said_of_each_image(predictor, data, monkeypatch):
    # Truth, two raters and their matrices: 2 + 2 * (2 + 4) values per pixel.
    monkeypatch.setattr(module, "_BATCH_VALUES", 3 * 28 * 28 * 14)
    shapes = batches_of(predictor, monkeypatch)
    list(predictor.of_cases(data, lambda _: [0, 1]))
    assert [shape[0] for shape in shapes] == [3, 3, 3, 3, 1]


def test_images_are_read_when_their_turn_comes(predictor, monkeypatch, data):
    monkeypatch.setattr(module, "_BATCH_PIXELS", 2 * 28 * 28)
    taken = []
    found = predictor.of_cases((taken.append(case.name) or case for case in data), lambda _: [])
    next(found)
    assert len(taken) == 2


def test_what_is_wrong_names_the_case(predictor):
    images = np.zeros((2, 3, 8, 8), dtype=np.float32)
    cases = dataset_from_arrays(np.empty((2, 0, 8, 8), dtype=int), images=images, cases=["a", "b"])
    with pytest.raises(InputError, match="case a: 3 channels") as caught:
        list(predictor.of_cases(cases, lambda _: []))
    assert "save the images as those that the network was trained on" in caught.value.faults[0].fix


def test_images_of_another_dimension_are_refused(predictor):
    with pytest.raises(InputError, match="image is 3-D, of size 4 x 28 x 28"):
        predictor(np.zeros((1, 4, 28, 28)))


@pytest.mark.parametrize("pixels", [1, 10**6])
def test_slices_of_volumes_go_through_together(tmp_path_factory, monkeypatch, pixels):
    rng = np.random.default_rng(0)
    images = rng.normal(size=(3, 1, 5, 8, 9)).astype(np.float32)
    data = dataset_from_arrays(rng.integers(0, 2, (3, 2, 5, 8, 9)), images=images)
    folder = tmp_path_factory.mktemp("run") / "slices"
    train(data, folder, TrainConfig(method="cm", view="slices", **SMALL))
    monkeypatch.setattr(module, "_BATCH_PIXELS", pixels)
    predictor = Predictor(folder)
    shapes = batches_of(predictor, monkeypatch)
    (first, *_) = predictor.of_cases(data, lambda _: [1])
    assert shapes[0][0] == (1 if pixels == 1 else 15)
    assert first.prediction.confusion.shape == (1, 2, 2, 5, 8, 9)
    alone = predictor.network.outputs(
        module.torch.from_numpy(module.normalise(images[0])[None, :, 2]), []
    )
    assert np.allclose(
        first.prediction.probability[:, 2], alone.truth[0].detach().numpy(), atol=1e-5
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_a_pixel_that_is_no_number_gives_no_label(run_folders, studies, value):
    """Of probabilities that are NaN the first class would win: an empty mask, without a word."""
    for kind, folder in run_folders.items():
        image = studies[kind][0].read_image()
        spoilt = image.array.astype(np.float64)
        spoilt[0, 5, 5] = value
        source = Source(lambda array=spoilt, geometry=image.geometry: Image(array, geometry))
        case = replace(studies[kind][0], name="spoilt", image=source)
        predictor = Predictor(folder)
        with pytest.raises(InputError, match="case spoilt: image"):
            next(predictor.of_cases([case], lambda _: ()))
        with pytest.raises(InputError, match="image"):
            predictor(spoilt)
        with pytest.raises(InputError, match="case spoilt: image"):
            fuse_by_network(folder, replace(studies[kind], cases=(case,)), folder.parent / "fused")


def test_an_answer_that_is_no_number_is_refused(run_folder, data):
    predictor = Predictor(run_folder)
    with torch.no_grad():
        next(predictor.network.parameters()).fill_(np.nan)
    with pytest.raises(InputError, match="answer is not a number"):
        next(predictor.of_cases(data, lambda _: ()))
