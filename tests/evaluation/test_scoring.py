import math
import subprocess
import sys
from dataclasses import fields, replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from PIL import Image as Pillow

from multirater import metrics
from multirater.cli.tables import plain
from multirater.errors import InputError, MultiraterWarning
from multirater.evaluation.scoring import evaluate, evaluate_many
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import dataset_from_arrays, read_dataset
from multirater.simulate import mean_confusion
from multirater.types import Classes, LabelClass

A, B = [[0, 1, 1, 0]], [[0, 1, 0, 0]]  # Dice 2/3, IoU 1/2
NOTHING = [[-1, -1, -1, -1]]


quick = partial(evaluate, n_resamples=10)
"""For all but intervals."""


def labels(*cases):
    """Label arrays (n_cases, n_raters, 1, 4)."""
    return np.array(cases)


def network(*drawn, **more):
    """Predictions in memory, one label map per case."""
    return dataset_from_arrays(labels(*([each] for each in drawn)), raters=["network"], **more)


def value(found, measure, name="all"):
    return found.scores.loc[(measure, name), "value"]


def measures(table):
    return set(table.index.get_level_values("measure"))


@pytest.fixture
def noisy(rng):
    """Eight cases, three raters who err at random, and predictions that err less."""
    truth = (rng.random((8, 12, 12)) < 0.4).astype(int)

    def flipped(share, n_raters):
        return np.abs(truth[:, None] - (rng.random((8, n_raters, 12, 12)) < share))

    raters = ["anna", "bert", "carl"]
    data = dataset_from_arrays(flipped(0.2, 3), truths=truth, raters=raters)
    predicted = dataset_from_arrays(flipped(0.1, 1))
    guessed = dataset_from_arrays(flipped(0.25, 3), raters=raters)
    return data, predicted, guessed


def test_truth_by_hand():
    data = dataset_from_arrays(labels([A], [B]), truths=labels(A, B))
    found = evaluate(network(B, B), data)
    assert value(found, "Dice") == pytest.approx((2 / 3 + 1) / 2)
    assert value(found, "IoU") == pytest.approx((1 / 2 + 1) / 2)
    assert value(found, "Dice", "background") == pytest.approx((0.8 + 1) / 2)
    assert found.cases["Dice"].tolist() == pytest.approx([2 / 3, 1])
    assert found.cases["Dice[class 1]"].tolist() == pytest.approx([2 / 3, 1])
    row = found.scores.loc[("Dice", "all")]
    assert (row["low"], row["high"], row["n_cases"]) == (pytest.approx(2 / 3), 1, 2)


def test_raters_by_hand():
    data = dataset_from_arrays(labels([A, B], [B, NOTHING]), raters=["anna", "bert"])
    found = quick(network(B, B), data)
    # Case by case: mean of 2/3 and 1, then anna alone.
    assert found.cases["Dice with raters"].tolist() == pytest.approx([5 / 6, 1])
    raters = found.raters["value"]
    assert raters["anna", "Dice", "all"] == pytest.approx((2 / 3 + 1) / 2)
    assert raters["bert", "IoU", "class 1"] == 1
    assert found.raters.loc[("bert", "Dice", "all"), "n_cases"] == 1


def test_the_majority_vote_stands_in_for_an_unknown_truth():
    data = dataset_from_arrays(labels([A, A, B]))
    found = quick(network(B), data)
    assert value(found, "Dice with majority vote") == pytest.approx(2 / 3)
    assert "Dice" not in measures(found.scores)
    assert found.groups.columns[3] == "Dice with majority vote"
    known = quick(network(B), dataset_from_arrays(labels([A, A, B]), truths=labels(B)))
    assert value(known, "Dice") == 1
    assert "Dice with majority vote" not in measures(known.scores)


def test_sets_of_raters_by_hand():
    data = dataset_from_arrays(labels([A, B]))
    guessed = dataset_from_arrays(labels([A, A]))
    found = quick(network(A), data, rater_predictions=guessed)
    assert value(found, "energy distance (Dice)") == pytest.approx(2 / 6 - 1 / 6)
    assert value(found, "energy distance (IoU)") == pytest.approx(2 / 4 - 1 / 4)
    assert value(found, "consensus") == pytest.approx(1 / 2)
    assert value(found, "predicted consensus") == 1
    assert value(found, "Dice of predicted raters") == pytest.approx((1 + 2 / 3) / 2)
    assert found.raters["value"]["rater 2", "IoU of predicted rater", "all"] == pytest.approx(0.5)


def test_values_are_those_of_the_metrics(noisy):
    data, predicted, guessed = noisy
    found = evaluate(predicted, data, rater_predictions=guessed)
    truths = [case.read_truth().array for case in data]
    drawn = [case.read_label("rater 1").array for case in predicted]
    expected = metrics.case_interval(metrics.dice_score, truths, drawn)
    row = found.scores.loc[("Dice", "all")]
    ends = [expected.value, expected.low, expected.high]
    assert row[["value", "low", "high"]].tolist() == pytest.approx(ends)
    real = [case.read_labels().array for case in data]
    theirs = [case.read_labels().array for case in guessed]
    distance = np.mean([metrics.energy_distance(*pair) for pair in zip(real, theirs, strict=True)])
    assert value(found, "energy distance (Dice)") == pytest.approx(distance)
    anna = metrics.case_interval(metrics.iou_score, [case[0] for case in real], drawn)
    row = found.raters.loc[("anna", "IoU", "all")]
    assert row[["value", "low", "high"]].tolist() == pytest.approx(
        [anna.value, anna.low, anna.high]
    )


def test_perfect_predictions_have_no_error(noisy):
    data, _, _ = noisy
    truth = dataset_from_arrays(np.stack([case.read_truth().array for case in data])[:, None])
    found = quick(truth, data, rater_predictions=data)
    for measure in ("Dice", "IoU", "Dice of predicted raters", "consensus Pearson"):
        assert value(found, measure) == pytest.approx(1)
    assert value(found, "energy distance (IoU)") == 0
    assert (found.cases["consensus"] == found.cases["predicted consensus"]).all()


def test_the_same_seed_gives_the_same_intervals(noisy):
    data, predicted, _ = noisy
    first, again = (evaluate(predicted, data, seed=3).scores for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(evaluate(predicted, data, seed=4).scores)


def test_a_wider_level_gives_wider_intervals(noisy):
    data, predicted, _ = noisy
    narrow, wide = (evaluate(predicted, data, level=level).scores for level in (0.5, 0.99))
    assert ((wide["high"] - wide["low"]) > (narrow["high"] - narrow["low"])).all()


def test_one_case_gives_no_interval():
    found = quick(network(B), dataset_from_arrays(labels([A]), truths=labels(A)))
    assert found.scores["low"].isna().all()
    assert value(found, "Dice") == pytest.approx(2 / 3)


def test_groups_by_consensus_level():
    masks = {
        0.0: "1000 0111",
        1 / 2: "1100 1000",
        2 / 3: "1110 1100",
        3 / 4: "1111 1110",
        1.0: "1100 1100",
    }
    drawn = [[[[int(c) for c in mask]] for mask in pair.split()] for pair in masks.values()]
    data = dataset_from_arrays(labels(*drawn, [A, NOTHING]), truths=labels(*[A] * 6))
    found = quick(network(A, A, A, B, B, B), data)
    assert found.cases["group"].tolist() == ["below", "low", "middle", "high", "above", "unknown"]
    assert found.cases["consensus"].tolist()[:5] == pytest.approx(list(masks))
    assert found.groups["n_cases"].tolist() == [1] * 6
    assert found.groups["Dice"].tolist() == pytest.approx([1] * 3 + [2 / 3] * 3)
    assert found.groups.loc["low", ["from", "to"]].tolist() == [0.30, 0.65]


def test_groups_hold_the_mean_over_their_cases():
    data = dataset_from_arrays(labels(*[[A, B]] * 3), truths=labels(A, A, A))
    groups = evaluate(network(A, B, B), data).groups
    assert groups["n_cases"].tolist() == [0, 3, 0, 0, 0, 0]
    assert groups.loc["low", "Dice"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert (groups.loc["low", "low"], groups.loc["low", "high"]) == (pytest.approx(2 / 3), 1)
    assert math.isnan(groups.loc["high", "Dice"])


def test_predicted_raters_are_compared_with_those_who_labelled_the_case():
    data = dataset_from_arrays(labels([A, B, NOTHING], [A, A, B]))
    guessed = dataset_from_arrays(labels([A, B, [[1, 0, 0, 1]]], [A, A, B]))
    found = quick(network(A, A), data, rater_predictions=guessed)
    assert value(found, "energy distance (Dice)") == pytest.approx(0)
    assert found.cases["predicted consensus"].tolist() == found.cases["consensus"].tolist()


def test_samples_without_the_raters_names_are_compared_as_a_set():
    data = dataset_from_arrays(labels([A, B]))
    samples = dataset_from_arrays(labels([B, A, B, A]), raters=["s1", "s2", "s3", "s4"])
    found = quick(network(A), data, rater_predictions=samples)
    assert value(found, "energy distance (Dice)") == pytest.approx(0)
    assert value(found, "predicted consensus") == pytest.approx(2 / 6 + 4 / 6 / 2)
    assert "Dice of predicted raters" not in measures(found.scores)


def test_unlabelled_pixels_do_not_count():
    data = dataset_from_arrays(labels([A]), truths=labels([[0, 1, -1, 0]]))
    assert value(quick(network(B), data), "Dice") == 1


def test_cases_are_matched_by_name_and_the_others_counted():
    data = dataset_from_arrays(
        labels([A], [B], [A], [A]), truths=labels(A, B, A, A), cases=["p", "q", "r", "s"]
    )
    # `s` was predicted and is known, but nothing is known about it.
    bare = replace(data["s"], labels={}, truth=None)
    data = replace(data, cases=(*data.cases[:3], bare))
    found = quick(network(B, A, A, A, cases=["q", "p", "x", "s"]), data)
    assert found.cases["Dice"].to_dict() == {"p": 1, "q": 1}
    assert found.notes == (
        "left out: 1 case of the reference without a prediction",
        "left out: 1 case predicted that the reference does not have",
        "left out: 1 case with neither truth nor labels",
    )


def test_truth_of_some_cases_only():
    data = dataset_from_arrays(labels([A], [A]), truths=labels(B, B))
    data = replace(data, cases=(replace(data.cases[0], truth=None), data.cases[1]))
    found = quick(network(B, B), data)
    assert found.scores.loc[("Dice", "all"), "n_cases"] == 1
    assert value(found, "Dice") == 1
    assert value(found, "Dice with raters") == pytest.approx(2 / 3)
    assert found.scores.index[0] == ("Dice", "all")


def test_truth_without_raters():
    data = dataset_from_arrays(labels([A], [B]), truths=labels(A, B))
    cases = tuple(replace(case, labels={}) for case in data)
    found = quick(network(A, B), replace(data, cases=cases, raters=()))
    assert measures(found.scores) == {"Dice", "IoU", "mIoU"}
    assert len(found.raters) == 0
    assert found.groups["n_cases"].tolist() == [0, 0, 0, 0, 0, 2]


def test_the_truth_in_the_predictions_table_is_enough():
    found = quick(network(B, truths=labels(A)))
    assert value(found, "Dice") == pytest.approx(2 / 3)
    assert measures(found.scores) == {"Dice", "IoU", "mIoU"}
    with pytest.raises(InputError, match="--reference"):
        quick(network(B))


def test_no_case_in_common():
    with pytest.raises(InputError, match="no predicted case is in the reference: x"):
        quick(network(A, cases=["x"]), dataset_from_arrays(labels([A]), cases=["p"]))


def test_nothing_to_compare_with():
    data = dataset_from_arrays(labels([A]))
    cases = (replace(data.cases[0], labels={}),)
    with pytest.raises(InputError, match="neither truth nor labels"):
        quick(network(A), replace(data, cases=cases))


def test_classes_are_matched_by_name():
    def named(*names):
        return Classes(tuple(LabelClass(name) for name in names))

    drawn, turned = [[0, 1, 2, 2]], [[0, 2, 1, 1]]
    data = dataset_from_arrays(labels([drawn]), classes=named("none", "edema", "core"))
    same = network(turned, classes=named("none", "core", "edema"))
    assert value(quick(same, data), "Dice with raters") == 1
    with pytest.raises(InputError, match="none, edema, necrosis"):
        quick(network(drawn, classes=named("none", "edema", "necrosis")), data)


def test_classes_that_nobody_declared_are_counted():
    data = replace(dataset_from_arrays(labels([A])), classes=None)
    found = quick(replace(network([[0, 1, 2, 0]]), classes=None), data)
    assert "class 2" in found.scores.index.get_level_values("class")


def test_sizes_that_differ_are_told_for_all_cases():
    data = dataset_from_arrays([np.zeros((1, 3, 4), dtype=int)] * 2)
    with pytest.raises(InputError, match="size 3 x 4") as error:
        quick(network(A, A), data)
    assert [fault.case for fault in error.value.faults] == ["0", "1"]
    assert error.value.faults[0].rater == "rater 1"


def test_grids_that_lie_elsewhere_are_refused():
    data = dataset_from_arrays(labels([A]), spacing=(1.0, 2.0))
    with pytest.raises(InputError, match="as the prediction"):
        quick(network(A, spacing=(1.0, 3.0)), data)
    assert value(quick(network(A), data), "Dice with raters") == 1


def test_class_labels_are_right_or_wrong():
    data = dataset_from_arrays(np.array([[0, 0], [1, 2], [2, 2]]), truths=np.array([0, 1, 2]))
    found = quick(dataset_from_arrays(np.array([[0], [1], [1]]), classes=data.classes), data)
    assert value(found, "accuracy") == pytest.approx(2 / 3)
    assert found.cases["accuracy with raters"].tolist() == [1, 0.5, 0]
    with pytest.raises(InputError, match="predictions that are masks"):
        quick(network(A), data)


def test_everything_becomes_json(noisy):
    data, predicted, guessed = noisy
    found = quick(predicted, data, rater_predictions=guessed)
    content = plain({each.name: getattr(found, each.name) for each in fields(found)})
    assert content["scores"][0]["measure"] == "Dice"
    columns = {"measure", "class", "value", "low", "high", "n_cases", "n_empty"}
    assert set(content["scores"][0]) == columns
    assert content["cases"][0]["case"] == "0"
    assert content["groups"][0]["group"] == "below"
    assert content["seed"] == 0


def test_several_processes_find_the_same(noisy):
    data, predicted, guessed = noisy
    one, two = (quick(predicted, data, rater_predictions=guessed, workers=n) for n in (1, 2))
    pd.testing.assert_frame_equal(one.scores, two.scores)
    pd.testing.assert_frame_equal(one.raters, two.raters)


def test_torch_is_not_needed():
    code = "import sys, multirater.evaluation; assert not {'torch', 'monai'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture(scope="module")
def fused(digits_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fused")
    fuse_dataset(read_dataset(digits_folder), folder / "staple", method="staple")
    return folder


def test_a_fusion_against_truth_and_raters(digits_folder, fused):
    data = read_dataset(digits_folder)
    found = quick(fused / "staple", digits_folder)
    drawn = read_dataset(fused / "staple")
    scores = [
        metrics.dice_score(case.read_truth().array, drawn[case.name].read_label("staple").array)
        for case in data
    ]
    assert found.cases["Dice"].tolist() == pytest.approx(scores)
    table = pd.read_csv(fused / "staple/raters.csv", index_col="rater")
    names = ("background", "digit")
    true = mean_confusion(
        [case.read_truth().array for case in data],
        [case.read_label("over").array for case in data],
        2,
    )
    estimated = [[table.loc["over", f"cm[{t},{o}]"] for o in names] for t in names]
    error = metrics.confusion_rms_error(true, estimated)
    assert found.raters["value"]["over", "global CM RMSE", "all"] == pytest.approx(error)
    assert found.scores.loc[("CM RMSE", "all"), "n_cases"] == 12


def test_a_split_of_the_reference(digits_folder, fused):
    found = quick(fused / "staple", read_dataset(digits_folder).split("test"))
    assert len(found.cases) == 4
    assert found.notes == ("left out: 8 cases predicted that the reference does not have",)


# Several seeds and methods


def test_mean_and_deviation_over_seeds():
    data = dataset_from_arrays(labels([A]), truths=labels(A))
    table = evaluate_many({"b": [network(A), network(B)], "a": [network(B)]}, data)
    b = table.loc[("b", "Dice", "all")]
    assert b["mean"] == pytest.approx(5 / 6)
    assert b["std"] == pytest.approx((1 / 3) / math.sqrt(2))
    assert (b["n_seeds"], b["n_cases"]) == (2, 1)
    a = table.loc[("a", "Dice", "all")]
    assert a["mean"] == pytest.approx(2 / 3)
    assert math.isnan(a["std"])
    assert list(dict.fromkeys(table.index.get_level_values("method"))) == ["b", "a"]


def test_methods_on_different_cases_are_told():
    data = dataset_from_arrays(labels([A], [A]), truths=labels(A, A))
    with pytest.warns(MultiraterWarning, match="different cases"):
        table = evaluate_many({"x": [network(A, A), network(B)]}, data)
    assert table.loc[("x", "Dice", "all"), "n_cases"] == 1


def test_no_seeds_at_all():
    with pytest.raises(InputError, match="no predictions"):
        evaluate_many({"x": []}, dataset_from_arrays(labels([A])))


def test_empty_pairs_are_counted_apart_and_said(rng):
    truth = (rng.random((5, 8, 8)) < 0.4).astype(int)
    truth[3:] = 0
    drawn = truth.copy()
    drawn[:3] ^= (rng.random((3, 8, 8)) < 0.1).astype(int)
    drawn[4, 0] = 1  # something predicted where there is nothing: a mistake, not an empty pair
    data = dataset_from_arrays(truth[:, None], truths=truth, raters=["anna"])
    found = evaluate(dataset_from_arrays(drawn[:, None], raters=["net"]), data)
    dice = found.scores.loc[("Dice", "all")]
    expected = [metrics.dice_score(t, d) for t, d in zip(truth, drawn, strict=True)]
    assert dice["value"] == pytest.approx(np.mean(expected[:3] + expected[4:]))
    assert (dice["n_cases"], dice["n_empty"]) == (4, 1)
    assert found.scores.loc[("Dice with raters", "all"), "n_empty"] == 1
    assert any("1 case with nothing drawn and nothing predicted" in note for note in found.notes)


def test_sizes_are_of_the_pixels_that_somebody_labelled(rng):
    drawn, truth, labels = rng.integers(3, size=(3, 5, 8, 8))
    truth[0, :4], labels[1:4, :, :4] = -1, -1
    data = dataset_from_arrays(labels[:, None], truths=truth, raters=["anna"])
    network = dataset_from_arrays(drawn[:, None], raters=["net"])
    sizes = evaluate(network, data).sizes.set_index(["against", "class"])
    for who, known in {"(truth)": truth, "anna": labels}.items():
        row = sizes.loc[(who, "class 2")]
        where = (drawn == 2) & (known >= 0)
        assert row["mean predicted"] == pytest.approx(where.sum((1, 2)).mean())
        assert row["mean"] == pytest.approx((known == 2).sum((1, 2)).mean())


def test_sizes_against_truth_and_raters(rng):
    truth = (rng.random((6, 8, 8)) < 0.4).astype(int)
    drawn = truth | (rng.random((6, 8, 8)) < 0.1)
    raters = truth & (rng.random((6, 8, 8)) < 0.9)
    data = dataset_from_arrays(raters[:, None], truths=truth, raters=["anna"], spacing=(2.0, 2.0))
    network = dataset_from_arrays(drawn[:, None], raters=["net"], spacing=(2.0, 2.0))
    sizes = evaluate(network, data).sizes.set_index("against")
    predicted = drawn.sum((1, 2)) * 4.0
    for who, known in {"(truth)": truth, "anna": raters}.items():
        expected = metrics.bland_altman(predicted, known.sum((1, 2)) * 4.0)
        assert sizes.loc[who, "bias"] == pytest.approx(expected.bias)
        assert sizes.loc[who, "upper"] == pytest.approx(expected.upper)
        assert sizes.loc[who, "unit"] == "mm²"


def test_a_class_that_nobody_declared_is_named(tmp_path):
    for name in ("p", "r"):
        (tmp_path / name / "images").mkdir(parents=True)
        Pillow.fromarray(np.zeros((4, 4), np.uint8)).save(tmp_path / name / "images/x.png")
    (tmp_path / "p/raters/net").mkdir(parents=True)
    (tmp_path / "r/truth").mkdir()
    Pillow.fromarray(np.eye(4, dtype=np.uint8)).save(tmp_path / "p/raters/net/x.png")
    Pillow.fromarray(2 * np.eye(4, dtype=np.uint8)).save(tmp_path / "r/truth/x.png")
    (tmp_path / "p/classes.csv").write_text("index,name\n0,background\n1,disc\n")
    with pytest.raises(InputError, match="class 2") as caught:
        evaluate(tmp_path / "p", reference=read_dataset(tmp_path / "r"))
    assert (caught.value.faults[0].case, caught.value.faults[0].rater) == ("x", "(truth)")


def test_a_class_called_all_is_one_of_the_classes():
    truth = np.random.default_rng(0).integers(0, 3, (4, 6, 6))
    drawn = np.where(np.arange(6) > 2, truth, 0)
    found = []
    for name in ("all", "each"):
        classes = Classes(tuple(map(LabelClass, ("background", "core", name))))
        data = dataset_from_arrays(drawn[:, None], raters=["network"], classes=classes)
        known = dataset_from_arrays(truth[:, None], truths=truth, raters=["a"], classes=classes)
        found.append(evaluate(data, known, n_resamples=9))
    every, plain = found
    pd.testing.assert_frame_equal(every.scores, plain.scores.rename(index={"each": '"all"'}))
    named = plain.sizes.assign(**{"class": plain.sizes["class"].replace("each", '"all"')})
    pd.testing.assert_frame_equal(every.sizes, named)


def test_pixels_without_a_prediction_are_told_and_are_not_right():
    truth = np.zeros((2, 8, 8), dtype=int)
    truth[:, 4:7, 1:7] = 1
    drawn = np.full((2, 8, 8), -1)
    drawn[:, :2] = 0
    data = dataset_from_arrays(drawn[:, None], raters=["network"])
    known = dataset_from_arrays(truth[:, None], truths=truth, raters=["a"])
    found = evaluate(data, known, n_resamples=9)
    assert any("0.75 of the pixels" in note and "2 cases" in note for note in found.notes)
    assert not any("right" in note for note in found.notes)
    assert found.scores["n_empty"].sum() == 0
    whole = evaluate(dataset_from_arrays(truth[:, None], raters=["network"]), known, n_resamples=9)
    assert not any("without a prediction" in note for note in whole.notes)


def test_a_reference_whose_files_contradict_each_other_is_refused(tmp_path):
    folder = tmp_path / "reference" / "truth"
    folder.mkdir(parents=True)
    images = tmp_path / "reference" / "images"
    images.mkdir()
    for name, values in (("c0", (0, 255)), ("c1", (0, 2))):
        mask = np.full((6, 6), values[0], dtype=np.uint8)
        mask[2:4, 2:5] = values[1]
        Pillow.fromarray(mask).save(folder / f"{name}.png")
        Pillow.fromarray(np.arange(36, dtype=np.uint8).reshape(6, 6)).save(images / f"{name}.png")
    drawn = np.zeros((2, 6, 6), dtype=int)
    drawn[0, 2:4, 2:5], drawn[1, 2:4, 2:5] = 1, 2
    data = dataset_from_arrays(drawn[:, None], raters=["network"], cases=["c0", "c1"])
    with pytest.raises(InputError, match="understood as"):
        evaluate(data, tmp_path / "reference")
