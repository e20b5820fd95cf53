import pytest
import torch

from multirater.errors import InputError
from multirater.nn.backbone import build_backbone
from multirater.nn.coarse import (
    CoarseNetwork,
    DominantConfusion,
    doubt,
    identity_columns,
    said_not,
)
from multirater.nn.coarse_options import CoarseOptions
from multirater.nn.confusion import columns_of
from multirater.nn.losses import plain_nll
from multirater.nn.rater_network import Labelled
from multirater.nn.transition import LearnedTransition, complementary_transition


def network(kinds, n_classes=2, **options):
    torch.manual_seed(0)
    backbone = build_backbone("unet", ndim=2, n_channels=1, n_features=4, channels=(4, 8))
    return CoarseNetwork(
        backbone, n_features=4, n_classes=n_classes, ndim=2, kinds=kinds, **options
    )


def labelled(labels, raters, *, with_confusion=True):
    truth = torch.full((len(labels), *labels.shape[2:]), -1)
    return Labelled(labels, raters, truth, None, with_confusion, "marginal")


@pytest.fixture
def image():
    return torch.randn(3, 1, 8, 8, generator=torch.Generator().manual_seed(1))


def drawn(n_classes, n_raters=1, seed=2):
    random = torch.Generator().manual_seed(seed)
    return torch.randint(-1, n_classes, (3, n_raters, 8, 8), generator=random)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_transition_says_only_what_a_pixel_is_not(n_classes):
    transition = complementary_transition(n_classes)
    assert torch.diagonal(transition).eq(0).all()
    assert torch.allclose(transition.sum(1), torch.ones(n_classes))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_said_not_is_the_product_with_the_transition(n_classes):
    cm = torch.rand(1, 1, n_classes, n_classes, 1).softmax(3)
    product = torch.einsum("brtop,ok->brtkp", cm, complementary_transition(n_classes))
    for k in range(n_classes):
        label = torch.full((1, 1, 1), k)
        expected = columns_of(product.log(), label).log_likelihood
        found = said_not(columns_of(cm.log(), label).log_likelihood)
        assert torch.allclose(found, expected, atol=1e-6)


def test_dominant_matrices_are_right_often_enough_and_agree_with_their_columns():
    head = DominantConfusion(2, 3, 4, largest_error=0.4)
    torch.nn.init.normal_(head.weight, std=5.0)
    features, labels = torch.randn(3, 4, 8, 8), drawn(3, 2)
    log_cm = head(features, [1, 0])
    assert torch.diagonal(log_cm.exp(), dim1=2, dim2=3).min() >= 0.6 - 1e-6
    assert torch.allclose(log_cm.exp().sum(3), torch.ones(()), atol=1e-5)
    expected, found = columns_of(log_cm, labels), head.columns(features, labels, [1, 0])
    assert torch.allclose(found.log_likelihood, expected.log_likelihood, atol=1e-5)
    assert torch.allclose(found.trace, expected.trace, atol=1e-5)


def test_without_matrices_positive_drawings_are_partial_cross_entropy(image):
    net, labels = network(["positive"], 3, with_confusion=False), drawn(3)
    features = net.features(image)
    found = net.loss(features, labelled(labels, [0])).nll
    share = (labels != -1).float().mean()
    assert torch.allclose(found, plain_nll(net.log_truth(features), labels) * share, atol=1e-6)


def test_with_two_classes_a_negative_drawing_is_a_positive_one_of_the_other(image):
    net, labels = network(["positive", "negative"], with_confusion=False), drawn(2)
    other = torch.where(labels == -1, -1, 1 - labels)
    features = net.features(image)
    one = net.loss(features, labelled(labels, [1])).nll
    assert torch.allclose(one, net.loss(features, labelled(other, [0])).nll, atol=1e-5)


def test_with_more_classes_not_k_leaves_the_others_open(image):
    net, labels = network(["negative"], 4, with_confusion=False), drawn(4)
    features = net.features(image)
    probability = net.log_truth(features).exp()
    picked = probability.gather(1, labels.clamp(min=0))
    expected = -torch.log((1 - picked) / 3)[labels != -1].sum() / labels.numel()
    found = net.loss(features, labelled(labels, [0])).nll
    assert torch.allclose(found, expected, atol=1e-5)


def test_masks_are_taken_for_the_truth_beside_drawings_that_are_not(image):
    net, labels = network(["mask", "positive", "negative"], 3), drawn(3, 3)
    labels[:, 0] = labels[:, 0].clamp(min=0)
    features = net.features(image)
    whole = net.loss(features, labelled(labels, [0, 1, 2]))
    parts = [net.loss(features, labelled(labels[:, r : r + 1], [r])) for r in range(3)]
    assert torch.allclose(whole.nll * 3, sum(part.nll for part in parts), atol=1e-5)
    assert torch.allclose(parts[0].nll, plain_nll(net.log_truth(features), labels[:, :1]))
    assert parts[0].trace == 0
    assert parts[1].trace > 0


def test_during_warm_up_matrices_do_not_learn(image):
    net, labels = network(["positive", "negative"]), drawn(2, 2)
    loss = net.loss(net.features(image), labelled(labels, [0, 1], with_confusion=False))
    loss.nll.backward()
    assert all(parameter.grad is None for parameter in net.confusion_parameters())


def test_undrawn_pixels_send_no_gradient(image):
    net = network(["positive", "negative"])
    features = net.features(image).detach().requires_grad_()
    labels = drawn(2, 2)
    loss = net.loss(features, labelled(labels, [0, 1]))
    (loss.nll + loss.trace).backward()
    assert torch.isfinite(features.grad).all()
    undrawn = (labels == -1).all(1)
    assert features.grad.abs().sum(1)[undrawn].max() == 0
    assert features.grad.abs().sum(1)[~undrawn].min() > 0


def test_outputs_know_drawings_and_leave_masks_alone(image):
    net = network(["mask", "negative"], 3).eval()
    found = net.outputs(image, [0, 1])
    assert torch.allclose(found.drawn[:, 0], found.truth, atol=1e-6)
    assert torch.allclose(found.cm.sum(3), torch.ones(()), atol=1e-5)
    assert found.cm[:, 1].diagonal(dim1=1, dim2=2).max() < 1
    assert net.outputs(image).drawn is None


def test_a_rater_who_is_always_right_never_says_anything_else():
    columns = identity_columns(torch.tensor([[[1, -1]]]), 3)
    assert columns.exp()[0, 0, :, 0].tolist() == [0, 1, 0]


def test_a_drawing_that_the_network_does_not_see_yet_is_taken_as_it_is(image):
    """Else the few pixels of a scribble are explained away before they are learned."""
    net, plain = network(["positive"]), network(["positive"], with_confusion=False)
    plain.load_state_dict(net.state_dict(), strict=False)
    with torch.no_grad():
        for each in (net, plain):
            each.truth_head.bias.copy_(torch.tensor([4.0, 0.0]))
    labels = torch.where(drawn(2) == 1, 1, -1)
    found, expected = (
        each.loss(each.features(image), labelled(labels, [0])) for each in (net, plain)
    )
    assert torch.allclose(found.nll, expected.nll, atol=1e-4)
    assert found.trace == 0


def test_each_class_of_each_drawing_is_doubted_by_itself():
    agreed = torch.tensor([[[0.9, 0.7, 0.4]], [[0.1, 0.6, 0.6]]])
    labels = torch.tensor([[[1, 1, 0]], [[2, 1, 1]]])
    found = doubt(agreed, labels, 3)
    expected = torch.tensor([[[1.0, 1.0, 0.0]], [[0.0, 0.5, 0.5]]])
    assert torch.allclose(found, expected, atol=0.05)
    alone = doubt(agreed[:1], labels[:1], 3)
    assert torch.equal(alone, found[:1])


def test_scribbles_are_hardly_doubted():
    large, scribble = torch.full((2, 1, 1, 28, 28), -1)
    large[..., :10, :10], scribble[..., 0, :2] = 1, 1
    agreed = torch.full(large.shape, 0.9)
    assert doubt(agreed, large, 2).max() > 0.8
    assert doubt(agreed, scribble, 2).max() < 0.1


def chosen(kinds, n_classes=2, **options):
    return network(kinds, n_classes, options=CoarseOptions(**options))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_learned_transitions_start_uniform_and_stay_complementary(n_classes):
    learned = LearnedTransition(2, n_classes)
    uniform = complementary_transition(n_classes)
    assert torch.allclose(learned([1, 0]), uniform.expand(2, -1, -1))
    torch.nn.init.normal_(learned.logits)
    found = learned([0, 1])
    assert found.diagonal(dim1=1, dim2=2).eq(0).all()
    assert torch.allclose(found.sum(2), torch.ones(()))
    cm, labels = torch.rand(3, 2, n_classes, n_classes, 8, 8).softmax(3), drawn(n_classes, 2)
    product = torch.einsum("brtoyx,rok->brtkyx", cm, found).log()
    expected = columns_of(product, labels).log_likelihood.exp()
    is_drawn = (labels != -1)[:, :, None].expand_as(expected)
    result = learned.said_not(cm, labels, [0, 1])
    assert torch.allclose(result[is_drawn], expected[is_drawn], atol=1e-6)


def test_a_learned_transition_begins_where_the_uniform_one_is(image):
    labels = drawn(3, 2)
    found = [
        net.loss(net.features(image), labelled(labels, [0, 1]))
        for net in (
            chosen(["positive", "negative"], 3),
            chosen(["positive", "negative"], 3, transition="learned"),
        )
    ]
    assert torch.allclose(found[0].nll, found[1].nll, atol=1e-5)


def test_a_learned_transition_finds_what_is_said_when(image):
    """Of class 1 it is always said "not 2", of the others either."""
    net = chosen(["negative"], 3, transition="learned", doubt=False)
    with torch.no_grad():
        net.truth_head.weight.zero_()
        net.truth_head.bias.copy_(torch.tensor([0.0, 9.0, 0.0]))
    optimizer = torch.optim.Adam(net.transition.parameters(), lr=0.1)
    features, labels = net.features(image).detach(), torch.full((3, 1, 8, 8), 2)
    for _ in range(60):
        optimizer.zero_grad()
        net.loss(features, labelled(labels, [0])).nll.backward()
        optimizer.step()
    assert float(net.transition([0])[0, 1, 2]) > 0.95


def test_matrices_without_a_bound_and_without_doubt_are_those_of_the_equation(image):
    net, labels = chosen(["positive"], 3, largest_error=1.0, doubt=False), drawn(3)
    features = net.features(image)
    log_cm = net.confusion(features)
    mixed = torch.einsum("btyx,brtoyx->broyx", net.log_truth(features).exp(), log_cm.exp())
    picked = mixed.gather(2, labels.clamp(min=0)[:, :, None])[:, :, 0].log()
    found = net.loss(features, labelled(labels, [0]))
    assert torch.allclose(found.nll, -(picked * (labels != -1)).mean(), atol=1e-5)
    trace = log_cm.exp().diagonal(dim1=2, dim2=3).sum(-1) * (labels != -1)
    assert torch.allclose(found.trace, trace.mean(), atol=1e-5)


def test_undrawn_pixels_may_be_background(image):
    net, labels = chosen(["positive", "negative", "mask"], undrawn="background"), drawn(2, 3)
    whole = labels.clone()
    whole[:, :2] = whole[:, :2].clamp(min=0)
    plain = network(["positive", "negative", "mask"])
    features = net.features(image)
    found = net.loss(features, labelled(labels, [0, 1, 2])).nll
    assert torch.allclose(found, plain.loss(features, labelled(whole, [0, 1, 2])).nll, atol=1e-6)


def test_drawings_of_one_kind_can_be_looked_at_alone(image):
    net, labels = chosen(["positive", "negative"], drawings="positive"), drawn(2, 2)
    features = net.features(image)
    found = net.loss(features, labelled(labels, [0, 1])).nll
    alone = net.loss(features, labelled(labels[:, :1], [0])).nll
    assert torch.allclose(2 * found, alone, atol=1e-6)


@pytest.mark.parametrize(
    "wrong", [{"largest_error": 0.0}, {"largest_error": 1.5}, {"trusted": 1.0}]
)
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="expected: a share"):
        CoarseOptions(**wrong)
