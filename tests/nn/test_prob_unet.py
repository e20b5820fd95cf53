import torch

from multirater.nn.backbone import build_backbone
from multirater.nn.prob_unet import ProbabilisticUNet
from multirater.nn.rater_network import Labelled


def network():
    torch.manual_seed(0)
    backbone = build_backbone("unet", ndim=2, n_channels=1, n_features=8, channels=(8, 16))
    return ProbabilisticUNet(
        backbone, n_features=8, n_channels=1, n_classes=2, ndim=2, channels=(8, 16)
    )


def labelled(labels):
    truth = torch.full_like(labels[:, 0], -1)
    return Labelled(labels, range(labels.shape[1]), truth, None, True, "marginal")


def test_learns_to_draw_both_of_two_ways_to_label():
    """Half of the raters draw a large square, half a small one; draws must show both."""
    image = torch.zeros(8, 1, 16, 16)
    image[:, :, 3:13, 3:13] = 1.0
    labels = torch.zeros(8, 2, 16, 16, dtype=torch.long)
    labels[:, 0, 3:13, 3:13] = 1
    labels[:, 1, 6:10, 6:10] = 1
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(150):
        loss = model.loss(model.features(image), labelled(labels)).nll
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        drawn = model.outputs(image[:1], range(16)).drawn[0].argmax(1)
    areas = drawn.flatten(1).sum(1)
    assert areas.min() < 30
    assert areas.max() > 80
    assert loss < 0.1


def test_missing_pixels_do_not_count():
    image = torch.randn(2, 1, 16, 16)
    labels = torch.randint(0, 2, (2, 1, 16, 16))
    model = network()
    torch.manual_seed(1)
    whole = model.loss(model.features(image), labelled(labels)).nll
    labels[:, :, :8] = -1
    torch.manual_seed(1)
    half = model.loss(model.features(image), labelled(labels)).nll
    assert torch.isfinite(half)
    assert not torch.equal(whole, half)


def test_outputs_are_probabilities_and_repeat():
    model = network().eval()
    image = torch.randn(2, 1, 17, 20)
    first, second = model.outputs(image, [0, 1, 2]), model.outputs(image, [0, 1, 2])
    assert first.drawn.shape == (2, 3, 2, 17, 20)
    assert torch.allclose(first.truth.sum(1), torch.ones(()), atol=1e-5)
    assert torch.equal(first.drawn, second.drawn)
