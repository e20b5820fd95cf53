"""What makes a class label alike with what the others say: forms held against the true quality.

    python benchmarks/alike_choice.py --data ../../shared/data/crowd

Quality is the share of a rater's answers that the others make the likeliest, by Dawid-Skene without
the rater. Compared: the likeliest class by the posterior, as it is; by the likelihood, in which a
rare class counts as much as a frequent one; and the posterior, but what all say of a case is alike
(`shown`, as `raters.csv` has it). A form is as good as its rank correlation with the share of right
answers, and as its mean distance from it. Seeds 300 to 303 and the real
crowds, on which the likelihood fails, served to choose; 400 to 405 are reported. Takes about two
minutes; writes benchmarks/results/alike_choice.md.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from grid import RESULTS, current_commit, markdown
from multirater.fuse.answers import answers_from_rows
from multirater.fuse.em import run_em
from multirater.fuse.quality import LONG_ENOUGH, consensus_model, quality_of_class_labels
from multirater.types import MISSING
from rater_measures import CHOSEN, FEWEST, REPORTED, rank_correlation, read_crowd_study
from rater_studies import (
    CLASSES,
    Answers,
    Study,
    answered,
    biased,
    flippers,
    hammers,
    with_spammers,
)

STUDIES = {
    **CLASSES,
    "crowd of 40, 2 each, 4 classes": Answers(flippers(40, 4, 0.4, 0.95), 800, 2),
    "crowd of 40, 2 each, rare": Answers(biased(40), 800, 2, 0.6),
    "spammers among 20, 2 each": Answers(with_spammers(20, 3, 0.3), 400, 2),
    "10 raters, 30 tasks, 3 each": Answers(hammers(10, 3, 0.4, 0.95), 30, 3),
    "5 raters, 15 tasks": Answers(hammers(5, 4, 0.4, 0.95), 15),
}
"""With those in which a case has few labels, or a class few cases."""

Array = NDArray[np.float64]


def forms(found: Study) -> dict[str, Array]:
    """Return the quality of each rater, (n_raters,), by each form."""
    rows = np.asarray(found.labels, dtype=np.int64)
    answers = answers_from_rows(rows, np.ones(len(rows)), found.n_classes)
    fit = run_em(
        answers,
        consensus_model(found.n_classes),
        prior=answers.class_frequency(),
        estimate_prior=True,
        stopping=LONG_ENOUGH,
    )
    shown = quality_of_class_labels(answers, range(rows.shape[1]))["quality"].to_numpy()
    log_posterior = np.log(np.maximum(fit.posterior, 1e-36))
    log_prior = np.log(np.maximum(fit.prior, 1e-12))
    return {
        "posterior": _share_alike(rows, log_posterior, fit.cm),
        "likelihood": _share_alike(rows, log_posterior - log_prior, fit.cm),
        "shown": shown,
    }


def _share_alike(rows: NDArray[np.int64], log_values: Array, cm: Array) -> Array:
    found = np.full(rows.shape[1], np.nan)
    for rater, said in enumerate(rows.T):
        judged = (said != MISSING) & ((rows != MISSING).sum(1) > 1)
        own = np.log(np.maximum(cm[rater].T[said[judged]], 1e-12))
        likeliest = (log_values[judged] - own).round(9).argmax(1)
        found[rater] = (likeliest == said[judged]).mean() if judged.any() else np.nan
    return found


def compare(found: Study) -> list[dict[str, object]]:
    """Hold every form against the share of right answers."""
    labels, truth = np.asarray(found.labels), np.asarray(found.truth)
    given = labels != MISSING
    right = (labels == truth[:, None]) & given
    true = right.sum(0) / np.maximum(given.sum(0), 1)
    return [
        {
            "form": name,
            "rank correlation": rank_correlation(values, true),
            "distance": float(np.nanmean(np.abs(values - true))),
        }
        for name, values in forms(found).items()
    ]


def main() -> None:
    """Compare on all studies, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the real crowds")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = [f"`python benchmarks/alike_choice.py` at commit {current_commit()}.\n"]
    for title, seeds in (("chosen on", CHOSEN), ("reported", REPORTED)):
        rows = [
            {"study": name, **each}
            for name, made in STUDIES.items()
            for seed in seeds
            if (found := answered(made, seed)).labels.shape[1] >= FEWEST
            for each in compare(found)
        ]
        parts += _tables(pd.DataFrame(rows), f"seeds {seeds[0]} to {seeds[-1]}, {title}")
    crowds = [
        {"study": folder.name, **each}
        for folder in sorted(arguments.data.iterdir())
        if (folder / "truth.csv").is_file()
        for each in compare(read_crowd_study(folder))
    ]
    parts += _tables(pd.DataFrame(crowds), "real crowds, looked at to choose")
    text = "\n".join(parts)
    (RESULTS / "alike_choice.md").write_text(text, encoding="utf-8")
    print(text)


def _tables(table: pd.DataFrame, title: str) -> list[str]:
    parts = []
    for value in ("rank correlation", "distance"):
        wide = table.pivot_table(index="study", columns="form", values=value, sort=False)
        wide.loc["mean"] = wide.mean()
        parts.append(f"## {value}, {title}\n\n{markdown(wide.round(3))}")
    return parts


if __name__ == "__main__":
    main()
