import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

from multirater import RaterClassifier
from multirater.errors import InputError
from multirater.metrics import confusion_frobenius_error, skill_score
from multirater.simulate import label_supply, simulate_class_labels
from multirater.training.methods import METHODS

QUICK = {"epochs": 5, "learning_rate": 1e-2}
CM = np.array([[[0.9, 0.1], [0.05, 0.95]], [[0.6, 0.4], [0.3, 0.7]], [[0.8, 0.2], [0.4, 0.6]]])


def not_for_raters(_):
    return {
        "check_classifiers_classes": "it uses -1 as a class, which stands for not labelled here",
        "check_supervised_y_2d": "it wants a warning of a y with two axes, which is the rule here",
    }


@parametrize_with_checks([RaterClassifier(**QUICK)], expected_failed_checks=not_for_raters)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def items():
    """X (600, 4), truth, and Y (600, 3) of three raters."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 600)
    features = np.stack([truth * 2 - 1, 1 - truth, truth * 0, truth * 0], 1)
    labels = simulate_class_labels(truth, CM, seed=1).T
    return features * [30, 1, 1, 1] + random.normal(0, 1, (600, 4)) * [12, 0.4, 1, 1], truth, labels


def test_truth_and_raters_are_found(items):
    features, truth, labels = items
    fitted = RaterClassifier(confusion_learning_rate=0.1, seed=0).fit(features, labels)
    assert (fitted.predict(features) == truth).mean() > 0.97
    assert fitted.confusion_.shape == (3, 2, 2)
    assert confusion_frobenius_error(CM, fitted.confusion_) < 0.02
    assert np.argsort(fitted.skill_).tolist() == [1, 2, 0]
    np.testing.assert_array_equal(fitted.skill_, skill_score(fitted.confusion_))
    assert list(fitted.raters_.index) == ["rater 1", "rater 2", "rater 3"]
    assert len(fitted.curves_) == 15
    assert fitted.trust_["findings"]


@pytest.mark.parametrize(
    ("n_astray", "supply", "is_doubted"), [(1, "one", False), (2, "one", True), (2, "dense", True)]
)
def test_raters_whose_mean_matrix_is_not_dominant_are_a_problem(n_astray, supply, is_doubted):
    """Of three raters, some call most items of the first class by the second's name."""
    good = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    astray = np.array([[0.1, 0.8, 0.1], *good[1:]])
    random = np.random.default_rng(0)
    truth = random.integers(0, 3, 400)
    features = 3 * np.eye(3)[truth] + random.normal(size=(400, 3))
    cm = [astray] * n_astray + [good] * (3 - n_astray)
    labels = simulate_class_labels(truth, np.stack(cm), seed=0).T
    given = label_supply(400, 3, supply, seed=0)
    fitted = RaterClassifier(epochs=20, seed=0).fit(features, np.where(given, labels, -1))
    problems = [each["text"] for each in fitted.trust_["findings"] if each["level"] == "problem"]
    assert any("diagonally dominant" in text for text in problems) == is_doubted


@pytest.mark.parametrize("method", sorted(set(METHODS["classes"]) - {"truth", "oracle"}))
def test_every_method_goes_by_its_name(items, method):
    features, truth, labels = items
    fitted = RaterClassifier(method, **QUICK).fit(features[:200], labels[:200])
    assert (fitted.predict(features) == truth).mean() > 0.8
    assert fitted.confusion_.shape == (3, 2, 2)
    np.testing.assert_allclose(fitted.confusion_.sum(2), 1, atol=1e-6)


def test_the_truth_is_taken_by_the_method_of_that_name(items):
    features, truth, labels = items
    wrong = 1 - labels
    fitted = RaterClassifier("truth", **QUICK).fit(features, wrong, truth=truth)
    assert (fitted.predict(features) == truth).mean() > 0.97
    assert (fitted.skill_ < 0.5).all()


def as_nan(labels):
    return np.where(labels == -1, np.nan, labels)


def as_names(labels):
    return np.array(["", "benign", "malignant"], dtype=object)[labels + 1]


def as_objects(labels):
    return np.where(labels < 0, None, labels.astype(object))


def as_nullable(labels):
    return pd.DataFrame(as_objects(labels)).astype("Int64")


def as_masked(labels):
    return np.ma.masked_equal(labels, -1)


def as_lists(labels):
    names = {-1: float("nan"), 0: "benign", 1: "malignant"}
    return [[names[label] for label in row] for row in labels.tolist()]


def as_table(labels):
    return pd.DataFrame(np.where(labels == -1, None, as_names(labels)))


NAMED = (as_names, as_table, as_lists)


@pytest.mark.parametrize("written", [*NAMED, as_nan, as_masked, as_objects, as_nullable])
def test_missing_labels_may_be_written_in_several_ways(items, written):
    features, _, labels = items
    sparse = np.where(np.random.default_rng(2).random(labels.shape) < 0.5, -1, labels)
    model = RaterClassifier(**QUICK)
    plain = model.fit(features, sparse).predict_proba(features)
    other = clone(model).fit(features, written(sparse))
    np.testing.assert_array_equal(other.predict_proba(features), plain)
    expected = ["benign", "malignant"] if written in NAMED else [0, 1]
    assert other.classes_.tolist() == expected
    assert set(other.predict(features)) == set(expected)


def test_a_rater_without_labels_is_unknown(items):
    features, _, labels = items
    with_nobody = np.insert(labels, 1, -1, axis=1)
    fitted = RaterClassifier(**QUICK).fit(features, with_nobody)
    assert np.isnan(fitted.confusion_[1]).all()
    assert np.isnan(fitted.skill_[1])
    assert np.isfinite(fitted.skill_[[0, 2, 3]]).all()


@pytest.mark.parametrize("shape", [(1, 6, 6), (7, 6, 6), (2, 5, 6, 4)])
def test_images_of_any_channels_and_volumes(items, shape):
    _, truth, labels = items
    random = np.random.default_rng(3)
    images = random.normal(0, 0.3, (120, *shape)).astype(np.float32)
    images[truth[:120] == 1, ..., :3] += 1
    options = {"channels": [8, 8]}
    fitted = RaterClassifier(**QUICK, backbone_options=options).fit(images, labels[:120])
    assert fitted.n_features_in_ == shape[0]
    assert (fitted.predict(images) == truth[:120]).mean() > 0.9
    with pytest.raises(ValueError, match="expected"):
        fitted.predict(images[..., :2])


def test_a_network_of_ones_own_is_left_as_it_was(items):
    features, truth, labels = items
    own = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
    before = [each.clone() for each in own.parameters()]
    fitted = RaterClassifier(backbone=own, **QUICK).fit(features / [30, 1, 1, 1], labels)
    assert (fitted.predict(features / [30, 1, 1, 1]) == truth).mean() > 0.9
    assert all((a == b).all() for a, b in zip(own.parameters(), before, strict=True))


def test_normalisation_by_batches_does_not_meet_a_single_item(items):
    """Of 100 items 85 are trained on, in batches of six: the last would be one."""
    features, truth, labels = items
    own = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU())
    fitted = RaterClassifier(backbone=own, **QUICK).fit(features[:100], labels[:100])
    assert (fitted.predict(features) == truth).mean() > 0.8


def test_settings_reach_every_field(items):
    features, _, labels = items
    settings = {"trace_weight": 0.5, "seed": 3, "augment": True}
    given = RaterClassifier(trace_weight=0.5, seed=3, **QUICK).fit(features, labels)
    same = RaterClassifier(settings=settings, **QUICK).fit(features, labels)
    np.testing.assert_array_equal(given.predict_proba(features), same.predict_proba(features))


def test_the_random_numbers_of_others_are_left_alone(items):
    features, _, labels = items
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.rand()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    RaterClassifier(epochs=1).fit(features, labels)
    assert np.random.rand() == expected  # noqa: NPY002


def test_same_seed_same_result_also_after_pickling(items):
    features, _, labels = items
    one, same, other = (
        RaterClassifier(epochs=1, seed=seed).fit(features, labels) for seed in (0, 0, 1)
    )
    expected = one.predict_proba(features)
    np.testing.assert_array_equal(same.predict_proba(features), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict_proba(features), expected)
    assert np.abs(other.predict_proba(features) - expected).max() > 1e-4


def test_it_works_within_pipelines_and_cross_validation(items):
    features, truth, labels = items
    pipeline = make_pipeline(StandardScaler(), RaterClassifier(**QUICK)).fit(features, labels)
    assert pipeline.score(features, truth) > 0.95
    assert cross_val_score(RaterClassifier(**QUICK), features, truth, cv=2).min() > 0.95


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (np.zeros((4, 2)), np.full((4, 3), -1), "no label"),
        (np.zeros((4, 2)), np.zeros((4, 3)), "one class only"),
        (np.zeros((4, 2)), np.zeros((3, 3)), "inconsistent"),
        (np.zeros((4, 2)), np.zeros((4, 3, 2)), "expected \\(n, n_raters\\)"),
        (np.zeros((4, 2)), np.array([0.5, 1.2, 3.1, 4.7]), "Unknown label type"),
        (np.ma.masked_equal(np.eye(4), 1), np.array([0, 1, 0, 1]), "X is masked"),
        (np.zeros((4, 5, 5)), np.array([0, 1, 0, 1]), "X has 3 axes"),
        (np.zeros((4, 2)), np.array([1, "1", 2, 2], dtype=object), "numbers and texts"),
        (np.zeros((2, 2)), np.array([["a", np.nan], ["b", "a"]]), "the text 'nan'"),
    ],
)
def test_what_cannot_be_used_is_said(x, y, said):
    with pytest.raises(ValueError, match=said):
        RaterClassifier().fit(x, y)


def test_a_truth_of_another_type_is_refused_and_missing_is_no_class():
    items, labels = np.zeros((4, 2)), np.array([[0, 1], [1, -1], [0, 0], [1, 1]])
    with pytest.raises(ValueError, match="numbers and texts"):
        RaterClassifier("truth").fit(items, labels, truth=np.array(["0", "1", "0", "1"]))
    known = np.array([0.0, 1.0, np.nan, 1.0])
    fitted = RaterClassifier("truth", epochs=1).fit(items, labels, truth=known)
    assert fitted.classes_.tolist() == [0, 1]


def test_an_unknown_method_or_setting_is_said():
    features, labels = np.zeros((4, 2)), np.array([[0, 1]] * 4)
    with pytest.raises(InputError, match="no training method 'sorcery'"):
        RaterClassifier("sorcery").fit(features, labels)
    with pytest.raises(TypeError, match="colour"):
        RaterClassifier(settings={"colour": 1}).fit(features, labels)


def test_the_package_is_imported_without_it():
    code = "import sys, multirater; assert not {'sklearn', 'torch', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_folds_are_no_classifier():
    with pytest.raises(ValueError, match="cross_val_predict"):
        RaterClassifier(settings={"folds": 2}).fit(np.eye(4), np.eye(4, dtype=int))
