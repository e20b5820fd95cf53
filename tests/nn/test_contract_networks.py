"""Networks of raters that serve drawings and class labels alike.

What all networks promise is in `tests/training/test_contract_methods.py`.
"""

import pytest
import torch
from torch import nn

from multirater.nn.agg_net import AggregationNetwork
from multirater.nn.confusion import RaterConfusion
from multirater.nn.crowd_layer import CrowdLayerNetwork
from multirater.nn.em import EMNetwork, GeneralizedEM, ModelBootstrappedEM
from multirater.nn.max_mig import MaxMigNetwork
from multirater.nn.rater_network import ConfusionNetwork, Labelled, batch_loss
from multirater.nn.soft_bootstrap import BootstrapNetwork
from multirater.nn.weighted_doctors import WeightedDoctorNet

N_RATERS, N_CLASSES, N_FEATURES = 4, 3, 5


def confusion_network(backbone, *, n_raters, n_classes, ndim, **sizes):
    head = RaterConfusion(n_raters, n_classes)
    return ConfusionNetwork(backbone, n_classes=n_classes, ndim=ndim, confusion=head, **sizes)


def bootstrap(backbone, *, n_raters, **sizes):
    return BootstrapNetwork(backbone, **sizes)


NETWORKS = {
    "cm": confusion_network,
    "gem": GeneralizedEM,
    "mbem": ModelBootstrappedEM,
    "wdn": WeightedDoctorNet,
    "crowd-layer": CrowdLayerNetwork,
    "agg-net": AggregationNetwork,
    "max-mig": MaxMigNetwork,
    "soft-bootstrap": bootstrap,
}

every_network = pytest.mark.parametrize("name", NETWORKS)


def network(name, space=(), n_raters=N_RATERS):
    """Weights away from the start, so that symmetry hides nothing."""
    torch.manual_seed(0)
    backbone = nn.Linear(2, N_FEATURES) if not space else _convolution(len(space))
    sizes = {"n_features": N_FEATURES, "n_raters": n_raters, "n_classes": N_CLASSES}
    made = NETWORKS[name](backbone, ndim=len(space), **sizes)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter += torch.randn(parameter.shape) * 0.3
    if isinstance(made, EMNetwork):
        made.take_counts(torch.rand(n_raters, N_CLASSES, N_CLASSES) + torch.eye(N_CLASSES))
    return made


def _convolution(ndim):
    return (nn.Conv2d if ndim == 2 else nn.Conv3d)(2, N_FEATURES, 3, padding=1)


def labelled(space, raters=(2, 0), n_cases=6):
    """Labels of two raters per case; of classes, each case has its own."""
    generator = torch.Generator().manual_seed(1)
    labels = torch.randint(-1, N_CLASSES, (n_cases, 2, *space), generator=generator)
    labels[0] = 1
    who = list(raters) if space else torch.tensor([list(raters)] * n_cases)
    return Labelled(labels, who, torch.full((n_cases, *space), -1), None, True, "marginal")


def total(made, image, groups):
    loss = batch_loss(made, image, groups)
    return loss.nll + loss.truth + 0.01 * loss.trace


@every_network
def test_classes_are_images_of_one_pixel(name):
    """The flat form of class labels gives the loss of the same labels drawn on a pixel each."""
    flat, drawn = network(name), network(name, (1, 1))
    state = flat.state_dict()
    with torch.no_grad():
        for key, value in drawn.state_dict().items():
            if "backbone" in key or "before.0" in key:
                if value.ndim > 1:
                    value.zero_()
                    value[:, :, 1, 1] = state[key]
                else:
                    value.copy_(state[key])
            else:
                value.copy_(state[key].reshape(value.shape))
    image, group = torch.randn(6, 2), labelled(())
    on_pixels = Labelled(
        group.labels[..., None, None], [2, 0], group.truth[:, None, None], None, True, "marginal"
    )
    one = batch_loss(flat, image, [group])
    other = batch_loss(drawn, image[..., None, None], [on_pixels])
    for part in ("nll", "truth", "trace"):
        found, expected = (torch.as_tensor(getattr(each, part)).item() for each in (one, other))
        assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ["cm", "crowd-layer", "max-mig"])
def test_no_matrices_but_those_of_raters_present_learn(name):
    made, group = network(name, n_raters=6), labelled(())
    total(made, torch.randn(6, 2), [group]).backward()
    (matrices,) = made.confusion_parameters()
    touched = matrices.grad.flatten(1).abs().sum(1) > 0
    assert touched.tolist() == [True, False, True, False, False, False]
