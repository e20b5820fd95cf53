import pytest
import torch
from torch import nn

from multirater.errors import InputError
from multirater.nn.backbone import n_parameters
from multirater.nn.classifier_backbone import build_classifier_backbone


def build(name, n_channels=1, space=(28, 28), n_features=64, **options):
    return build_classifier_backbone(
        name, n_channels=n_channels, space=space, n_features=n_features, options=options
    )


@pytest.mark.parametrize(
    ("name", "n_channels", "space"),
    [
        ("auto", 7, ()),
        ("mlp", 1, ()),
        ("auto", 1, (28, 28)),
        ("cnn", 3, (5, 9)),
        ("cnn", 1, (1, 1)),
        ("cnn", 2, (8, 9, 10)),
        ("cnn-128", 1, (16, 16)),
        ("resnet10", 3, (32, 32)),
        ("resnet10", 1, (16, 16, 16)),
    ],
)
def test_every_kind_of_data_becomes_one_vector_per_case(name, n_channels, space):
    network = build(name, n_channels, space, 12)
    for n_cases in (1, 3):
        out = network(torch.randn(n_cases, n_channels, *space))
        assert out.shape == (n_cases, 12)
        assert out.isfinite().all()


def test_the_cnn_is_that_of_the_paper():
    network = build("cnn")
    widths = [32, 32, 64, 64]
    expected = sum(9 * a * b + b for a, b in zip([1, *widths], widths, strict=False))
    assert n_parameters(network) == expected  # global pooling leads straight to the last layer
    convolutions = [each for each in network.modules() if isinstance(each, nn.Conv2d)]
    assert [each.out_channels for each in convolutions] == widths


def test_the_network_tells_images_apart_by_place_and_content():
    image = torch.zeros(2, 1, 28, 28)
    image[1, :, 4:9, 4:9] = 1
    out = build("cnn")(image)
    assert not torch.allclose(out[0], out[1])


@pytest.mark.parametrize(
    ("space", "expected"),
    [((), "Linear"), ((28, 28), 32), ((96, 96), 128), ((10, 96, 96), 128), ((224, 224), "resnet")],
)
def test_auto_goes_by_the_size(space, expected):
    network = build("auto", 1, space, 8)
    if expected == "Linear":
        assert isinstance(network[1], nn.Linear)
    elif expected == "resnet":
        assert type(network).__name__ == "ResNet"
    else:
        assert next(network[0].parameters()).shape[0] == expected


def test_small_images_keep_their_size_through_the_stem():
    small, large = build("resnet10", 3, (32, 32)), build("resnet10", 3, (200, 200))
    assert small.conv1.kernel_size == (3, 3)
    assert small.no_max_pool
    assert large.conv1.kernel_size == (7, 7)
    assert not large.no_max_pool
    thin = build("resnet10", 3, (32, 32), 10, widen_factor=0.25)
    assert n_parameters(thin) < n_parameters(small) / 10


def test_a_module_of_ones_own_is_copied_and_fitted():
    own = nn.Sequential(nn.Flatten(), nn.Linear(16, 5))
    network = build(own, space=(4, 4), n_features=64)
    assert network(torch.zeros(2, 1, 4, 4)).shape == (2, 64)
    assert all(a is not b for a in own.parameters() for b in network.parameters())
    as_it_is = build(own, space=(4, 4), n_features=5)
    assert torch.equal(as_it_is(torch.ones(1, 1, 4, 4)), own(torch.ones(1, 1, 4, 4)))
    assert as_it_is.training


def test_a_function_is_found_by_its_place(monkeypatch, tmp_path):
    (tmp_path / "own_networks.py").write_text(
        "from torch import nn\n"
        "def flat(n_channels, space, n_features, depth):\n"
        "    assert depth == 3\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(n_channels * space[0] * space[1], 2))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    network = build("own_networks:flat", space=(4, 4), depth=3)
    assert network(torch.zeros(2, 1, 4, 4)).shape == (2, 64)


@pytest.mark.parametrize(
    ("name", "space", "options", "said"),
    [
        ("unet", (28, 28), {}, "no backbone 'unet'"),
        ("mlp", (28, 28), {}, "mlp for images of 28 x 28"),
        ("resnet18", (), {}, "resnet18 for vectors"),
        ("cnn", (28, 28), {"width": 3}, "width"),
        ("resnet10", (28, 28), {"width": 3}, "width"),
        ("nowhere.at.all:make", (28, 28), {}, "cannot be imported"),
        (nn.Linear(3, 4), (), {}, "does not take"),
        (nn.Identity(), (28, 28), {}, "returns"),
        (nn.Identity(), (), {"depth": 1}, "options depth"),
    ],
)
def test_what_cannot_be_built_is_said(name, space, options, said):
    with pytest.raises(InputError, match=said):
        build(name, 1, space, 8, **options)
