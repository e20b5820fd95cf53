import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from multirater.nn import GlobalConfusion, LowRankConfusion, PixelConfusion
from multirater.nn import pixel_confusion as module
from multirater.nn.rater_network import ConfusionNetwork, Labelled, batch_loss

HEADS = {
    "pixel": lambda n: PixelConfusion(n, 2, 4),
    "low-rank": lambda n: LowRankConfusion(n, 2, 4),
    "global": lambda n: GlobalConfusion(n, 2),
}


def network(kind, n_raters):
    torch.manual_seed(0)
    backbone = torch.nn.Conv2d(1, 4, 3, padding=1)
    head = HEADS[kind](n_raters)
    return ConfusionNetwork(backbone, n_features=4, n_classes=2, ndim=2, confusion=head)


def group(raters, n_cases=1):
    labels = torch.zeros(n_cases, len(raters), 8, 8, dtype=torch.long)
    truth = torch.full((n_cases, 8, 8), -1)
    return Labelled(labels, raters, truth, None, True, "marginal")


def step(model, groups):
    n_cases = sum(len(each.labels) for each in groups)
    loss = batch_loss(model, torch.randn(n_cases, 1, 8, 8), groups)
    (loss.nll + loss.trace).backward()


def flops(kind, n_raters, groups):
    model = network(kind, n_raters)
    with FlopCounterMode(display=False) as counter:
        step(model, groups)
    return counter.get_total_flops()


@pytest.mark.parametrize("kind", HEADS)
def test_a_step_costs_the_same_with_five_raters_and_with_two_hundred(kind):
    groups = [group([0, 3]), group([1]), group([4])]
    assert flops(kind, 5, groups) == flops(kind, 200, groups)


@pytest.mark.parametrize("kind", ["pixel", "low-rank"])
def test_a_step_costs_more_with_more_labels(kind):
    none, one, two = (
        flops(kind, 200, [Labelled(*each)])
        for each in (
            (torch.full((1, 0, 8, 8), -1), [], torch.full((1, 8, 8), -1), None, False, "marginal"),
            tuple(vars(group([7])).values()),
            tuple(vars(group([7, 150])).values()),
        )
    )
    assert two - one == one - none > 0


@pytest.mark.parametrize("kind", ["pixel", "low-rank"])
def test_only_heads_of_raters_present_are_evaluated(kind, monkeypatch):
    evaluated = []
    original = module.rater_maps

    def counting(features, weight, bias):
        evaluated.append((len(features), len(weight)))
        return original(features, weight, bias)

    monkeypatch.setattr(module, "rater_maps", counting)
    step(network(kind, 200), [group([0, 150], n_cases=3), group([7])])
    # Forward, group by group; backward, the other way round.
    assert evaluated == [(3, 2), (1, 1), (1, 1), (3, 2)]
