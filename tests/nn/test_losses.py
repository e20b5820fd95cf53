import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from multirater.fuse.answers import answers_from_rows
from multirater.fuse.expectation import expected_counts
from multirater.nn import rater_nll, trace_penalty
from multirater.nn.losses import overlap_loss


def problem(seed, n_cases=2, n_raters=3, n_classes=3, space=(4,), missing=0.3):
    generator = torch.Generator().manual_seed(seed)
    rand = lambda *shape: torch.rand(*shape, generator=generator, dtype=torch.float64)  # noqa: E731
    log_p = torch.log_softmax(3 * rand(n_cases, n_classes, *space), 1)
    log_cm = torch.log_softmax(3 * rand(n_cases, n_raters, n_classes, n_classes, *space), 3)
    labels = torch.randint(0, n_classes, (n_cases, n_raters, *space), generator=generator)
    labels[rand(n_cases, n_raters, *space) < missing] = -1
    return log_p, log_cm, labels


def by_hand(log_p, log_cm, labels, likelihood):
    total, count = 0.0, 0
    p, cm = log_p.exp().numpy(), log_cm.exp().numpy()
    for case in range(len(labels)):
        for pixel in range(labels.shape[2]):
            drawn = [(r, int(v)) for r, v in enumerate(labels[case, :, pixel]) if v >= 0]
            columns = [cm[case, r, :, o, pixel] for r, o in drawn]
            count += len(drawn)
            if likelihood == "marginal":
                total -= sum(np.log(p[case, :, pixel] @ column) for column in columns)
            elif drawn:
                total -= np.log(np.sum(p[case, :, pixel] * np.prod(columns, axis=0)))
    return total / max(count, 1)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from(["marginal", "joint"]))
def test_equals_the_sum_written_out(seed, likelihood):
    log_p, log_cm, labels = problem(seed)
    found = float(rater_nll(log_p, log_cm, labels, likelihood))
    assert found == pytest.approx(by_hand(log_p, log_cm, labels, likelihood))


@given(st.integers(0, 10_000))
def test_both_likelihoods_agree_with_one_label_per_pixel(seed):
    log_p, log_cm, labels = problem(seed, n_raters=1)
    marginal, joint = (rater_nll(log_p, log_cm, labels, each) for each in ("marginal", "joint"))
    assert torch.allclose(marginal, joint)


def test_joint_is_the_likelihood_of_dawid_and_skene():
    log_p, log_cm, labels = problem(3, n_cases=1, space=(50,))
    cm = log_cm[0, :, :, :, 0].exp().numpy()
    prior = log_p[0, :, 0].exp().numpy()
    found = rater_nll(
        log_p[:, :, :1].expand(-1, -1, 50), log_cm[..., :1].expand(*log_cm.shape), labels, "joint"
    )
    answers = answers_from_rows(labels[0].numpy().T, np.ones(50), 3)
    expected = -expected_counts(answers, cm, prior)[2] / int((labels >= 0).sum())
    assert float(found) == pytest.approx(expected)


def test_missing_labels_change_neither_loss_nor_gradient():
    log_p, log_cm, labels = problem(1)
    log_cm.requires_grad_(True)
    (rater_nll(log_p, log_cm, labels) + trace_penalty(log_cm, labels)).backward()
    untouched = (labels == -1)[:, :, None, None].expand_as(log_cm)
    assert torch.all(log_cm.grad[untouched] == 0)
    assert torch.any(log_cm.grad[~untouched] != 0)


def test_trace_is_averaged_over_labelled_pixels_only():
    cm = torch.stack([torch.eye(2), torch.full((2, 2), 0.5)])[None, ..., None].clamp(min=1e-30)
    labels = torch.tensor([[[0], [1]]])
    assert float(trace_penalty(cm.log(), labels)) == pytest.approx(1.5)
    assert float(trace_penalty(cm.log(), torch.tensor([[[0], [-1]]]))) == pytest.approx(2.0)


def test_nothing_labelled_gives_zero_not_nan():
    log_p, log_cm, labels = problem(1)
    labels[:] = -1
    assert float(rater_nll(log_p, log_cm, labels)) == 0.0
    assert float(rater_nll(log_p, log_cm, labels, "joint")) == 0.0
    assert float(trace_penalty(log_cm, labels)) == 0.0


def test_certain_and_wrong_stays_finite():
    log_p = torch.tensor([[[0.0], [-200.0]]])
    log_cm = torch.tensor([[0.0, -200.0], [-200.0, 0.0]])[None, None, ..., None]
    assert torch.isfinite(rater_nll(log_p, log_cm, torch.tensor([[[1]]])))


def test_overlap_is_the_soft_dice_of_labelled_pixels():
    log_p, _, labels = problem(3, n_raters=2, n_classes=2)
    p, expected = log_p.exp()[:, 1], []
    for own in labels.unbind(1):
        known = own >= 0
        hit = (p * (own == 1))[known].sum()
        expected.append(1 - 2 * hit / (p[known].sum() + (own == 1)[known].sum()))
    found = overlap_loss(log_p, labels)
    assert float(found) == pytest.approx(float(sum(expected) / 2), abs=1e-4)


def test_overlap_counts_a_small_object_as_much_as_a_large_one():
    labels = torch.zeros(1, 1, 32, 32, dtype=torch.int64)
    labels[..., :2, :2] = 1
    nothing = torch.tensor([0.99, 0.01]).log()[None, :, None, None].expand(1, 2, 32, 32)
    assert float(overlap_loss(nothing, labels)) > 0.9
