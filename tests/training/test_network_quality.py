import numpy as np
import pandas as pd
import pytest

from multirater.io.results.statements import write_trust
from multirater.metrics import dice_score
from multirater.patterns import encode_patterns
from multirater.training.network_quality import (
    Compared,
    beside_raters,
    compare_answers,
    compare_drawings,
    kept_epoch,
    of_folds,
    over_fitting,
    sides_of_two,
    with_quality_of_network,
)
from multirater.trust import Finding, Trust


def _patterns(labels):
    found = encode_patterns(labels)
    return found.rows, found.counts


def _compared(gap, n_cases=20, held_out=True, spread=0.01):
    rng = np.random.default_rng(0)
    raters = rng.normal(0.8, 0.05, n_cases)
    network = raters + gap + rng.normal(0, spread, n_cases)
    return Compared(network, raters, np.full(n_cases, held_out))


def test_drawings_are_compared_by_dice():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (4, 12, 12))  # three raters and the network
    found = compare_drawings([_patterns(labels)], [True])
    assert found.network[0] == pytest.approx(
        np.mean([dice_score(each, labels[3]) for each in labels[:3]])
    )
    pairs = [dice_score(labels[a], labels[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert found.raters[0] == pytest.approx(np.mean(pairs))


def test_absent_raters_do_not_count():
    labels = np.zeros((3, 6, 6), dtype=int)
    labels[:, 2:4, 2:4] = 1
    labels[1] = -1
    found = compare_drawings([_patterns(labels)], [False])
    assert found.network[0] == 1.0
    assert np.isnan(found.raters[0])


def test_class_labels_are_compared_by_answers_alike():
    labels = np.array([[0, 0, 1], [2, -1, -1], [1, 1, 1]])
    found = compare_answers(labels, np.array([0, 2, 0]), [True, True, False])
    np.testing.assert_allclose(found.network, [2 / 3, 1, 0])
    np.testing.assert_allclose(found.raters, [1 / 3, np.nan, 1])


@pytest.mark.parametrize(
    ("gap", "level", "words"),
    [(0.03, "good", "level with a rater"), (-0.01, "good", "level with a rater"),
     (-0.06, "caution", "0.06 below a rater"), (-0.18, "problem", "0.18 below a rater")],
)  # fmt: skip
def test_levels_say_how_far_below_a_rater(gap, level, words):
    finding = beside_raters(_compared(gap))
    assert finding.level == level
    assert words in finding.text
    assert finding.numbers["gap"] == pytest.approx(gap, abs=0.01)


def test_what_cannot_be_told_from_a_rater_is_level():
    assert beside_raters(_compared(-0.04, n_cases=6, spread=0.2)).level == "good"


def test_without_unseen_cases_nothing_is_called_good():
    finding = beside_raters(_compared(0.0, held_out=False))
    assert finding.level == "caution"
    assert "trained on" in finding.text


def test_one_label_per_case_has_nothing_to_be_held_against():
    compared = Compared(np.array([0.7, 0.8]), np.full(2, np.nan), np.ones(2, dtype=bool))
    assert "no case has labels of two raters" in beside_raters(compared).text


def test_folds_are_judged_by_the_cases_each_held_out(tmp_path):
    for number, gap in enumerate((-0.01, -0.05)):
        folder = tmp_path / f"fold-{number + 1}"
        folder.mkdir()
        write_trust(folder, Trust("", (beside_raters(_compared(gap, spread=0.001)),)))
    (finding,) = of_folds(sorted(tmp_path.iterdir()))
    assert finding.numbers["gap"] == pytest.approx(-0.03, abs=0.002)
    assert finding.numbers["cases"] == 40
    assert finding.level == "caution"
    assert "0.03 below a rater" in finding.text


def test_over_fitting_is_a_loss_from_seen_to_unseen():
    held_out = np.arange(10) < 3
    network = np.where(held_out, 0.6, 0.9)
    (finding,) = over_fitting(Compared(network, network, held_out))
    assert finding.level == "caution"
    (finding,) = over_fitting(Compared(np.full(10, 0.8), network, held_out))
    assert finding.level == "good"
    assert not over_fitting(Compared(network, network, np.zeros(10, dtype=bool)))


def test_the_kept_epoch_is_the_likeliest():
    curves = pd.DataFrame({"train_nll": [0.9, 0.5, 0.3], "val_nll": [0.9, 0.6, 0.7]})
    (finding,) = kept_epoch(curves)
    assert finding.numbers["epoch"] == 2
    assert "epoch 2 of 3" in finding.text
    assert not kept_epoch(curves[["train_nll"]])


def test_sides_are_said_of_two_raters_only():
    labels = np.array([[0, 1, 1, 1], [0, 0, 0, 1], [0, 1, 0, 1]])
    (finding,) = sides_of_two([_patterns(labels)] * 2 + [_patterns(labels[[0, 1, 0]])], ["a", "b"])
    assert finding.raters == ("a",)
    assert finding.numbers["share"] == pytest.approx(4 / 6)
    assert not sides_of_two([_patterns(labels)], ["a", "b", "c"])


def test_the_sentence_says_how_good():
    before = Trust("old", (Finding("caution", "look"),))
    said = with_quality_of_network(before, [beside_raters(_compared(-0.18))])
    assert said.summary.startswith("Do not rely on this network")
    assert "0.18 less close to a rater" in said.summary
    assert said.findings[0].code == "network"
    said = with_quality_of_network(before, [beside_raters(_compared(0.0))])
    assert said.summary.startswith("Usable with care; it is as close to a rater as raters are")
