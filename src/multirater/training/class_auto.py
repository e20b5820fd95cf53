"""The method `auto` for class labels: whom to believe how far, found without truth or knob.

The recipe, all of it:

1. *A witness who has not seen the case.* The training cases are dealt out to two halves, patient
   by patient where they are known, and a network of the run's form and schedule learns the labels
   of each, as they are. Each then guesses the cases of the other half; held-out cases get the mean
   of both guesses. On cases that a network was trained on it would repeat the labels it saw, and
   every rater would look right.
2. *Raters are judged* by labels and guesses together (`multirater.training.class_raters`): one
   unknown truth per case, seen by raters through a confusion matrix each, and by the network.
   a. To begin with, a case with several labels has the truth that Dawid and Skene's way gives it,
      from the vote on; a case with one label has the network's: what it guesses of the half of the
      cases it is surest of shows what it says of each class.
   b. Three rounds of expectation maximisation. In each the raters' matrices are estimated, and how
      far a guess is to be believed. Rows of a matrix lean on the rater's overall skill, on how hard
      the class is for everybody and on everybody's errors, as far as these foretell labels.
   c. *The benefit of the doubt*: errors that all raters share, down to the rarest of them, are put
      down to the network, and the matrices are estimated again. With one label per case nothing
      else tells a poor network from poor raters, and a poor network must not outvote good ones.
3. *The truth has a schedule of its own*: a fresh network is trained from the start on all labels,
   by their likelihood through the matrices, which stay as they are. Learned along with the network
   they follow what it has memorised.

Why it holds where other ways fail, with figures: docs/decisions/0005-class-labels.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import lightning
import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader

from multirater.nn.confusion import GivenConfusion
from multirater.nn.rater_network import ConfusionNetwork, RaterNetwork
from multirater.progress import say
from multirater.training.batches import Batch, BatchOrder, collate
from multirater.training.class_answers import answers_of
from multirater.training.class_raters import judge_raters
from multirater.training.data import RaterData, SampleDataset, group_of
from multirater.training.module import RaterModule
from multirater.types import Case

Begin: TypeAlias = Callable[[RaterNetwork, RaterData, Callable[[], RaterNetwork]], None]
"""Prepares a network for training: given the data, and what makes a fresh plain network."""

_FEWEST = 8
"""Cases, or patients, below which no network learns from half of them."""

_NOTHING = 1e-9
"""What a guess is made of where there is none: the same for every class."""


def take_matrices(
    network: RaterNetwork, data: RaterData, fresh: Callable[[], RaterNetwork]
) -> None:
    """Judge the raters, and give the network their matrices.

    Every process does so for itself, from the same cases: they arrive at the same matrices.

    Args:
        network: to be trained, with matrices that are given.
        data: its training and held-out cases.
        fresh: makes a network of the same form that takes labels for the truth.
    """
    assert isinstance(network, ConfusionNetwork)
    assert isinstance(network.confusion, GivenConfusion)
    cases = [*data.training_cases, *data.held_out_cases]
    answers = answers_of(cases, data.dataset.raters)
    guesses = guesses_of(data, fresh, network.confusion.n_classes)
    found = judge_raters(answers, guesses, len(data.dataset.raters))
    network.confusion.take(torch.from_numpy(found.matrices).float())


def guesses_of(
    data: RaterData, fresh: Callable[[], RaterNetwork], n_classes: int
) -> NDArray[np.float64]:
    """Return class probabilities of training, then held-out cases, by networks that saw neither.

    Args:
        data: the cases.
        fresh: makes a network.
        n_classes: of the data set.

    Returns:
        (n_cases, n_classes).
    """
    guesses = {case.name: np.zeros(n_classes) for case in data.training_cases}
    guesses |= {case.name: np.zeros(n_classes) for case in data.held_out_cases}
    n_groups = len(set(map(group_of, data.training_cases)))
    for number in range(2 if n_groups >= _FEWEST else 0):
        say(f"judging raters: network {number + 1} of 2 learns half of the cases")
        half = _half_of(data, number)
        asked = [*half.held_out_cases, *data.held_out_cases]
        with torch.random.fork_rng():
            torch.manual_seed(data.config.seed + 1 + number)
            guessed = _learned_and_guessed(half, fresh(), asked)
        for case, guess in zip(asked, guessed, strict=True):
            guesses[case.name] += guess
    found = np.stack(list(guesses.values())) + _NOTHING
    return np.asarray(found / found.sum(1, keepdims=True))


def _half_of(data: RaterData, number: int) -> RaterData:
    """Return a half of the training cases, with the other half held out; patients stay together."""
    config = data.config
    config = replace(
        config,
        folds=2,
        fold=number,
        steps_per_epoch=-(-config.steps_per_epoch // 2),
        devices=1,
        num_nodes=1,
    )
    dataset = replace(data.dataset, cases=tuple(data.training_cases))
    return RaterData(dataset, config, with_truth=False, decoded=data.decoded)


def _learned_and_guessed(
    half: RaterData, network: RaterNetwork, asked: Sequence[Case]
) -> NDArray[np.float64]:
    """Train on half of the cases and guess others, (n_asked, n_classes)."""
    config = half.config
    trainer = lightning.Trainer(
        max_epochs=config.epochs,
        accelerator=config.accelerator,
        devices=1,
        precision=config.precision,  # type: ignore[arg-type]
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
        limit_val_batches=0,
        num_sanity_val_steps=0,
        deterministic=True,
    )
    trainer.fit(RaterModule(network, config), half)
    found = _guessed(network, _loader(half, asked), trainer.strategy.root_device)
    # A network that diverged knows nothing; the run itself says so when it comes to it.
    return np.nan_to_num(found)


@torch.inference_mode()
def _guessed(
    network: RaterNetwork, loader: DataLoader[Batch], device: torch.device
) -> NDArray[np.float64]:
    """Return class probabilities of all that is served, (n_cases, n_classes)."""
    network.eval().to(device)
    found = [network.outputs(batch.image.to(device)).truth.cpu() for batch in loader]
    return torch.cat(found).double().numpy()


def _loader(half: RaterData, cases: Sequence[Case]) -> DataLoader[Batch]:
    """Serve cases in their order, unchanged."""
    config = half.config
    samples = SampleDataset(cases, half.decoded, config, training=False)
    order = BatchOrder(len(samples), config.batch_size, seed=config.seed, shuffle=False)
    return DataLoader(
        samples,  # type: ignore[arg-type]
        batch_sampler=order,
        collate_fn=collate,
        num_workers=config.workers,
    )
