import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from multirater.fuse import staple
from multirater.nn.posterior import one_hot
from multirater.nn.prism.fusion import drawn_by, fuse, thresholded


def world(seed, n_raters, n_classes, space=(5, 4)):
    rng = np.random.default_rng(seed)
    cm = rng.dirichlet(np.ones(n_classes), (1, n_raters, n_classes))
    prior = rng.dirichlet(np.ones(n_classes))
    labels = rng.integers(-1, n_classes, (1, n_raters, *space))
    return cm, prior, labels


def by_bayes(cm, prior, labels):
    """Posterior by summing the joint probability over all truths, pixel by pixel."""
    n_classes = len(prior)
    posterior = np.empty((n_classes, *labels.shape[2:]))
    for place in np.ndindex(labels.shape[2:]):
        joint = prior.copy()
        for rater in range(labels.shape[1]):
            drawn = labels[(0, rater, *place)]
            if drawn >= 0:
                joint *= cm[0, rater, :, drawn]
        posterior[(slice(None), *place)] = joint / joint.sum()
    return posterior


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(2, 4))
def test_proposition_1_fusing_by_true_likelihoods_is_bayes_rule(seed, n_raters, n_classes):
    cm, prior, labels = world(seed, n_raters, n_classes)
    confidence = torch.from_numpy(cm).log()[..., None, None]
    log_prior = torch.from_numpy(prior).log()[None, :, None, None]
    fused = fuse(confidence, one_hot(torch.from_numpy(labels), n_classes).double(), log_prior)
    assert np.allclose(fused.exp()[0].numpy(), by_bayes(cm, prior, labels), atol=1e-6)


def test_fusing_by_the_matrices_of_staple_is_its_result():
    rng = np.random.default_rng(0)
    truth = rng.random((20, 20)) < 0.4
    labels = np.stack([truth ^ (rng.random(truth.shape) < rate) for rate in (0.05, 0.2, 0.3)])
    found = staple(labels.astype(np.int16), prior=0.5)
    confidence = torch.from_numpy(np.asarray(found.cm, dtype=float)).log()[None, ..., None, None]
    fused = fuse(confidence, one_hot(torch.from_numpy(labels.astype(np.int64))[None], 2))
    assert np.allclose(fused.exp()[0].numpy(), found.probability, atol=1e-4)


def test_a_rater_who_did_not_label_has_no_say():
    confidence = torch.tensor([[0.9, 0.1], [0.1, 0.9]]).log().expand(1, 2, 2, 2)[..., None]
    alone = fuse(confidence[:, :1], one_hot(torch.tensor([[[1]]]), 2))
    silent = fuse(confidence, one_hot(torch.tensor([[[1], [-1]]]), 2))
    assert torch.allclose(alone, silent)
    nobody = fuse(confidence, one_hot(torch.tensor([[[-1], [-1]]]), 2))
    assert torch.allclose(nobody.exp(), torch.full((1, 2, 1), 0.5))


@pytest.mark.parametrize("n_agreeing", [1, 3, 7])
def test_more_votes_for_a_class_make_it_more_probable(n_agreeing):
    confidence = torch.tensor([[0.8, 0.2], [0.2, 0.8]]).log().expand(1, 7, 2, 2)[..., None]
    labels = torch.full((1, 7, 1), -1)
    labels[0, :n_agreeing] = 1
    expected = 0.8**n_agreeing / (0.8**n_agreeing + 0.2**n_agreeing)
    assert float(fuse(confidence, one_hot(labels, 2)).exp()[0, 1, 0]) == pytest.approx(expected)


def test_thresholded_votes_are_hard_and_still_learn():
    probability = torch.tensor([0.3, 0.7]).reshape(1, 1, 2, 1).requires_grad_()
    votes = thresholded(probability)
    assert votes.flatten().tolist() == [0.0, 1.0]
    votes[0, 0, 1, 0].backward()
    assert probability.grad.flatten().tolist() == [0.0, 1.0]


def test_what_raters_draw_is_the_mean_over_truths():
    log_truth = torch.tensor([0.25, 0.75]).log().reshape(1, 2, 1)
    cm = torch.tensor([[0.9, 0.1], [0.4, 0.6]]).reshape(1, 1, 2, 2, 1)
    drawn = drawn_by(log_truth, cm.log()).exp().flatten()
    assert torch.allclose(drawn, torch.tensor([0.25 * 0.9 + 0.75 * 0.4, 0.25 * 0.1 + 0.75 * 0.6]))
