"""What a network is worth when its steps are computed in 16 bits instead of 32, step by step.

    python benchmarks/precision_choice.py --data ../../shared/data [--seeds 3] [--epochs 8]

Studies with real raters, the default plan with few epochs, so that both precisions take the same
steps: Dice with the raters of unseen images, and CPU minutes of the training. The table goes to
benchmarks/results/precision_choice.md. On a processor that does not multiply 16-bit floats the
second precision is slower, and is not what a run would choose.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from grid import RESULTS, Job, as_table, markdown, mean_std, run_grid, what_was_run
from real_studies import scores
from real_studies_data import study

STUDIES = ("QUBIQ brain growth", "CHASE_DB1")
PRECISIONS = ("32-true", "bf16-mixed")
DATA = "REAL_STUDIES"
"""Environment variable that tells processes where the data are."""


def work(job: Job) -> dict[str, Any]:
    """Train one network on one study and hold it against the raters of unseen images."""
    import multirater
    from multirater.training import Predictor, TrainConfig, train

    warnings.simplefilter("ignore")
    dataset = study(job["study"], Path(os.environ[DATA]), job["seed"])
    short = replace(multirater.plan(dataset), epochs=job["epochs"])
    config = TrainConfig(
        method=job["method"], precision=job["precision"], threads=1, seed=job["seed"]
    )
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        train(dataset, Path(folder) / "run", config, plan=short)
        used = time.process_time() - started
        predicted = Predictor(Path(folder) / "run").of_cases(dataset.split("test"), lambda _: ())
        found = {each.case.name: each.prediction.label for each in predicted}
    return {"CPU minutes": used / 60, **scores(dataset, found)}


def main() -> None:
    """Run what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    parser.add_argument("--seeds", default="3", help="folds of QUBIQ, seeds of CHASE_DB1")
    parser.add_argument("--epochs", type=int, default=8, help="of the plan's steps each")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    given = parser.parse_args()
    os.environ[DATA] = str(given.data.resolve())
    jobs = [
        {"study": name, "method": method, "precision": each, "seed": seed, "epochs": given.epochs}
        for seed in map(int, given.seeds.split(","))
        for name in STUDIES
        for method in ("mode", "auto")
        for each in PRECISIONS
    ]
    records = run_grid(work, jobs, RESULTS / "precision_choice.jsonl", processes=given.jobs)
    table = as_table(records)
    table["training"] = table["study"] + ", " + table["method"]
    parts = [
        "# 16 bits or 32\n",
        f"{what_was_run('precision_choice', records, len(jobs), quick=False)} {given.epochs} "
        f"epochs of the plan's steps in both; folds or seeds {given.seeds}.\n",
    ]
    for value in ("Dice", "CPU minutes"):
        told = mean_std(table, "training", "precision", value, digits=3)
        parts.append(f"## {value}\n\n{markdown(told)}")
    path = RESULTS / "precision_choice.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
