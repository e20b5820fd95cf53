import torch

from multirater.nn.backbone import build_backbone
from multirater.nn.cycle_mix import CycleMixNetwork, mix, random_box
from multirater.nn.rater_network import Labelled


def network():
    torch.manual_seed(0)
    backbone = build_backbone("unet", ndim=2, n_channels=1, n_features=4, channels=(4, 8))
    return CycleMixNetwork(
        backbone,
        n_features=4,
        n_classes=2,
        ndim=2,
        kinds=["positive", "negative"],
        with_confusion=False,
    )


def test_a_box_of_the_next_case_comes_with_its_drawings():
    torch.manual_seed(0)
    box = random_box((8, 6), torch.device("cpu"))
    assert 0 < int(box.sum()) < 48
    images, labels = torch.arange(3.0).reshape(3, 1, 1, 1).expand(3, 1, 8, 6), torch.arange(3)
    labels = labels.reshape(3, 1, 1, 1).expand(3, 2, 8, 6)
    mixed, drawn = mix(images, box), mix(labels, box)
    assert (mixed[0, 0][box] == 1).all()
    assert (mixed[2, 0][box] == 0).all()
    assert (mixed[:, 0][:, ~box] == images[:, 0][:, ~box]).all()
    assert torch.equal(mixed[:, 0].long(), drawn[:, 0])


def test_mixtures_are_learned_beside_images_and_not_when_held_out():
    net = network()
    image, labels = torch.randn(3, 1, 16, 16), torch.randint(-1, 2, (3, 2, 16, 16))
    labelled = Labelled(labels, [0, 1], torch.full((3, 16, 16), -1), None, True, "marginal")
    loss = net.loss(net.features(image), labelled)
    assert float(loss.truth.detach()) > 0
    (loss.nll + loss.truth).backward()
    assert all(each.grad is not None for each in net.parameters())
    held_out = net.eval().loss(net.features(image), labelled)
    assert held_out.truth == 0.0
    found = net.outputs(image)
    assert found.truth.shape == (3, 2, 16, 16)
    assert found.drawn is None
