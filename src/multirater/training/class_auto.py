"""The method `auto` for class labels: whom to believe how far, found without truth or knob.

The recipe, all of it:

1. *A witness who has not seen the labels of the case*: other cases that look like it
   (`multirater.training.near_cases`), patient by patient where they are known. Images too large to
   be compared pixel by pixel have a second one: the training cases are dealt out to two halves, and
   a network of the run's form and schedule learns the labels of each, as they are, and guesses the
   cases of the other half. Whoever foresees the labels better is heard. On cases that it was taught
   a witness would repeat the labels, and every rater would look right.
2. *Raters are judged* by labels and guesses together (`multirater.training.class_raters`): one
   unknown truth per case, seen by raters through a confusion matrix each, and by the witness.
   a. To begin with, a case with several labels has the truth that Dawid and Skene's way gives it,
      from the vote on; a case with one label has the witness's: what it guesses of the half of the
      cases it is surest of shows what it says of each class.
   b. Three rounds of expectation maximisation. In each the raters' matrices are estimated, and how
      far a guess is to be believed. Rows of a matrix lean on the rater's overall skill, on how hard
      the class is for everybody and on everybody's errors, as far as these foretell labels.
   c. *The benefit of the doubt*: errors that all raters share, down to the rarest of them, are put
      down to the witness, and the matrices are estimated again. With one label per case nothing
      else tells a poor witness from poor raters, and a poor witness must not outvote good ones.
   d. Cases that look alike cost nothing to ask again: they are taught what labels and guesses have
      told so far, some rounds long, and raters are judged once more by the guesses they make then.
3. *The truth has a schedule of its own*: a network is trained on all labels, by their likelihood
   through the matrices, which stay as they are, and on the guesses, which count as half a witness.
   Matrices learned along with the network follow what it has memorised.

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
from multirater.training.class_raters import (
    ClassLabels,
    Judgement,
    judge_by_looks,
    judge_raters,
)
from multirater.training.data import RaterData, SampleDataset, grid_of, group_of, n_readers
from multirater.training.module import RaterModule
from multirater.training.near_cases import FEWEST, SIDE, compared
from multirater.types import Case

Begin: TypeAlias = Callable[[RaterNetwork, RaterData, Callable[[], RaterNetwork]], None]
"""Prepares a network for training: given the data, and what makes a fresh plain network."""

_RARE = 1e-3
"""Smallest probability that a guess or a class is taken to have."""

_NOTHING = 1e-9
"""What a guess is made of where there is none: the same for every class."""


_SAY = 0.5
"""How much a guess counts beside labels while the network learns."""


def take_witness(network: RaterNetwork, data: RaterData, fresh: Callable[[], RaterNetwork]) -> None:
    """Judge the raters; give the network their matrices, and the training cases the guesses.

    Every process does so for itself, from the same cases: they arrive at the same matrices.

    Args:
        network: to be trained, with matrices that are given.
        data: its training and held-out cases.
        fresh: makes a network of the same form that takes labels for the truth.
    """
    assert isinstance(network, ConfusionNetwork)
    assert isinstance(network.confusion, GivenConfusion)
    found = judged(data, fresh, network.confusion.n_classes)
    network.confusion.take(torch.from_numpy(found.matrices).float())
    usual = np.log(found.truth.mean(0) + _RARE)
    hints = _SAY * (np.log(np.maximum(found.guess, _RARE)) - usual)
    rows = zip(data.training_cases, hints.astype(np.float32), strict=False)
    data.hints = {case.name: hint for case, hint in rows}


def judged(data: RaterData, fresh: Callable[[], RaterNetwork], n_classes: int) -> Judgement:
    """Judge the raters by whichever witness foresees their labels better.

    Args:
        data: the cases.
        fresh: makes a network.
        n_classes: of the data set.

    Returns:
        With rows of training, then of held-out cases.
    """
    cases, raters = [*data.training_cases, *data.held_out_cases], data.dataset.raters
    answers = answers_of(cases, raters)
    near = compared(cases, grid_of(data.config))
    if near is None:
        nothing = np.full((len(cases), n_classes), 1 / n_classes)
        return judge_raters(answers, nothing, len(raters))
    if _is_large(cases[0]):
        votes = ClassLabels(answers, len(raters), len(cases), n_classes).votes
        guesses = guesses_of(data, fresh, n_classes)
        if ((guesses - votes) ** 2).sum() < ((near.guess(votes) - votes) ** 2).sum():
            return judge_raters(answers, guesses, len(raters))
    return judge_by_looks(answers, near, len(raters), n_classes)


def _is_large(case: Case) -> bool:
    """Whether comparing pixels would lose much of an image."""
    image = case.read_image()
    return image is not None and max(image.space, default=0) > SIDE


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
    for number in range(2 if n_groups >= FEWEST else 0):
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
        num_workers=n_readers(config),
    )
