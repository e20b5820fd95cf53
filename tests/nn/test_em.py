import numpy as np
import pytest
import torch
from torch import nn

from multirater.nn.em import GeneralizedEM, ModelBootstrappedEM
from multirater.nn.rater_network import Labelled
from multirater.simulate import hammer_spammer_cm, pairwise_flipper_cm, simulate_class_labels

KINDS = {"gem": GeneralizedEM, "mbem": ModelBootstrappedEM}
N_CLASSES, N_RATERS = 3, 4


def study(n_cases=300, supply="dense"):
    """Points around the corners of a triangle, labelled by raters of differing skill."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, N_CLASSES, n_cases)
    image = np.eye(N_CLASSES)[truth] + rng.normal(0, 0.35, (n_cases, N_CLASSES))
    cms = [hammer_spammer_cm(3, 0.9, seed=0), hammer_spammer_cm(3, 0.6, seed=1)]
    cms = np.stack([*cms, *(pairwise_flipper_cm(3, 0.7, seed=seed) for seed in (2, 3))])
    labels = torch.from_numpy(simulate_class_labels(truth, cms, seed=0).T.astype(np.int64))
    raters = torch.arange(N_RATERS).repeat(n_cases, 1)
    if supply == "one":
        raters = torch.from_numpy(rng.integers(0, N_RATERS, (n_cases, 1)))
        labels = labels.gather(1, raters)
    unknown = torch.full((n_cases,), -1)
    group = Labelled(labels, raters, unknown, None, True, "marginal")
    return torch.from_numpy(image).float(), group, truth, cms


def network(kind):
    torch.manual_seed(0)
    sizes = {"n_features": N_CLASSES, "n_raters": N_RATERS, "n_classes": N_CLASSES, "ndim": 0}
    return KINDS[kind](nn.Linear(N_CLASSES, N_CLASSES), **sizes)


def learn(made, image, group, n_steps=300):
    """The M-step of the network, to near convergence."""
    trained = [each for each in made.parameters() if each.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=0.05)
    for _ in range(n_steps):
        optimizer.zero_grad()
        loss = made.loss(made.features(image), group)
        (loss.nll + loss.truth).backward()
        optimizer.step()


def likelihood(made, image, group):
    """Log-likelihood of the labels per case, by a plain sum over classes."""
    truth = made.outputs(image).truth.detach().double().numpy()
    cm, total = made.matrices.double().numpy(), 0.0
    for p, labels, raters in zip(truth, group.labels.tolist(), group.raters.tolist(), strict=True):
        total += np.log(sum(p[t] * np.prod(cm[raters, t, labels]) for t in range(N_CLASSES)))
    return total / len(truth)


def rounds(kind, supply, n_rounds=5):
    image, group, truth, cms = study(supply=supply)
    made, found = network(kind), []
    for _ in range(n_rounds):
        learn(made, image, group)
        made.take_counts(made.counts(made.features(image), group))
        found.append(likelihood(made, image, group))
    return made, found, truth, cms, image


@pytest.mark.parametrize("supply", ["dense", "one"])
def test_the_likelihood_of_generalized_em_never_falls(supply):
    _, found, *_ = rounds("gem", supply)
    assert np.diff(found).min() > -1e-3
    assert found[-1] > found[0] - 1e-6


def test_the_likelihood_of_model_bootstrapped_em_does_not_fall_beyond_noise():
    _, found, *_ = rounds("mbem", "dense")
    assert np.diff(found).min() > -0.02


@pytest.mark.parametrize("kind", KINDS)
def test_truth_and_raters_are_recovered_from_dense_labels(kind):
    made, _, truth, cms, image = rounds(kind, "dense")
    assert (made.outputs(image).truth.argmax(1).numpy() == truth).mean() > 0.9
    assert np.abs(made.matrices.numpy() - cms).max() < 0.15


def test_with_one_label_per_case_generalized_em_believes_every_rater():
    made, *_ = rounds("gem", "one")
    assert np.allclose(made.matrices.numpy(), np.eye(N_CLASSES), atol=0.01)


def test_with_one_label_per_case_model_bootstrapped_em_tells_raters_apart():
    made, _, _, cms, _ = rounds("mbem", "one")
    assert np.abs(made.matrices.numpy() - cms).max() < 0.3
    skill = np.diagonal(made.matrices.numpy(), axis1=1, axis2=2).mean(1)
    assert skill.argmax() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_posterior_is_its_closed_form(kind):
    image, group, *_ = study(n_cases=40)
    labels = group.labels.clone()
    labels[::3, 1] = -1
    group = Labelled(labels, group.raters, group.truth, None, True, "marginal")
    made = network(kind)
    learn(made, image, group, 20)
    made.take_counts(made.counts(made.features(image), group))
    learn(made, image, group, 5)  # what the network says now must not matter
    found = made.posterior(made.features(image), group).numpy()
    cm = made.matrices.double().numpy()
    if kind == "mbem":
        prior = np.broadcast_to(made.prior.numpy(), (40, N_CLASSES))
    else:
        backbone, head = made.before
        prior = torch.softmax(head(backbone(image)), 1).numpy()
    expected = prior.astype(float).copy()
    for case, row in enumerate(labels.tolist()):
        for rater, label in enumerate(row):
            if label >= 0:
                expected[case] *= cm[rater, :, label]
    expected /= expected.sum(1, keepdims=True)
    assert np.allclose(found, expected, atol=1e-5)


def test_the_first_posterior_is_the_mean_of_the_labels():
    image, group, *_ = study(n_cases=10)
    made = network("gem")
    found = made.posterior(made.features(image), group)
    expected = torch.stack([(group.labels == k).float().mean(1) for k in range(N_CLASSES)], 1)
    assert torch.allclose(found, expected)


def test_model_bootstrapped_counts_compare_labels_with_the_networks_answers():
    image, group, *_ = study(n_cases=50)
    made = network("mbem")
    counts = made.counts(made.features(image), group).numpy()
    answer = made.outputs(image).truth.argmax(1).numpy()
    expected = np.zeros_like(counts)
    for case, row in enumerate(group.labels.tolist()):
        for rater, label in enumerate(row):
            expected[rater, answer[case], label] += 1
    assert np.array_equal(counts, expected)
    made.take_counts(torch.from_numpy(counts))
    assert np.allclose(made.prior.numpy(), np.bincount(answer, minlength=3) / 50, atol=1e-5)


def test_the_copy_of_generalized_em_is_not_trained():
    image, group, *_ = study(n_cases=20)
    made = network("gem")
    made.take_counts(made.counts(made.features(image), group))
    before = [each.clone() for each in made.before.parameters()]
    learn(made, image, group, 3)
    for kept, now in zip(before, made.before.parameters(), strict=True):
        assert torch.equal(kept, now)
