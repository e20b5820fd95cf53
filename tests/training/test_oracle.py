"""The oracle for class labels knows every rater's matrix beforehand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import dataset_from_arrays
from multirater.simulate import SimulatedRater, hammer_spammer_cm, simulate_dataset
from multirater.training import TrainConfig, read_run, train
from multirater.training.oracle import true_matrices
from multirater.types import Classes


@pytest.fixture(scope="module")
def known():
    """Items of three classes, told apart by one feature each, with simulated raters."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 3, 240)
    features = np.eye(3)[truth] + 0.1 * random.standard_normal((240, 3))
    plain = dataset_from_arrays(
        truth[:, None], images=features, classes=Classes.numbered(3), raters=["somebody"]
    )
    cases = tuple(replace(case, truth=case.labels["somebody"]) for case in plain)
    raters = [SimulatedRater("hammer-spammer", 0.8), SimulatedRater("adversarial", 0.1)]
    return simulate_dataset(replace(plain, cases=cases), raters, seed=0)


def test_simulated_raters_are_known_exactly(known):
    told = json.loads(known[0].simulated["hammer-spammer"])
    found = true_matrices(known.cases, known.raters, 3)
    np.testing.assert_allclose(found[0], hammer_spammer_cm(3, 0.8, seed=told["seed"]))


@pytest.mark.parametrize(
    "told",
    [
        "x",
        "[]",
        '{"kind": "no"}',
        '{"kind": "hammer-spammer", "p": 0.5, "n_classes": 1000000, "seed": 0}',
        '{"kind": "hammer-spammer", "p": 2, "n_classes": 3, "seed": 0}',
    ],
)
def test_what_no_simulation_says_is_refused(known, told):
    cases = [replace(case, simulated=dict.fromkeys(known.raters, told)) for case in known]
    with pytest.raises(InputError, match="column simulated is"):
        true_matrices(cases, known.raters, 3)


def test_other_raters_are_counted(known):
    anonymous = [replace(case, simulated={}) for case in known]
    found = true_matrices(anonymous, known.raters, 3)
    np.testing.assert_allclose(found, true_matrices(known.cases, known.raters, 3), atol=0.15)
    np.testing.assert_allclose(found.sum(2), 1)
    with pytest.raises(InputError, match="no truth to know raters by"):
        true_matrices([replace(anonymous[0], truth=None)], known.raters, 3)


def test_a_network_is_given_them_and_keeps_them(known, tmp_path):
    train(known, tmp_path / "run", TrainConfig(method="oracle", epochs=2, accelerator="cpu"))
    _, __, network = read_run(tmp_path / "run")
    expected = true_matrices(known.cases, known.raters, 3)
    np.testing.assert_allclose(network.matrices.numpy(), expected, atol=1e-5)


def test_rounds_of_em_are_chosen():
    from multirater.nn.em import GeneralizedEM, ModelBootstrappedEM
    from multirater.training.em import first_count, rounds_of

    def config(**options):
        return TrainConfig(method="gem", epochs=12, options=options)

    assert [rounds_of(kind, config()) for kind in (GeneralizedEM, ModelBootstrappedEM)] == [5, 2]
    assert rounds_of(GeneralizedEM, config(rounds=3)) == 3
    assert first_count(GeneralizedEM, config(rounds=3)) == 3
    assert rounds_of(GeneralizedEM, config(rounds=99)) == 12
    with pytest.raises(InputError, match="option rounds = -1"):
        rounds_of(GeneralizedEM, config(rounds=-1))


def test_the_trace_counts_once_per_image_if_asked_to(known, tmp_path):
    import torch

    from multirater.nn.rater_network import Labelled

    shares = {"epochs": 1, "accelerator": "cpu", "method": "cm"}
    traces = {}
    for per in ("label", "image"):
        folder = tmp_path / per
        train(known, folder, TrainConfig(**shares, options={"trace_per": per}))
        _, __, network = read_run(folder)
        labels = torch.zeros(4, 2, dtype=torch.int64)
        labelled = Labelled(labels, range(2), torch.zeros(4), None, True, "joint")
        network.trace_per_image = per == "image"
        traces[per] = float(network.loss(network.features(torch.zeros(4, 3)), labelled).trace)
        if per == "image":
            assert read_run(folder)[2].trace_per_image
    assert traces["image"] == pytest.approx(traces["label"] / 2, rel=0.2)
