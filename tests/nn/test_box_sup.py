import torch

from multirater.nn.box_sup import choose, costs


def test_the_candidate_that_the_network_bears_out_costs_least():
    truth = torch.zeros(1, 8, 8, dtype=torch.int64)
    truth[:, 2:6, 2:6] = 1
    box, small = truth.clone(), torch.zeros_like(truth)
    box[:, 1:7, 1:7] = 1
    small[:, 3:4, 3:4] = 1
    log_truth = torch.where(torch.stack([truth == 0, truth == 1], 1), -0.1, -3.0)
    cost = costs(log_truth, torch.stack([box, truth, small], 1))
    assert choose(cost, at_random=False).tolist() == [1]
    knows_nothing = torch.full_like(log_truth, -0.7)
    cost = costs(knows_nothing, torch.stack([box, truth, small], 1))
    assert choose(cost, at_random=False).tolist() == [0]  # the box fills itself


def test_candidates_that_say_nothing_are_not_taken():
    labels = torch.stack([torch.full((1, 4, 4), -1), torch.zeros(1, 4, 4).long()], 1)
    cost = costs(torch.full((1, 2, 4, 4), -0.7), labels)
    assert torch.isinf(cost[0, 0])
    torch.manual_seed(0)
    assert {int(choose(cost, at_random=True)) for _ in range(20)} == {1}


def test_in_training_one_of_the_best_two_is_taken():
    torch.manual_seed(0)
    cost = torch.tensor([[0.3, 0.1, 0.2, 9.0]])
    assert {int(choose(cost, at_random=True)) for _ in range(40)} == {1, 2}
