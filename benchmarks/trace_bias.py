"""What the trace penalty does to a matrix, in closed form, beside what was trained.

    python benchmarks/trace_bias.py [--write]

Where the network knows the truth, row c of a rater's matrix minimises

    -π Σ_j p_j log a_j + λ a_c,    Σ_j a_j = 1,

with p the rater's true row and π the share of class c. At λ = 0 that is p. Above it the diagonal is
smaller than the rater's: the penalty does not only choose among equally likely solutions, it moves
them. From some λ on the mean of all matrices no longer leads on its diagonal; then another order
of the classes has a smaller trace: the network learns that. Trained figures are those of
`tanno2019.py` that are kept, five pairwise-flippers; dense ones count the trace per label, too.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from grid import RESULTS, markdown, read_records
from kept import add_write_option, kept
from tanno2019 import LAMBDAS, N_CLASSES, SWEPT_SKILL, dominance, rater_cms

SEEDS = (0, 1, 2)


def penalised(cm: NDArray[np.float64], weight: float, share: float) -> NDArray[np.float64]:
    """Return the matrix that likelihood and trace find together, the truth being known.

    Args:
        cm: (true, observed), the rater's own; rows sum to one.
        weight: of the trace, λ.
        share: of every class among the items, π.

    Example:
        >>> penalised(np.array([[0.35, 0.65], [0.65, 0.35]]), 0.1, 0.1).round(3)
        array([[0.194, 0.806],
               [0.806, 0.194]])
    """
    right, ratio = np.diag(cm), weight / share
    free = (1 - ratio + np.sqrt((1 - ratio) ** 2 + 4 * (1 - right) * ratio)) / 2
    found = cm / free[:, None]
    np.fill_diagonal(found, right / (free + ratio))
    return found


def predicted() -> pd.DataFrame:
    """Return diagonal and lead of the mean matrix by λ, as the closed form has them."""
    rows = []
    for weight in (0.0, *sorted(LAMBDAS)):
        found = [
            np.stack([penalised(cm, weight, 1 / N_CLASSES) for cm in _raters(seed)])
            for seed in SEEDS
        ]
        rows.append(
            {
                "λ": weight,
                "diagonal, closed form": np.mean(
                    [np.trace(each.mean(0)) / N_CLASSES for each in found]
                ),
                "smallest lead, closed form": np.mean([dominance(each) for each in found]),
            }
        )
    return pd.DataFrame(rows).set_index("λ")


def trained() -> pd.DataFrame:
    """Return the same of networks that were trained, and how often they are right."""
    rows = []
    for record in read_records(RESULTS / "tanno2019.jsonl"):
        job, result = record["job"], record["result"]
        of_sweep = (job["data"], job["raters"], job["p"], job["method"])
        if of_sweep == ("small mnist", "pairwise-flipper", SWEPT_SKILL, "trace"):
            mean = np.array(result["mean CM"])
            rows.append(
                {
                    "λ": job.get("trace_weight", 0.01),
                    "supply": job["supply"],
                    "diagonal": np.diag(mean).mean(),
                    "right, %": 100 * result["accuracy"],
                }
            )
    each = pd.DataFrame(rows).groupby(["λ", "supply"]).mean().unstack()
    each.columns = [f"{name}, {supply}" for name, supply in each.columns]
    return each


def _raters(seed: int) -> NDArray[np.float64]:
    return rater_cms({"raters": "pairwise-flipper", "p": SWEPT_SKILL, "seed": seed})


def main() -> None:
    """Print the two side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_write_option(parser)
    with kept("trace_bias", parser.parse_args().write):
        print(f"five pairwise-flippers, p = {SWEPT_SKILL}, mean over seeds {SEEDS}\n")
        print(markdown(predicted().join(trained()).round(3).astype(object).fillna("-")))


if __name__ == "__main__":
    main()
