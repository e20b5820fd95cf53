"""How good a verdict the jury of `auto` comes to, by each way to tell its raters apart.

    python benchmarks/weight_choice.py                 seeds 0 to 2, half an hour
    python benchmarks/weight_choice.py --seeds 50,51   others

Regimes of the arena with one label per image, as they are and `few`. Heads are trained once (step 1
of `multirater.training.jury`), raters are weighed in four ways, and the verdict on the training
images is held against the truth: what raters' predictability may be by the spread over all raters'
cases, or by the median rater's; each as it is, or drawn together as far as chance goes. `labels`:
what was drawn. The table goes to benchmarks/results/weight_choice.md.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import lightning
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from arena import settings
from arena_regimes import REGIMES, Form, arena_dataset
from grid import RESULTS, current_commit, markdown
from multirater.metrics import dice_score
from multirater.training import jury, methods, train, weighing
from multirater.training.batches import collate
from multirater.training.data import SampleDataset
from multirater.training.module import RaterModule
from multirater.training.pixels import Pixels
from multirater.types import Dataset

Array = NDArray[np.float64]


def spread_of_all(pixels: Sequence[Pixels], entropy: Array, n_cases: Array) -> Array:
    """Standard error of predictability by the mean spread over raters, as it was before."""
    squares, n_free = 0.0, 0
    for part in pixels:
        left = weighing._surprise_by_case(part) / np.maximum(entropy, 1e-3)[:, None]
        left = left - weighing._mean(left, 1)
        n_free += int(np.maximum((~np.isnan(left)).sum(1) - 1, 0).sum())
        squares += float(np.nansum(left**2))
    return np.asarray(np.sqrt(squares / max(n_free, 1) / np.maximum(n_cases, 1)))


def as_it_is(draws: Array) -> Array:
    """Leave raters where they are."""
    return draws


WAYS = {
    "all raters": (spread_of_all, as_it_is),
    "all, together": (spread_of_all, weighing.drawn_together),
    "median": (weighing.standard_error, as_it_is),
    "median, together": (weighing.standard_error, weighing.drawn_together),
}


class Compared(Exception):  # noqa: N818  no error: there is nothing more to train
    """Raters were weighed."""


class Compare(jury.WeighRaters):
    """Weighs raters in every way when the time has come, and ends the training."""

    found: dict[str, float]
    truth: dict[str, NDArray[Any]]

    def on_train_epoch_start(
        self, trainer: lightning.Trainer, module: lightning.LightningModule
    ) -> None:
        """Compare at the first weighing."""
        assert isinstance(module, RaterModule)
        if not jury._is_time(module):
            return
        network, data = module.network, trainer.datamodule  # type: ignore[attr-defined]
        network.eval()
        look = jury.PixelReader(network, data.config.seed, module.current_epoch, module.device)
        held_out, training = look(data.held_out), look(data.training)
        filters = weighing.foreseen_by_filters(training.with_cases_of(held_out))
        Compare.found = {"labels": self.dice(data.training, None)}
        for name, (spread, together) in WAYS.items():
            with (
                patch.object(weighing, "standard_error", spread),
                patch.object(weighing, "drawn_together", together),
            ):
                weighed = weighing.weigh(training, held_out, filters)
            with torch.no_grad():
                network.weight.copy_(torch.as_tensor(weighed.weight))
                network.predictable.copy_(torch.as_tensor(weighed.predictable))
                network.standing.copy_(torch.as_tensor(weighed.standing))
            Compare.found[name] = self.dice(data.training, network)
        raise Compared

    @torch.no_grad()
    def dice(self, samples: SampleDataset, network: Any) -> float:
        """Dice of the verdict, or of the labels as they are, with the truth."""
        scores = []
        for index, (number, _) in enumerate(samples.parts):
            batch = collate([samples[0, index]])
            labels, raters = batch.groups[0].labels, list(batch.groups[0].raters)
            said = labels.amax(1)
            if network is not None:
                said = network.verdict(network.features(batch.image), labels, raters)
            truth = self.truth[samples.cases[number].name]
            of_class = [
                float(dice_score(truth == k, said[0].numpy() == k))
                for k in np.unique(truth)
                if k > 0
            ]
            scores.append(np.mean(of_class) if of_class else np.nan)
        return float(np.nanmean(scores))


def compared(regime: str, form: Form, seed: int) -> dict[str, float]:
    """Train the heads of a regime and compare the ways to weigh."""
    dataset: Dataset = arena_dataset(regime, "one", seed, form)
    Compare.truth = {
        case.name: truth.array for case in dataset if (truth := case.read_truth()) is not None
    }
    training = replace(dataset, cases=tuple(case for case in dataset if case.split == "train"))
    known = methods.METHODS["masks"]
    own = replace(known["auto"], callbacks=(Compare,))
    config = settings("auto", seed, REGIMES[regime].epochs(form))
    with tempfile.TemporaryDirectory() as folder, patch.dict(known, auto=own):
        try:
            train(training, Path(folder) / "run", config)
        except Compared:
            return Compare.found
    raise RuntimeError("raters were never weighed")


def main() -> None:
    """Compare, and write the table."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0,1,2")
    given = parser.parse_args()
    seeds = [int(each) for each in given.seeds.split(",")]
    rows = []
    forms: tuple[Form, ...] = ("", "few")
    for form in forms:
        for regime in REGIMES:
            for seed in seeds:
                found = compared(regime, form, seed)
                rows.append({"form": form or "usual", "regime": regime, "seed": seed, **found})
                print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    ways = ["labels", *WAYS]
    mean = (100 * table.groupby(["form", "regime"], sort=False)[ways].mean()).round(1)
    mean.loc[("all", "mean"), :] = (100 * table[ways].mean()).round(1)
    mean.loc[("all", "lowest, less labels"), :] = (
        (100 * table[ways].sub(table["labels"], axis=0)).min().round(1)
    )
    text = (
        "# Ways to tell raters apart\n\n"
        f"`python benchmarks/weight_choice.py --seeds {given.seeds}` at {current_commit()}. "
        "Dice of the verdict on training images with one label each, %.\n\n"
    )
    path = RESULTS / "weight_choice.md"
    path.write_text(text + markdown(mean.reset_index()), encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
