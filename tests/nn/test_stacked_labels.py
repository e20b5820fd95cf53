"""Stacks of labels, and the truth behind them."""

import pytest
import torch
from torch.nn import functional

from multirater.nn.stacked_labels import StackedLabels, StackedRaterLoss

PATTERNS = [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 1], [1, 1, 0], [-1, -1, -1], [1, -1, 0]]


def test_labels_come_out_of_a_stack_with_those_that_are_missing():
    stacked = StackedLabels(PATTERNS, n_classes=2)
    labels = stacked.labels(torch.tensor([[[[0, 2], [5, 6]]]]))
    assert labels.shape == (1, 3, 2, 2)
    assert labels[0, :, 0, 1].tolist() == [1, 0, 0]
    assert labels[0, :, 1, 0].tolist() == [-1, -1, -1]
    assert labels[0, :, 1, 1].tolist() == [1, -1, 0]
    assert stacked.vote(torch.arange(7)[None, None]).tolist() == [[[0, 1, 0, 1, 1, 0, 0]]]


@pytest.mark.parametrize("is_counted", [False, True])
def test_pixels_that_nobody_labelled_do_not_count(is_counted):
    loss = StackedRaterLoss(PATTERNS, n_classes=2)
    if is_counted:
        loss.take_counts()
    logits = torch.zeros(1, 2, 4, requires_grad=True)
    loss(logits, torch.tensor([[[1, 0, 5, 5]]])).backward()
    assert logits.grad[..., :2].abs().min() > 0
    assert logits.grad[..., 2:].abs().max() == 0


def test_counting_happens_once_per_step_and_only_when_asked():
    loss = StackedRaterLoss(PATTERNS, n_classes=2)
    stacks = torch.tensor([[[1, 0, 2]]])
    loss(torch.zeros(1, 2, 3), stacks)
    assert loss.counts.sum() == 0
    loss.is_counting = True
    for _ in range(2):
        loss(torch.zeros(1, 2, 3), stacks)
    assert loss.counts.sum() == pytest.approx(9)


def simulated(rates, n_pixels, seed):
    """The truth (n,), and stacks of raters who name the other class at these rates, by class."""
    generator = torch.Generator().manual_seed(seed)
    truth = (torch.rand(n_pixels, generator=generator) < 0.4).long()
    wrong = torch.rand(len(rates), n_pixels, generator=generator)
    rate = torch.tensor(rates)[:, truth]
    labels = torch.where(wrong < rate, 1 - truth, truth)
    patterns = torch.cartesian_prod(*[torch.arange(2)] * len(rates)).tolist()
    stacks = sum(label * 2 ** (len(rates) - 1 - i) for i, label in enumerate(labels))
    return truth, stacks, patterns


def fitted(rates, *, n_pixels=4000, seed=0):
    """Learn a truth that two noisy features show, behind three raters; return cm and its truth."""
    truth, stacks, patterns = simulated(rates, n_pixels, seed)
    generator = torch.Generator().manual_seed(seed)
    signs = (2.0 * truth - 1)[None, None]
    features = signs + torch.randn(1, 3, n_pixels, generator=generator)
    layer = torch.nn.Conv1d(3, 2, 1)
    torch.nn.init.zeros_(layer.weight)
    loss = StackedRaterLoss(patterns, n_classes=2)
    optimizer = torch.optim.Adam(layer.parameters(), 0.05)
    for epoch in range(12):
        for _ in range(20):
            optimizer.zero_grad()
            loss.is_counting = epoch > 1
            loss(layer(features), stacks[None, None]).backward()
            optimizer.step()
        if epoch > 1:
            loss.take_counts()
    return loss.cm, functional.one_hot(layer(features)[0].argmax(0), 2), truth


def test_matrices_are_found_though_two_raters_of_three_err_alike():
    """Two raters who miss most of the object outvote the third; the image sides with the third."""
    rates = [[0.02, 0.05], [0.02, 0.6], [0.02, 0.6]]
    cm, said, truth = fitted(rates)
    expected = torch.tensor([[[1 - a, a], [b, 1 - b]] for a, b in rates])
    assert (cm - expected).abs().max() < 0.12
    assert (said.argmax(1) == truth).float().mean() > 0.93


def test_a_class_that_is_never_true_keeps_the_identity():
    loss = StackedRaterLoss([[0], [1]], n_classes=3)
    loss.count(torch.tensor([[[9.0], [0.0], [-99.0]]]), torch.tensor([[[0]]]))
    loss.take_counts()
    assert loss.cm[0, 2].tolist() == [0, 0, 1]
