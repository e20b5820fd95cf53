"""The arena of class labels: its items and raters, and what it says of runs."""

import numpy as np
import pytest

from class_arena import FUSIONS, fusions, grid
from class_arena_regimes import REGIMES, class_arena_dataset, hard_labels, true_matrices, vectors
from class_arena_report import failures, fused, margins
from grid import as_table, key_of

OF_VECTORS = [name for name, regime in REGIMES.items() if "vectors" in regime.data]


def test_every_run_is_listed_once():
    jobs = list(map(key_of, grid(quick=False)))
    assert len(jobs) == len(set(jobs))


@pytest.mark.parametrize("name", OF_VECTORS)
def test_regimes_have_truth_and_as_many_labels_as_they_say(name):
    one, dense = (class_arena_dataset(name, "vectors", supply, 0) for supply in ("one", "dense"))
    assert all(case.truth is not None for case in one)
    labelled = [case for case in one if case.split == "train"]
    assert {len(case.labels) for case in labelled} == {1}
    assert not any(case.labels for case in one.split("test"))
    assert np.mean([len(case.labels) for case in dense.split("train")]) >= 2
    cm = true_matrices(name, "vectors", 0)
    assert cm.shape[0] == len(one.raters)
    assert np.allclose(cm.sum(2), 1)


def test_raters_err_on_hard_items_alone():
    items = vectors(0)
    cm = REGIMES["hard items"].raters(items.n_classes, 0)
    wrong = hard_labels(items, cm, 0) != items.truth[:, None]
    assert wrong.any(1).mean() < 0.4
    assert (np.diff(wrong.mean(0)) > 0).all()


def test_fusions_are_measured():
    dataset = class_arena_dataset("clean", "vectors", "dense", 0).split("train")
    found = fusions(dataset, true_matrices("clean", "vectors", 0))
    assert min(found[name] for name in FUSIONS) > 0.98
    assert found["CM error"] < 0.01


def record(method, accuracy, supply="one", **result):
    job = {"regime": "clean", "data": "vectors", "supply": supply, "method": method, "seed": 10}
    both = {"accuracy": accuracy, "trust": "good", **result}
    return {"job": job, "result": both, "seconds": 1.0, "commit": "x"}


def test_failed_runs_are_those_far_below_the_vote_or_the_ceiling():
    table = as_table(
        [
            record("truth", 0.9),
            record("majority", 0.86),
            record("cm", 0.82, trust="problem"),
            record("auto", 0.88, learned=0.97),
            record("fusions", None, **dict.fromkeys(FUSIONS, 0.9)),
        ]
    )
    runs = failures(table).set_index("method")
    assert runs["failed"].to_dict() == {"majority": False, "cm": True, "auto": False}
    assert runs.loc["cm", "alarm"]
    trained = table[table["method"] != "fusions"]
    row = margins(trained).iloc[0]
    assert (row["above it"], row["below the ceiling"]) == (2.0, 2.0)
    assert fused(table).iloc[0]["above"] == pytest.approx(7.0)
