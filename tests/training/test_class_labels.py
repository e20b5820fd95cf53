"""Class labels through training, prediction, fusion and evaluation, and at the edges."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch

from multirater.errors import InputError
from multirater.evaluation import evaluate
from multirater.io import dataset_from_arrays, read_dataset, write_dataset
from multirater.io.gold import with_gold
from multirater.simulate import pairwise_flipper_cm, simulate_class_labels
from multirater.training import Predictor, TrainConfig, predict, read_run, train
from multirater.training.class_evidence import class_evidence
from multirater.training.config import settled
from multirater.training.data import split_cases
from multirater.training.posterior import fuse_by_network
from multirater.types import Classes, Geometry, Image, LabelClass, Source

TINY = {"backbone_options": {"channels": (4, 4)}, "n_features": 8, "batch_size": 8, "epochs": 1}


def config(**changes):
    return TrainConfig(**{"method": "cm", "accelerator": "cpu", **TINY, **changes})


def study(n_cases=40, n_raters=3, n_classes=3, space=(6, 6), skill=0.8, supply="dense", **options):
    """Images whose brightest part is the class, labelled by raters who flip classes."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, n_cases)
    images = rng.normal(0, 0.5, (n_cases, 1, *space)).astype(np.float32)
    rows = np.linspace(0, space[0], n_classes + 1).astype(int)
    for image, k in zip(images, truth, strict=True):
        image[0, rows[k] : rows[k + 1]] += 2
    cms = np.stack([pairwise_flipper_cm(n_classes, skill, seed=s) for s in range(n_raters)])
    labels = simulate_class_labels(truth, cms, seed=0).T
    if supply == "one":
        chosen = rng.integers(0, n_raters, n_cases)
        labels = np.where(np.arange(n_raters) == chosen[:, None], labels, -1)
    return dataset_from_arrays(labels, images=images, truths=truth, **options)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A network that has learned its lesson, of one label per image."""
    folder = tmp_path_factory.mktemp("classes")
    splits = ["train"] * 400 + ["test"] * 100
    data = study(n_cases=500, supply="one", skill=0.7, splits=splits)
    write_dataset(data, folder / "data")
    data = read_dataset(folder / "data")
    settings = {"learning_rate": 1e-2, "confusion_learning_rate": 0.1, "epochs": 8}
    # Few raters who flip few classes often do so alike: only the trace can tell.
    train(data, folder / "run", config(**settings, trace_weight=0.1))
    return data, folder / "run"


def test_predictions_are_tables_that_evaluation_reads(learned, tmp_path):
    data, run = learned
    predict(run, data.split("test"), tmp_path / "out")
    found = read_dataset(tmp_path / "out")
    assert (found.kind, found.raters, len(found)) == ("classes", ("network",), 100)
    table = pd.read_csv(tmp_path / "out/cases.csv", index_col="case", dtype={"case": str})
    assert np.allclose(table.sum(axis=1), 1, atol=1e-5)
    answers = [int(found[name].read_label("network").array) for name in table.index]
    assert answers == table.to_numpy().argmax(1).tolist()
    scores = evaluate(tmp_path / "out", data)
    values = scores.scores["value"]
    assert values["accuracy", "all"] > 0.9
    assert values["log loss", "all"] < 0.7
    assert 0 <= values["calibration error", "all"] < 0.4
    assert values["global CM error", "all"] < 0.15
    assert set(scores.raters.index.get_level_values("rater")) == set(data.raters)


def test_labels_of_training_items_are_corrected(learned, tmp_path):
    """Network and labels together are better than the labels, half of which are wrong."""
    data, run = learned
    done = fuse_by_network(run, data, tmp_path / "fused")
    fused = read_dataset(tmp_path / "fused")
    truth = np.array([int(case.read_truth().array) for case in data])
    answer = np.array([int(case.read_label("learned").array) for case in fused])
    given = np.array([int(next(iter(case.labels.values())).read().array) for case in data])
    assert (answer == truth).mean() > 0.9 > (given == truth).mean()
    assert done.raters["skill"].between(0.55, 0.85).all()


@pytest.mark.parametrize("names", [("1", "2", "0"), ("2", "0", "1")])
def test_classes_are_known_by_their_names(learned, tmp_path, names):
    data, run = learned
    order = np.array([int(name) for name in names])
    truth = np.array([int(case.read_truth().array) for case in data])
    labels = np.stack([case.read_labels(data.raters).array for case in data])
    moved = np.where(labels < 0, -1, np.argsort(order)[np.maximum(labels, 0)])
    other = dataset_from_arrays(
        moved,
        images=[case.read_image().array for case in data],
        raters=data.raters,
        classes=Classes(tuple(map(LabelClass, names))),
    )
    fuse_by_network(run, other, tmp_path / "fused")
    fused = read_dataset(tmp_path / "fused")
    found = [fused.classes.names[int(case.read_label("learned").array)] for case in fused]
    assert (np.array(found).astype(int) == truth).mean() > 0.9
    decided = {case.name: names[number % 3] for number, case in enumerate(other.cases[:6])}
    table = pd.DataFrame({"case": decided.keys(), "rater": "eva", "label": decided.values()})
    fuse_by_network(run, with_gold(other, table), tmp_path / "held")
    held = read_dataset(tmp_path / "held")
    for case, name in decided.items():
        assert held.classes.names[int(held[case].read_label("learned").array)] == name


def test_a_class_that_the_network_does_not_know_is_refused(learned, tmp_path):
    data, run = learned
    names = ("0", "1", "2", "other")
    other = replace(data, classes=Classes(tuple(map(LabelClass, names))))
    with pytest.raises(InputError, match="class 'other', which the network does not know"):
        fuse_by_network(run, other, tmp_path / "fused")


def test_raters_csv_says_what_the_network_learned(learned):
    _, run = learned
    table = pd.read_csv(run / "raters.csv", index_col="rater")
    matrices = Predictor(run).network.matrices.numpy()
    for rater, cm in zip(table.index, matrices, strict=True):
        assert table.loc[rater, "cm[0,1]"] == pytest.approx(cm[0, 1], abs=1e-5)
        assert table.loc[rater, "skill"] == pytest.approx(np.trace(cm) / 3, abs=1e-5)
    assert (table["skill_low"] < table["skill"]).all()
    assert (table["skill"] < table["skill_high"]).all()
    assert table["labels"].sum() == 400


def test_the_trust_statement_speaks_of_cases(learned):
    _, run = learned
    trust = json.loads((run / "trust.json").read_text())
    said = " ".join(each["text"] for each in trust["findings"])
    assert "right more often than wrong in any one way" in said
    assert "of the cases" in said
    assert "pixels" not in said


def test_raters_who_are_mostly_wrong_beside_a_right_network_are_a_problem(tmp_path):
    data = study(n_cases=200, skill=0.2, n_raters=1)
    settings = {"learning_rate": 1e-2, "confusion_learning_rate": 0.1, "epochs": 5}
    train(data, tmp_path / "run", config(**settings, method="truth"))
    trust = json.loads((tmp_path / "run/trust.json").read_text())
    assert trust["summary"].startswith("Do not rely")


def test_raters_who_swap_classes_alike_cannot_be_seen_through(tmp_path):
    """What all of them call b is b: the matrices that could say otherwise are learned from them."""
    truth = np.random.default_rng(0).integers(0, 3, 240)
    labels = np.stack([(truth + 1) % 3] * 3, axis=1)
    data = study(n_cases=240)
    images = [case.read_image().array for case in data]
    data = dataset_from_arrays(labels, images=images, truths=truth)
    train(data, tmp_path / "run", config(learning_rate=1e-2, epochs=5))
    trust = json.loads((tmp_path / "run/trust.json").read_text())
    assert all(each["level"] == "good" for each in trust["findings"])


def test_raters_err_as_often_as_the_matrices_say(tmp_path):
    """A network can foresee even errors by being unsure: with marginal likelihoods it is."""
    skills = {}
    for likelihood in ("joint", "marginal"):
        data = study(n_cases=400, skill=0.7, n_raters=3)
        settings = {"learning_rate": 1e-2, "epochs": 10, "likelihood": likelihood}
        train(data, tmp_path / likelihood, config(**settings))
        table = pd.read_csv(tmp_path / likelihood / "raters.csv", index_col="rater")
        skills[likelihood] = table["skill"].mean()
    assert abs(skills["joint"] - 0.7) < 0.06
    assert abs(skills["joint"] - 0.7) < abs(skills["marginal"] - 0.7)
    assert settled(TrainConfig(), "classes", 400).likelihood == "joint"


@pytest.mark.parametrize("method", ["gem", "mbem"])
def test_the_epoch_kept_of_em_has_counted(tmp_path, method):
    data = study(n_cases=60, skill=0.6)
    run = train(data, tmp_path / "run", config(method=method, epochs=10, learning_rate=1e-2))
    assert run.best_epoch >= 1
    assert bool(Predictor(tmp_path / "run").network.is_counted)
    assert (pd.read_csv(tmp_path / "run/raters.csv")["skill"] < 0.95).all()


def test_a_class_that_the_network_never_answers_has_its_row(learned, tmp_path):
    data, run = learned
    predictor = Predictor(run)
    with torch.no_grad():
        predictor.network.truth_head.bias[2] = -1e4
    table = class_evidence(predictor, data.split("train").cases, data.raters).table
    expected = predictor.network.matrices[:, 2, 2].numpy()
    np.testing.assert_allclose(table["cm[2,2]"], expected, atol=1e-5)


@pytest.mark.parametrize("method", ["mean", "majority"])
def test_skills_are_counted_against_answers(tmp_path, method):
    """Against probabilities, which are as unsure as the raters, all would look worse."""
    data = study(n_cases=400, skill=0.7)
    train(data, tmp_path / "run", config(method=method, epochs=6, learning_rate=1e-2))
    table = pd.read_csv(tmp_path / "run/raters.csv", index_col="rater")
    assert table["skill"].between(0.64, 0.76).all()


@pytest.mark.parametrize("method", ["cm", "crowd-layer", "max-mig", "majority"])
def test_a_declared_class_that_nobody_used_changes_nothing(tmp_path, method):
    tables, summaries = {}, {}
    for n_classes in (3, 4):
        data = study(n_cases=200, skill=0.9)
        names = ("a", "b", "c", "d")[:n_classes]
        classes = Classes(tuple(LabelClass(name) for name in names))
        folder = tmp_path / str(n_classes)
        settings = {"epochs": 5, "learning_rate": 1e-2, "method": method}
        train(replace(data, classes=classes), folder, config(**settings))
        tables[n_classes] = pd.read_csv(folder / "raters.csv", index_col="rater")["skill"]
        summaries[n_classes] = json.loads((folder / "trust.json").read_text())["summary"]
    assert np.allclose(tables[3], tables[4], atol=0.05)
    assert not any(each.startswith("Do not rely") for each in summaries.values())


@pytest.mark.parametrize("method", ["cm", "gem", "max-mig", "wdn"])
def test_batches_of_one_and_a_single_rater(tmp_path, method):
    data = study(n_cases=6, n_raters=1)
    run = train(data, tmp_path / "run", config(method=method, batch_size=1))
    assert np.isfinite(run.best_nll)


@pytest.mark.parametrize("method", ["cm", "mbem", "agg-net", "dawid-skene"])
def test_a_rater_who_always_says_the_same_and_a_class_nobody_used(tmp_path, method):
    data = study(n_cases=20)
    classes = Classes(tuple(LabelClass(name) for name in ("a", "b", "c", "unused")))
    labels = [case.read_labels(data.raters).array.copy() for case in data]
    for row in labels:
        row[1] = 2
    images = [case.read_image().array for case in data]
    data = dataset_from_arrays(labels, images=images, classes=classes)
    run = train(data, tmp_path / "run", config(method=method, class_weights="balanced"))
    assert np.isfinite(run.best_nll)
    predict(tmp_path / "run", data, tmp_path / "out")
    table = pd.read_csv(tmp_path / "out/cases.csv", index_col="case")
    assert list(table.columns) == ["a", "b", "c", "unused"]
    assert np.isfinite(table.to_numpy()).all()
    skills = pd.read_csv(tmp_path / "run/raters.csv", index_col="rater")["skill"]
    assert np.isfinite(skills).all()


@pytest.mark.parametrize("method", ["cm", "majority", "gem"])
def test_unlabelled_rows_are_left_out_of_training_and_predicted(tmp_path, method):
    data = study(n_cases=20)
    without = [replace(case, labels={}) if n < 5 else case for n, case in enumerate(data)]
    data = replace(data, cases=tuple(without))
    training, held_out = split_cases(data, config(method=method))
    assert len(training) + len(held_out) == 15
    train(data, tmp_path / "run", config(method=method))
    assert pd.read_csv(tmp_path / "run/raters.csv")["labels"].tolist() == [15, 15, 15]
    predict(tmp_path / "run", data, tmp_path / "out")
    assert len(read_dataset(tmp_path / "out")) == 20


def test_held_out_cases_without_truth_do_not_choose_the_epoch(tmp_path):
    data = study(n_cases=20)
    cases = [replace(case, split="val", truth=None) for case in data][:4]
    data = replace(data, cases=(*cases, *data.cases[4:]))
    train(data, tmp_path / "run", config(method="truth", epochs=2))
    curves = pd.read_csv(tmp_path / "run/curves.csv")
    assert curves["val_nll"].isna().all() or (curves["val_nll"] > 0).all()


def test_images_of_many_sizes_are_brought_to_one(tmp_path):
    sizes = [(6, 6), (6, 6), (7, 6)]
    images = [np.zeros((1, *size), dtype=np.float32) for size in sizes]
    data = dataset_from_arrays(np.zeros((3, 2), dtype=int), images=images, cases=["a", "b", "c"])
    train(data, tmp_path / "run", TrainConfig(epochs=1, validation=0.0))
    assert read_run(tmp_path / "run")[1].space == (6, 6)


def test_an_image_of_another_size_is_brought_to_that_of_training(learned):
    _, run = learned
    predicted = Predictor(run)(np.zeros((1, 9, 6), dtype=np.float32))
    assert predicted.probability.sum() == pytest.approx(1, abs=1e-4)


def test_pixel_matrices_are_refused(tmp_path):
    with pytest.raises(InputError, match="pixel confusion matrices for class labels"):
        train(study(), tmp_path / "run", config(confusion="pixel"))


def test_vectors_of_features(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    features = 100 * (rng.normal(size=(60, 5)) + 3 * truth[:, None])
    data = dataset_from_arrays(np.stack([truth, 1 - truth, truth], 1), truths=truth)
    nowhere = Geometry((), (), ())
    cases = tuple(
        replace(case, image=Source(partial(Image, each, nowhere)))
        for case, each in zip(data, features, strict=True)
    )
    data = replace(data, cases=cases)
    settings = {"backbone_options": {}, "epochs": 5, "learning_rate": 1e-2}
    train(data, tmp_path / "run", config(**settings, method="majority"))
    predictor = Predictor(tmp_path / "run")
    answer = [int(predictor(each).label) for each in features]
    assert np.mean(np.array(answer) == truth) > 0.9


def test_a_thousand_raters_of_one_label_each(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.full((1000, 1000), -1)
    labels[np.arange(1000), rng.permutation(1000)] = rng.integers(0, 3, 1000)
    images = rng.normal(size=(1000, 1, 3, 3)).astype(np.float32)
    data = dataset_from_arrays(labels, images=images)
    train(data, tmp_path / "run", config(batch_size=100))
    table = pd.read_csv(tmp_path / "run/raters.csv", index_col="rater")
    assert (table["labels"] == 1).all()


def test_the_trace_may_be_left_out(tmp_path):
    data = study(n_cases=30)
    traces = []
    for weight in (0.0, 1.0):
        settings = {"trace_weight": weight, "confusion_learning_rate": 0.3, "epochs": 5}
        train(data, tmp_path / str(weight), config(**settings))
        traces.append(pd.read_csv(tmp_path / str(weight) / "curves.csv")["train_trace"].iloc[-1])
    assert traces[1] < traces[0]
