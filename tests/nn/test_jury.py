import numpy as np
import pytest
import torch
from torch import nn

from multirater.nn.jury import LARGEST_JURY, JuryNetwork
from multirater.nn.rater_network import Labelled


def network(n_raters=3, n_classes=2, ndim=2):
    torch.manual_seed(0)
    made = JuryNetwork(
        nn.Identity(), n_features=4, n_raters=n_raters, n_classes=n_classes, ndim=ndim
    )
    nn.init.normal_(made.deviation)
    nn.init.normal_(made.offset)
    return made


def weighed(made, weight, predictable=None, locality=None, ballots=None, standing=None):
    n_raters, n_classes = made.offset.shape
    even = torch.full((n_raters, n_classes, n_classes), 1 / n_classes)
    made.take_weights(
        torch.tensor(weight),
        torch.ones(n_raters) if predictable is None else torch.tensor(predictable),
        torch.tensor(weight) / max(weight) if standing is None else torch.tensor(standing),
        even,
        torch.ones(n_raters) if locality is None else torch.tensor(locality),
        even,
        ballots,
    )
    return made


def labelled(labels, raters, with_confusion=True):
    truth = torch.full((len(labels), *labels.shape[2:]), -1)
    return Labelled(labels, raters, truth, None, with_confusion, "marginal")


@pytest.mark.parametrize("ndim", [2, 3])
def test_outputs_are_probabilities(ndim):
    made = weighed(network(ndim=ndim), [0.5, 0.3, 0.2])
    found = made.outputs(torch.randn(2, 4, *(5,) * ndim), [2, 0])
    assert found.drawn.shape == (2, 2, 2, *(5,) * ndim)
    assert found.cm.shape == (2, 2, 2, 2, *(5,) * ndim)
    for sums in (found.truth.sum(1), found.drawn.sum(2), found.cm.sum(3)):
        assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)


def test_the_row_of_a_certain_truth_is_what_the_rater_would_draw():
    made = weighed(network(), [0.5, 0.3, 0.2])
    nn.init.constant_(made.truth_head.weight, 0.0)
    made.truth_head.bias.data = torch.tensor([0.0, 40.0])
    found = made.outputs(torch.randn(1, 4, 3, 3), [1])
    assert torch.allclose(found.cm[:, :, 1], found.drawn)
    assert torch.allclose(found.cm[:, :, 0], torch.full((1, 1, 2, 3, 3), 0.5))


def test_a_reliable_raters_label_counts_and_a_missing_one_does_not():
    made = weighed(network(), [1.0, 0.0, 0.0])
    features = torch.randn(1, 4, 4, 4)
    labels = torch.randint(0, 2, (1, 1, 4, 4))
    labels[0, 0, 0] = -1
    verdict = made.verdict(features, labels, [0])
    head = made.log_drawn(features, [0]).argmax(2)[:, 0]
    assert torch.equal(verdict[0, 1:], labels[0, 0, 1:])
    assert torch.equal(verdict[0, 0], head[0, 0])


def test_an_unreliable_raters_label_gives_way_to_the_head():
    made = weighed(network(), [1.0, 0.0, 0.0], [0.0, 1.0, 1.0])
    features = torch.randn(1, 4, 4, 4)
    head = made.log_drawn(features, [0]).argmax(2)[:, 0]
    assert torch.equal(made.verdict(features, 1 - head[:, None], [0]), head)


def test_raters_who_did_not_label_speak_by_their_heads():
    made = weighed(network(), [0.0, 0.0, 1.0])
    features = torch.randn(2, 4, 4, 4)
    verdict = made.verdict(features, torch.zeros(2, 1, 4, 4, dtype=torch.long), [0])
    assert torch.equal(verdict, made.log_drawn(features, [2]).argmax(2)[:, 0])


def test_the_truth_starts_as_the_weighted_raters():
    made = weighed(network(), [0.0, 1.0, 0.0])
    image = torch.randn(1, 4, 3, 3)
    assert torch.allclose(made.outputs(image).truth, made.outputs(image, [1]).drawn[:, 0])
    before = made.truth_head.weight.clone()
    weighed(made, [1.0, 0.0, 0.0])
    assert torch.equal(made.truth_head.weight, before)


def test_during_warm_up_the_truth_has_no_say_in_the_features():
    made = network()
    features = torch.randn(1, 4, 4, 4, requires_grad=True)
    labels = torch.randint(0, 2, (1, 2, 4, 4))
    loss = made.loss(features, labelled(labels, [0, 2], with_confusion=False))
    (gradient,) = torch.autograd.grad(loss.truth, features, allow_unused=True, retain_graph=True)
    assert gradient is None
    loss.nll.backward()
    assert features.grad.abs().sum() > 0
    assert made.deviation.grad[[0, 2]].abs().sum() > 0
    assert not made.deviation.grad[1].any()


def test_likelihood_is_that_of_the_raters_own_heads():
    made = weighed(network(), [0.2, 0.3, 0.5])
    features = torch.randn(2, 4, 3, 3)
    labels = torch.randint(-1, 2, (2, 2, 3, 3))
    drawn = made.log_drawn(features, [1, 2]).detach().numpy()
    given = labels.numpy() >= 0
    picked = np.take_along_axis(drawn, np.maximum(labels.numpy(), 0)[:, :, None], 2)[:, :, 0]
    nll = made.loss(features, labelled(labels, [1, 2])).nll
    assert float(nll) == pytest.approx(-picked[given].mean(), rel=1e-5)


def test_of_many_raters_only_the_heaviest_are_asked():
    n = 200
    made = weighed(network(n_raters=n), (torch.arange(n) / sum(range(n))).tolist())
    jury = made._jury([3])
    assert len(jury) == LARGEST_JURY + 1
    assert set(jury) == {3, *range(n - LARGEST_JURY, n)}


def test_errors_that_do_not_depend_on_the_place_are_the_overall_matrix():
    made = weighed(network(), [0.5, 0.3, 0.2], locality=[1.0, 0.0, 1.0])
    found = made.outputs(torch.randn(1, 4, 5, 5), [0, 1])
    assert torch.allclose(found.cm[:, 1], torch.tensor(0.5))
    assert not torch.allclose(found.cm[:, 0], torch.tensor(0.5))


def test_heads_that_foresee_nobody_leave_the_word_to_a_label():
    made = weighed(network(), [0.4, 0.6, 0.0], [0.1, 0.1, 0.1])
    features = torch.randn(1, 4, 4, 4)
    labels = torch.randint(0, 2, (1, 1, 4, 4))
    assert torch.equal(made.verdict(features, labels, [0]), labels[:, 0])


def test_a_label_of_the_best_rater_outweighs_all_heads_that_have_not_labelled():
    made = weighed(network(), [0.34, 0.33, 0.33])
    features, labels = torch.randn(1, 4, 4, 4), torch.randint(0, 2, (1, 1, 4, 4))
    assert torch.equal(made.verdict(features, labels, [0]), labels[:, 0])


def test_two_labels_settle_a_case_by_ballots_and_one_does_not():
    from multirater.training.ballots import Ballots

    random = np.random.default_rng(0)
    counts, prior = random.standard_normal((3, 2, 2)), random.standard_normal(2)
    given = (torch.tensor(counts).float(), torch.tensor(prior).float())
    made = weighed(network(), [0.0, 0.0, 1.0], ballots=given)
    features, labels = torch.randn(1, 4, 5, 5), torch.randint(-1, 2, (1, 3, 5, 5))
    flat = labels[0].reshape(3, -1).numpy()
    expected = np.where((flat == -1).all(0), -1, Ballots("", counts, prior).settle(flat))
    found = made.verdict(features, labels, [0, 1, 2])
    assert found.flatten().tolist() == expected.tolist()
    one = made.verdict(features, labels[:, :1], [0])
    assert torch.equal(one, made.log_drawn(features, [2]).argmax(2)[:, 0])


def test_with_ballots_raters_are_followed_as_far_as_their_labels_count():
    one_each = torch.eye(2).repeat(3, 1, 1)
    made = weighed(network(), [0.0, 0.0, 1.0], ballots=(one_each, torch.zeros(2)))
    assert made.followed == pytest.approx((1 / 3, 1 / 3, 1 / 3))
