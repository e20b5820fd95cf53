import pytest
import torch

from multirater.nn import (
    GlobalConfusion,
    LowRankConfusion,
    PixelConfusion,
    RaterConfusion,
    blocks,
)
from multirater.nn.confusion import GivenConfusion, columns_of
from multirater.nn.pixel_confusion import ProductConfusion

N_FEATURES = 6


def heads(n_raters=4, n_classes=3, diagonal=0.9):
    torch.manual_seed(0)
    return {
        "global": GlobalConfusion(n_raters, n_classes, diagonal),
        "pixel": PixelConfusion(n_raters, n_classes, N_FEATURES, diagonal),
        "low-rank": LowRankConfusion(n_raters, n_classes, N_FEATURES, 2, diagonal),
        "product": ProductConfusion(n_raters, n_classes, N_FEATURES, 2, diagonal),
    }


def test_matrices_of_class_labels_start_where_the_paper_starts_them():
    positive = torch.nn.functional.softplus(6 * torch.eye(3) - 5)
    expected = positive / positive.sum(1, keepdim=True)
    assert torch.allclose(RaterConfusion(2, 3)(torch.zeros(1, 4)).exp()[0, 1], expected, atol=1e-5)


@pytest.mark.parametrize("kind", [GlobalConfusion, RaterConfusion])
def test_each_case_may_have_raters_of_its_own(kind):
    head = trained(kind(5, 3))
    labels = torch.tensor([[2, -1], [0, 1], [1, -1]])
    raters = torch.tensor([[4, 0], [1, 3], [4, 0]])
    found = head.columns(torch.zeros(3, N_FEATURES), labels, raters)
    cm = head(torch.zeros(1, N_FEATURES)).exp()[0]
    for case, place in [(0, 0), (1, 0), (1, 1), (2, 0)]:
        rater, label = int(raters[case, place]), int(labels[case, place])
        assert torch.allclose(found.log_likelihood[case, place].exp(), cm[rater, :, label])
        assert torch.allclose(found.trace[case, place], cm[rater].trace())
    assert not found.log_likelihood[:, 1][labels[:, 1] < 0].any()


def trained(head):
    """Away from where it started, so that symmetry hides nothing."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter += torch.randn(parameter.shape, generator=generator)
    return head.double()


@pytest.fixture(params=["global", "pixel", "low-rank", "product"])
def head(request):
    return trained(heads()[request.param])


@pytest.mark.parametrize("space", [(5,), (5, 4), (3, 5, 4)])
def test_rows_sum_to_one_in_any_dimension(head, space):
    log_cm = head(torch.randn(2, N_FEATURES, *space, dtype=torch.float64))
    assert torch.allclose(log_cm.exp().sum(3), torch.ones((), dtype=torch.float64))


def test_raters_asked_for_are_those_of_the_whole(head):
    features = torch.randn(2, N_FEATURES, 4, 4, dtype=torch.float64)
    assert torch.allclose(head(features, [3, 1]), head(features)[:, [3, 1]])


@pytest.mark.parametrize("name", ["global", "pixel", "low-rank"])
def test_starts_near_identity(name):
    log_cm = heads(n_classes=4, diagonal=0.9)[name](torch.randn(2, N_FEATURES, 8, 8))
    diagonal = torch.diagonal(log_cm.exp(), dim1=2, dim2=3)
    assert float(diagonal.detach().mean()) == pytest.approx(0.9, abs=0.01)
    assert float(diagonal.detach().min()) > 0.8


def test_columns_are_entries_of_the_matrices(head):
    features = torch.randn(2, N_FEATURES, 4, 5, dtype=torch.float64)
    labels = torch.randint(-1, 3, (2, 2, 4, 5))
    raters = [2, 0]
    fast = head.columns(features, labels, raters)
    slow = columns_of(head(features, raters), labels)
    assert torch.allclose(fast.log_likelihood, slow.log_likelihood)
    assert torch.allclose(fast.trace, slow.trace)
    cm = head(features, raters).exp().expand(2, -1, -1, -1, 4, 5)
    for case, rater, row, column in torch.cartesian_prod(
        *(torch.arange(size) for size in labels.shape)
    ).tolist():
        label = int(labels[case, rater, row, column])
        for true in range(3):
            expected = 1.0 if label < 0 else float(cm[case, rater, true, label, row, column])
            found = float(fast.log_likelihood[case, rater, true, row, column].exp())
            assert found == pytest.approx(expected)


def test_only_the_raters_present_get_gradients(head):
    features = torch.randn(1, N_FEATURES, 4, 4, dtype=torch.float64)
    head.columns(features, torch.zeros(1, 1, 4, 4, dtype=torch.long), [2]).trace.sum().backward()
    for parameter in head.parameters():
        touched = parameter.grad.flatten(1).abs().sum(1) > 0
        assert touched.tolist() == [False, False, True, False]


@pytest.mark.parametrize("values", [1, 40, 10**6])
@pytest.mark.parametrize("name", ["pixel", "low-rank"])
def test_columns_have_the_gradient_of_the_matrices(name, values, monkeypatch):
    """Block by block, by hand, and computed twice, against autograd through the full matrices."""
    monkeypatch.setattr(blocks, "BLOCK_VALUES", values)
    head = trained(heads()[name])
    features = torch.randn(3, N_FEATURES, 4, 5, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(-1, 3, (3, 2, 4, 5))
    weights = torch.randn(3, 2, 3, 4, 5, dtype=torch.float64)

    def gradients(columns):
        loss = (columns.log_likelihood * weights).sum() + (columns.trace**2).sum()
        return torch.autograd.grad(loss, [features, head.weight, head.bias])

    fast = gradients(head.columns(features, labels, [2, 0]))
    slow = gradients(columns_of(head(features, [2, 0]), labels))
    for one, other in zip(fast, slow, strict=True):
        assert torch.allclose(one, other)


def test_given_matrices_do_not_learn_and_are_kept():
    head, other = GivenConfusion(2, 3), GivenConfusion(2, 3)
    wanted = torch.tensor([[0.8, 0.2, 0.0], [0.1, 0.9, 0.0], [0.3, 0.3, 0.4]]).repeat(2, 1, 1)
    head.take(wanted)
    assert not list(head.parameters())
    other.load_state_dict(head.state_dict())
    assert torch.allclose(other(torch.zeros(1, 5))[0].exp(), wanted, atol=1e-5)


def test_a_product_of_rank_one_says_nothing_of_the_truth():
    head = trained(ProductConfusion(2, 3, N_FEATURES, 1))
    cm = head(torch.randn(2, N_FEATURES, 4, 4).double()).exp()
    assert torch.allclose(cm, cm[:, :, :1].expand_as(cm))
    assert torch.allclose(cm.diagonal(dim1=2, dim2=3).sum(-1), torch.ones(()).double())


def test_a_product_of_full_rank_starts_near_the_identity():
    head = ProductConfusion(2, 3, N_FEATURES, 3, diagonal=0.95)
    cm = head(torch.zeros(1, N_FEATURES, 2, 2)).exp()
    assert cm.diagonal(dim1=2, dim2=3).min() > 0.9
    halves = ProductConfusion(2, 4, N_FEATURES, 2)(torch.zeros(1, N_FEATURES, 1, 1)).exp()
    assert torch.allclose(halves[0, 0, 0, [0, 2], 0, 0], torch.tensor(0.5), atol=0.05)
