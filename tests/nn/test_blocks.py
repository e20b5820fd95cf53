import pytest
import torch

from multirater.nn import blocks
from multirater.nn.blocks import in_blocks


def scores(features, weight, bias, labels):
    """Something that needs all inputs: (B, R, O, P) and (B, R, P)."""
    maps = torch.einsum("rof,bfp->brop", weight, features) + bias[..., None]
    return maps.tanh(), maps.sum(2) * labels


def inputs(n_cases=3, space=(4, 5), dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    shapes = [(n_cases, 2, *space), (3, 4, 2), (3, 4)]
    drawn = [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]
    labels = torch.randint(-1, 2, (n_cases, 3, *space), generator=generator)
    return [each.requires_grad_() for each in drawn], labels


@pytest.mark.parametrize(
    ("values", "sizes"),
    [
        (10**6, [(3, 20)]),
        (12 * 20 * 2, [(2, 20), (1, 20)]),
        (12 * 11, [(1, 11), (1, 9)] * 3),
        (1, [(1, 1)] * 60),
    ],
)
def test_blocks_are_several_cases_or_a_part_of_one(values, sizes, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_VALUES", values)
    seen = []

    def counting(features, *rest):
        seen.append((len(features), features.shape[2]))
        return scores(features, *rest)

    parts, labels = inputs()
    in_blocks(counting, *parts, labels)
    assert seen == sizes


@pytest.mark.parametrize("space", [(7,), (4, 5), (2, 3, 4)])
@pytest.mark.parametrize("values", [1, 100, 10**6])
def test_the_same_as_all_at_once(space, values, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_VALUES", values)
    parts, labels = inputs(space=space)
    first, second = in_blocks(scores, *parts, labels)
    assert first.shape == (3, 3, 4, *space)
    features, weight, bias = parts
    whole = scores(features.flatten(2), weight, bias, labels.flatten(2))
    for mine, theirs in zip((first, second), whole, strict=True):
        assert torch.allclose(mine.flatten(len(mine.shape) - len(space)), theirs)
    mine = torch.autograd.grad(first.square().sum() + second.sum(), parts)
    theirs = torch.autograd.grad(whole[0].square().sum() + whole[1].sum(), parts)
    for one, other in zip(mine, theirs, strict=True):
        assert torch.allclose(one, other)


def test_nothing_but_inputs_is_kept():
    parts, labels = inputs()
    kept = []
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t)
    with hooks:
        in_blocks(scores, *parts, labels)
    assert [tuple(each.shape) for each in kept] == [tuple(e.shape) for e in [*parts, labels]]


def test_half_precision_features_are_worked_on_in_the_precision_of_the_weight():
    parts, labels = inputs(dtype=torch.float32)
    half = parts[0].detach().bfloat16().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        first, second = in_blocks(scores, half, *parts[1:], labels)
    assert first.dtype == second.dtype == torch.float32
    (first.sum() + second.sum()).backward()
    assert half.grad.dtype == torch.bfloat16
    expected = scores(half.detach().float().flatten(2), *parts[1:], labels.flatten(2))[0]
    assert torch.allclose(first.flatten(3), expected, atol=1e-6)
