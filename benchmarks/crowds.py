"""Real crowds without images: how right each fusion is, and how near its raters are to the truth.

    python benchmarks/crowds.py --data ../../shared/data/crowd

A crowd is a folder with `answer.csv` (question, worker, answer) and `truth.csv` (question, truth).
The true matrices are counted from the questions whose truth is known. The error of matrices is the
squared distance between rows, averaged over answers: a rater of three answers hardly counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from grid import current_commit, markdown
from multirater import fuse


@dataclass(frozen=True, eq=False)
class Fused:
    """What is compared of a fusion: labels by task, matrices, and what their axes are called."""

    label: pd.Series
    cm: np.ndarray
    raters: Sequence[Hashable]
    classes: Sequence[Hashable]


def crowd_kit(answers: pd.DataFrame) -> Fused:
    """Dawid-Skene of crowd-kit, whose matrices have the observed class first."""
    from crowdkit.aggregation import DawidSkene

    model = DawidSkene(n_iter=100).fit(answers)
    raters, classes = list(answers["worker"].unique()), list(model.errors_.columns)
    rows = model.errors_.reindex(pd.MultiIndex.from_product([raters, classes]), fill_value=0.0)
    cm = rows.to_numpy().reshape(len(raters), len(classes), len(classes)).transpose(0, 2, 1)
    return Fused(model.labels_, cm, raters, classes)


METHODS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "majority vote": fuse.majority_vote,
    "one-coin": fuse.one_coin,
    "MACE": fuse.mace,
    "Dawid-Skene": fuse.dawid_skene,
    "Dawid-Skene of crowd-kit": crowd_kit,
}


def read_crowd(folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Return answers (task, worker, label) and the truth by task."""
    answers = pd.read_csv(folder / "answer.csv").set_axis(["task", "worker", "label"], axis=1)
    truth = pd.read_csv(folder / "truth.csv").set_axis(["task", "truth"], axis=1)
    return answers, truth.set_index("task")["truth"]


def true_counts(answers: pd.DataFrame, truth: pd.Series, raters: list, classes: list) -> np.ndarray:
    """Count answers by rater, true and given class, (n_raters, true, observed)."""
    known = answers[answers["task"].isin(truth.index)]
    counts = np.zeros((len(raters), len(classes), len(classes)))
    place = [
        pd.Index(raters).get_indexer(known["worker"]),
        pd.Index(classes).get_indexer(truth.reindex(known["task"])),
        pd.Index(classes).get_indexer(known["label"]),
    ]
    np.add.at(counts, tuple(place), 1)
    return counts


def matrix_error(counts: np.ndarray, cm: np.ndarray) -> float:
    """Return the squared distance between true and estimated rows, averaged over answers."""
    n_answers = counts.sum(2)
    true = counts / np.maximum(n_answers, 1)[..., None]
    return float(
        ((true - cm) ** 2).sum(2)[n_answers > 0] @ n_answers[n_answers > 0] / n_answers.sum()
    )


def compare(folder: Path) -> pd.DataFrame:
    """Fuse a crowd by every method; one row each."""
    answers, truth = read_crowd(folder)
    rows = []
    for name, method in METHODS.items():
        result = method(answers)
        counts = true_counts(answers, truth, list(result.raters), list(result.classes))
        right = (result.label.reindex(truth.index) == truth).mean()
        error = matrix_error(counts, result.cm)
        rows.append({"method": name, "accuracy": f"{right:.4f}", "CM error": f"{error:.4f}"})
    return pd.DataFrame(rows).set_index("method")


def main() -> None:
    """Print a table per crowd."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of crowds")
    arguments = parser.parse_args()
    print(f"`python benchmarks/crowds.py` at commit {current_commit()}\n")
    for folder in sorted(each for each in arguments.data.iterdir() if each.is_dir()):
        print(f"{folder.name}:\n\n{markdown(compare(folder))}")


if __name__ == "__main__":
    main()
