import pytest
import torch

from multirater.errors import InputError
from multirater.nn.prism import PrismNetwork
from multirater.nn.prism.options import PrismOptions
from multirater.nn.rater_network import Labelled, batch_loss


def network(n_raters=3, n_classes=2, channels=(4, 8), ndim=2, **options):
    torch.manual_seed(0)
    return PrismNetwork(
        n_channels=1,
        n_raters=n_raters,
        n_classes=n_classes,
        ndim=ndim,
        channels=channels,
        options=PrismOptions(**options),
    )


def group(labels, raters):
    return Labelled(labels, raters, torch.full_like(labels[:, 0], -1), None, True, "marginal")


def total(loss):
    return loss.nll + loss.truth


@pytest.mark.parametrize("integration", ["attention", "concatenation", "conv-lstm"])
@pytest.mark.parametrize("calibration", ["shuffle", "multi-head", "both"])
@pytest.mark.parametrize("supervision", ["fused", "self-fused"])
def test_every_part_learns(integration, calibration, supervision):
    net = network(
        integration=integration, calibration=calibration, supervision=supervision, recurrences=1
    )
    labels = torch.randint(0, 2, (2, 3, 16, 16))
    total(batch_loss(net, torch.randn(2, 1, 16, 16), [group(labels, range(3))])).backward()
    idle = [name for name, each in net.named_parameters() if each.grad is None]
    assert idle == []
    assert all(torch.isfinite(each.grad).all() for each in net.parameters())


@pytest.mark.parametrize("space", [(5, 7), (1, 23), (33, 2), (40, 24)])
@pytest.mark.parametrize("channels", [(4, 8), (4, 4, 8, 8)])
def test_any_size_any_depth(space, channels):
    net = network(n_raters=2, n_classes=3, channels=channels, recurrences=1)
    labels = torch.randint(-1, 3, (2, 2, *space))
    loss = net.loss(torch.randn(2, 1, *space), group(labels, range(2)))
    assert torch.isfinite(total(loss))
    found = net.eval().outputs(torch.randn(2, 1, *space), [1])
    assert found.truth.shape == (2, 3, *space)
    assert found.drawn.shape == (2, 1, 3, *space)
    assert found.cm.shape == (2, 1, 3, 3, *space)
    for each, axis in ((found.truth, 1), (found.drawn, 2), (found.cm, 3)):
        assert torch.allclose(each.sum(axis), torch.ones(()), atol=1e-5)


@pytest.mark.parametrize("recurrences", [0, 1, 4])
def test_each_recurrence_is_told_and_the_last_is_the_answer(recurrences):
    net = network(recurrences=recurrences).eval()
    image = torch.randn(1, 1, 16, 16)
    steps = net.steps(image, [0, 2])
    assert len(steps) == recurrences + 1
    last = net.outputs(image, [0, 2])
    assert torch.equal(steps[-1].truth, last.truth)
    assert torch.equal(steps[-1].cm, last.cm)


def test_gradients_do_not_cross_recurrences_nor_from_one_prism_to_the_other():
    net = network(recurrences=2)
    image, labels = torch.randn(2, 1, 16, 16), torch.randint(0, 2, (2, 3, 16, 16))
    seen = []
    net.conp.register_forward_hook(lambda _, inputs, __: seen.append(inputs[1].requires_grad))
    net.divp.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].requires_grad))
    net.loss(image, group(labels, range(3)))
    assert seen == [False] * 6


def test_given_confidences_decide_whom_the_segmentation_follows():
    torch.manual_seed(0)
    net = network(n_raters=2, channels=(8, 16), recurrences=0)
    image = torch.linspace(-2, 2, 16).expand(4, 1, 16, 16)
    left = torch.zeros(4, 16, 16, dtype=torch.int64)
    left[..., :8] = 1
    labels = torch.stack([left, 1 - left], dim=1)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        total(net.loss(image, group(labels, range(2)))).backward()
        optimizer.step()
    net.eval()
    first = net.calibrated(image, torch.tensor([0.9, 0.1])).truth[:, 1].detach()
    second = net.calibrated(image, torch.tensor([0.1, 0.9])).truth[:, 1].detach()
    assert float(first[..., :8].mean()) > 0.7 > 0.3 > float(second[..., :8].mean())
    as_maps = torch.tensor([0.9, 0.1]).reshape(1, 2, 1, 1).expand(4, -1, 16, 16)
    assert torch.allclose(net.calibrated(image, as_maps).truth[:, 1], first, atol=1e-6)


def test_unlabelled_pixels_teach_nothing():
    net = network(recurrences=0, calibration="multi-head")
    image = torch.randn(1, 1, 16, 16)
    nothing = torch.full((1, 3, 16, 16), -1)
    total(net.loss(image, group(nothing, range(3)))).backward()
    assert all(float(each.grad.abs().max()) < 1e-4 for each in net.parameters())


def test_the_likelihood_is_of_those_who_labelled_and_is_only_measured():
    net = network().eval()
    image, labels = torch.randn(2, 1, 16, 16), torch.randint(0, 2, (2, 1, 16, 16))
    loss = net.loss(image, group(labels, (2,)))
    drawn = net.outputs(image, [2]).drawn
    expected = -drawn.gather(2, labels[:, :, None]).log().mean()
    assert float(loss.nll) == pytest.approx(float(expected), rel=1e-5)
    assert not loss.nll.requires_grad


def test_the_widths_of_table_5():
    net = network(n_raters=4, n_classes=3, widths="table-5", recurrences=0)
    assert [each.out_channels for each in net.conp.deconvolutions] == [256, 128, 64, 32]
    assert [stage.conv1.conv.out_channels for stage in net.encoder.stages] == [
        32,
        64,
        128,
        256,
        512,
    ]
    embedding = net.conp.embedding.stages[-1].point_wise
    assert [each.out_channels for each in embedding[::2]] == [64, 128, 256, 512]
    first = net.divp.stem[0]
    assert (first.out_channels, first.kernel_size, first.stride) == (64, (8, 8), (2, 2))
    assert net.divp.split.out_channels == 4 * 3
    labels = torch.randint(0, 3, (1, 4, 40, 24))
    loss = net.loss(torch.randn(1, 1, 40, 24), group(labels, range(4)))
    assert torch.isfinite(total(loss))


@pytest.mark.parametrize(
    ("options", "is_last"),
    [
        ({}, False),
        ({"calibration": "both"}, False),
        ({"calibration": "shuffle"}, True),
        ({"calibration": "shuffle", "epoch": "likelihood"}, False),
        ({"epoch": "last"}, True),
    ],
)
def test_an_epoch_is_chosen_by_what_a_loss_trains(options, is_last):
    assert PrismOptions(**options).keeps_last is is_last


def test_volumes_are_refused_with_a_way_out():
    with pytest.raises(InputError, match="--view slices"):
        network(ndim=3)


@pytest.mark.parametrize("wrong", [{"recurrences": 5}, {"recurrences": -1}])
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="from 0 to 4"):
        PrismOptions(**wrong)


def test_what_is_drawn_goes_on_after_a_stop():
    image, labels = torch.randn(2, 1, 16, 16), torch.randint(0, 2, (2, 3, 16, 16))
    whole, broken = network(calibration="both"), network(calibration="both")
    first = [float(total(whole.loss(image, group(labels, range(3)))).detach()) for _ in range(2)]
    assert first[0] != first[1]
    broken.loss(image, group(labels, range(3)))
    resumed = network(calibration="both")
    resumed.load_state_dict(broken.state_dict())
    assert float(total(resumed.loss(image, group(labels, range(3)))).detach()) == first[1]
