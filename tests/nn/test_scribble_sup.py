import numpy as np
import pytest
import torch
from torch import nn

from multirater.nn.rater_network import Labelled
from multirater.nn.scribble_sup import ScribbleSupNetwork, passed_on


def scribbled(n_classes=2):
    """Stripes of unlike brightness, each with a scribble of its class."""
    truth = np.repeat(np.arange(n_classes), 12)[None].repeat(24, 0)
    seeds = np.full(truth.shape, -1)
    for k in range(n_classes):
        seeds[12, 12 * k + 4 : 12 * k + 8] = k
    return truth, seeds


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scribbles_are_passed_on_to_what_looks_alike(n_classes):
    truth, seeds = scribbled(n_classes)
    nobody = np.zeros((n_classes, *truth.shape))
    np.testing.assert_array_equal(passed_on(truth[None], seeds, nobody), truth)


def test_the_network_decides_what_colours_leave_open():
    truth, seeds = scribbled()
    flat, log_truth = np.zeros((1, *truth.shape)), np.log([0.9, 0.1])[:, None, None]
    says_background = np.broadcast_to(log_truth, (2, *truth.shape))
    found = passed_on(flat, seeds, says_background)
    assert (found[seeds == 1] == 1).all()  # scribbles stand
    assert (found == 1).mean() < 0.1
    assert (passed_on(flat, seeds, says_background[::-1]) == 1).mean() > 0.9


def test_only_classes_of_the_image_and_background_are_passed_on():
    truth, seeds = scribbled()
    seeds[seeds == 0] = -1
    says_another = np.zeros((3, *truth.shape))
    says_another[:2] = -9.0
    assert set(np.unique(passed_on(truth[None], seeds, says_another))) <= {0, 1}


def test_nothing_drawn_is_nothing_known_and_masks_stay():
    truth, seeds = scribbled()
    nobody = np.zeros((2, *truth.shape))
    assert (passed_on(truth[None], np.full_like(seeds, -1), nobody) == -1).all()
    np.testing.assert_array_equal(passed_on(truth[None], 1 - truth, nobody), 1 - truth)


def test_in_the_warm_up_the_network_has_no_say():
    truth, seeds = scribbled()
    net = ScribbleSupNetwork(
        nn.Conv2d(1, 2, 1), n_features=2, n_classes=2, ndim=2, kinds=["positive"]
    )
    with torch.no_grad():
        net.truth_head.bias += torch.tensor([9.0, -9.0])  # all is background
    image = torch.as_tensor(truth[None, None]).float()
    given = torch.as_tensor(seeds)[None, None]
    known = {}
    for asked in (False, True):
        labelled = Labelled(given, [0], torch.empty(0), None, asked, "marginal")
        known[asked] = float(net.loss(image, labelled).nll.detach())
    assert known[False] > known[True] + 1.0
    held_out = net.eval().loss(image, labelled).nll
    drawn = given[0, 0] >= 0
    each = net.log_truth(net.backbone(image))[0].gather(0, given[0].clamp(min=0))[0]
    assert float(held_out.detach()) == pytest.approx(-float(each[drawn].mean().detach()), rel=1e-5)
