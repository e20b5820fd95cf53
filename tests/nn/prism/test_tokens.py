import pytest
import torch

from multirater.nn.prism.tokens import GRID, AttentionBlock, TokenAttention, patches, positions


@pytest.mark.parametrize("space", [(1, 1), (7, 3), (8, 8), (9, 64), (130, 33)])
def test_patches_follow_from_the_size_of_the_image(space):
    maps = torch.rand(2, 3, *space)
    found = patches(maps)
    assert all(1 <= size <= GRID for size in found.shape[2:])
    assert torch.allclose(patches(torch.ones_like(maps)), torch.ones_like(found))


def test_a_patch_is_its_mean():
    maps = torch.arange(256.0).reshape(1, 1, 16, 16)
    assert float(patches(maps)[0, 0, 1, 2]) == pytest.approx(float(maps[0, 0, 2:4, 4:6].mean()))


@pytest.mark.parametrize("n_channels", [1, 2, 6, 32])
def test_every_patch_has_a_position_of_its_own(n_channels):
    encoded = positions(n_channels, (8, 8), torch.device("cpu"))
    assert encoded.shape == (1, n_channels, 8, 8)
    if n_channels >= 4:
        flat = encoded.flatten(2)[0].T
        distance = torch.cdist(flat, flat) + torch.eye(64) * 9
        assert float(distance.min()) > 0.1


def test_attention_is_that_of_torch():
    torch.manual_seed(0)
    ours, theirs = TokenAttention(8, 2), torch.nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad():
        weights = [each.weight[:, :, 0, 0] for each in (ours.query, ours.key, ours.value)]
        theirs.in_proj_weight.copy_(torch.cat(weights))
        theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
        theirs.out_proj.weight.copy_(ours.mix.weight[:, :, 0, 0])
        theirs.out_proj.bias.copy_(ours.mix.bias)
    asking, asked = torch.rand(2, 3, 8, 4, 5)
    where = positions(8, (4, 5), asked.device)
    tokens = [each.flatten(2).transpose(1, 2) for each in (asking + where, asked + where, asked)]
    expected = theirs(*tokens)[0].transpose(1, 2).reshape(3, 8, 4, 5)
    assert torch.allclose(ours(asking, asked), expected, atol=1e-5)


def test_a_block_hears_what_it_is_asked():
    torch.manual_seed(0)
    block, features = AttentionBlock(8), torch.rand(1, 8, 16, 16)
    one, other = (block(torch.randn(1, 8, 16, 16), features, onto=features) for _ in range(2))
    assert one.shape == features.shape
    assert not torch.allclose(one, other)
