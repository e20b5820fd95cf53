"""Train nnU-Net v2 for some CPU minutes and predict; runs in an environment of its own.

    python nnunet_train.py ROOT CONFIGURATION MINUTES SEED

ROOT/raw/Dataset001_study is in nnU-Net's own form. Its planner and preprocessing are used as they
are; the trainer's epochs are made as short as the minutes ask for, by the CPU time of the
iterations before, so that its learning rate comes down to the end. Predictions go to
ROOT/predicted, figures are printed as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

EPOCHS, LEAST_STEPS = 10, 5
"""Epochs at most, and steps of each where that leaves several of them."""


def cpu_seconds() -> float:
    """CPU time of this process and those it has waited for."""
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return sum(each.ru_utime + each.ru_stime for each in (own, children))


def main() -> None:
    """Plan, preprocess, train, predict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("configuration")
    parser.add_argument("minutes", type=float)
    parser.add_argument("seed", type=int)
    given = parser.parse_args()
    run(given.root, given.configuration, given.minutes, given.seed)


def fit(trainer: Any, end: float) -> int:
    """Train until the CPU time `end`, in epochs whose steps share what is left; return all steps.

    The learning rate comes down over the epochs, as nnU-Net's does over its thousand.
    """
    trainer.on_train_start()
    trainer.train_step(next(trainer.dataloader_train))  # the first is slow, and no measure
    mark, seen = cpu_seconds(), [1]
    trainer.train_step(next(trainer.dataloader_train))
    # Held-out patches, without gradients, are a fifth as many.
    cost = 1.07 * (cpu_seconds() - mark)
    epochs = min(max(int((end - cpu_seconds()) / (cost * LEAST_STEPS)), 1), EPOCHS)
    begin = trainer.on_train_epoch_start

    def plan_epoch() -> None:
        nonlocal mark, cost
        now = cpu_seconds()
        if trainer.current_epoch:
            cost = (now - mark) / seen[-1]
        steps = max(int((end - now) / ((epochs - trainer.current_epoch) * cost)), 1)
        trainer.num_iterations_per_epoch = steps
        trainer.num_val_iterations_per_epoch = max(steps // 5, 1)
        seen.append(steps)
        mark = now
        begin()

    trainer.num_epochs = trainer.lr_scheduler.max_steps = epochs
    trainer.on_train_start, trainer.on_train_epoch_start = lambda: None, plan_epoch
    trainer.run_training()
    return 1 + sum(seen)


def run(root: Path, configuration: str, minutes: float, seed: int) -> None:
    """Do all of it; nnU-Net reads its folders from the environment when it is imported."""
    for name in ("raw", "preprocessed", "results"):
        os.environ[f"nnUNet_{name}"] = str(root / name)
    os.environ |= {"nnUNet_n_proc_DA": "1", "nnUNet_compile": "f"}
    import numpy as np
    import torch
    from nnunetv2.experiment_planning.plan_and_preprocess_api import (
        extract_fingerprints,
        plan_experiments,
        preprocess,
    )
    from nnunetv2.inference.predict_from_raw_data import nnUNetPredictor
    from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer

    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    torch.set_num_threads(1)
    extract_fingerprints([1], num_processes=1)
    plans = plan_experiments([1])
    preprocess([1], configurations=[configuration], num_processes=[1])
    name = plans if isinstance(plans, str) else "nnUNetPlans"
    folder = root / "preprocessed" / "Dataset001_study"
    read = [json.loads((folder / f"{each}.json").read_text()) for each in (name, "dataset")]
    read[0]["continue_training"] = False
    trainer = nnUNetTrainer(read[0], configuration, "all", read[1], device=torch.device("cpu"))
    os.environ |= {"nnUNet_n_proc_DA": "0"}  # patches are made in this process
    started = cpu_seconds()
    steps = fit(trainer, started + 60 * minutes)
    used = cpu_seconds() - started
    predictor = nnUNetPredictor(
        use_mirroring=False, device=torch.device("cpu"), perform_everything_on_device=False
    )
    trained = root / "results" / "Dataset001_study" / f"nnUNetTrainer__{name}__{configuration}"
    predictor.initialize_from_trained_model_folder(str(trained), ("all",), "checkpoint_final.pth")
    (root / "predicted").mkdir()
    began = time.process_time()
    predictor.predict_from_files_sequential(
        str(root / "raw" / "Dataset001_study" / "imagesTs"), str(root / "predicted"), overwrite=True
    )
    print(
        json.dumps(
            {
                "CPU minutes": used / 60,
                "predict minutes": (time.process_time() - began) / 60,
                "steps": steps,
                "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
                "patch": read[0]["configurations"][configuration]["patch_size"],
            }
        )
    )


if __name__ == "__main__":
    main()
