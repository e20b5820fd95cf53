import pytest
import torch

from multirater.nn.posterior import expected_counts, soft_nll, votes


@pytest.mark.parametrize("space", [(), (3,), (2, 3)])
def test_counts_are_sums_over_labels(space):
    torch.manual_seed(0)
    posterior = torch.rand(4, 3, *space).softmax(1)
    labels = torch.randint(-1, 3, (4, 2, *space))
    found = expected_counts(posterior, labels, [4, 1], 6)
    expected = torch.zeros(6, 3, 3)
    for case in range(4):
        for place, rater in enumerate((4, 1)):
            for observed in range(3):
                said = (labels[case, place] == observed).float()
                expected[rater, :, observed] += (posterior[case] * said).reshape(3, -1).sum(1)
    assert torch.allclose(found, expected, atol=1e-6)


def test_counts_of_pixels_are_whole_in_mixed_precision():
    posterior, labels = torch.ones(1, 1, 1001), torch.zeros(1, 1, 1001, dtype=torch.long)
    with torch.autocast("cpu", torch.bfloat16):
        found = expected_counts(posterior.bfloat16(), labels, [0], 1)
    assert found.tolist() == [[[1001.0]]]


def test_a_rater_who_comes_twice_is_counted_twice():
    posterior = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    labels, raters = torch.tensor([[0], [1]]), torch.tensor([[2], [2]])
    found = expected_counts(posterior, labels, raters, 3)
    assert found[2].tolist() == [[1.0, 0.5], [0.0, 0.5]]


def test_votes_are_shares_of_the_labels_given():
    found = votes(torch.tensor([[0, 1, 1], [2, -1, -1], [-1, -1, -1]]), 3)
    assert torch.allclose(found, torch.tensor([[1 / 3, 2 / 3, 0], [0, 0, 1], [0, 0, 0]]))


def test_items_without_labels_do_not_count():
    log_truth = torch.tensor([[0.5, 0.5], [0.1, 0.9]]).log()
    target = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    found = soft_nll(log_truth, target, torch.tensor([[0, 0], [-1, -1]]), None)
    assert torch.allclose(found, -torch.tensor(0.5).log())
