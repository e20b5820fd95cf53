import pytest
import torch
from torch import nn

from multirater.nn.label_cleaning_mil import LabelCleaningNetwork, draw_bags, focal, pooled
from multirater.nn.rater_network import Labelled


def test_bags_are_drawn_from_what_was_drawn():
    torch.manual_seed(0)
    is_drawn = torch.rand(3, 50) < 0.2
    places, is_in = draw_bags(is_drawn)
    assert is_drawn.gather(1, places.flatten(1)).all()
    assert is_in.any(2).all()
    assert float(is_in.float().sum(2).mean()) == pytest.approx(10.5, abs=1.0)


def test_a_bag_of_one_pixel_is_that_pixel():
    scores, attention = torch.randn(1, 3, 2, 2), torch.randn(1, 1, 2, 2)
    found = pooled(scores, attention, torch.tensor([[[2]]]), torch.ones(1, 1, 1).bool())
    assert torch.allclose(found[0, 0], scores[0, :, 1, 0])


def test_attention_leaves_pixels_that_were_drawn_wrongly():
    scores = torch.tensor([[[-2.0, 2.0], [2.0, -2.0]]])  # the second pixel is none of class 1
    attention = torch.zeros(1, 1, 2, requires_grad=True)
    logits = pooled(scores, attention, torch.tensor([[[0, 1]]]), torch.ones(1, 1, 2).bool())
    focal(torch.log_softmax(logits, 2)[:, :, 1]).sum().backward()
    right, wrong = attention.grad[0, 0].tolist()
    assert right < 0 < wrong


@pytest.mark.parametrize(("p", "focus"), [(0.1, 5), (0.5, 3)])
def test_the_loss_is_focal(p, focus):
    given = torch.tensor(p)
    assert float(focal(given.log())) == pytest.approx(-((1 - p) ** focus) * float(given.log()))


def network():
    torch.manual_seed(0)
    return LabelCleaningNetwork(
        nn.Conv2d(1, 2, 1), n_features=2, n_classes=2, ndim=2, kinds=["positive"]
    )


def test_wrong_drawings_do_not_move_the_border():
    """A third of what is drawn as class 1 is not; brightness tells."""
    net = network()
    truth = (torch.arange(400).reshape(1, 1, 20, 20) % 2).expand(4, 1, 20, 20)
    drawn = torch.where(torch.rand(truth.shape) < 0.33, 1, truth)
    labelled = Labelled(drawn, [0], torch.empty(0), None, True, "marginal")
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-2)
    for _ in range(60):
        optimizer.zero_grad()
        net.loss(truth.float(), labelled).nll.backward()
        optimizer.step()
    assert (net.outputs(truth.float()).truth.argmax(1, keepdim=True) == truth).all()


def test_images_without_a_drawing_teach_nothing():
    net = network()
    nothing = Labelled(torch.full((2, 1, 8, 8), -1), [0], torch.empty(0), None, True, "marginal")
    loss = net.loss(torch.randn(2, 1, 8, 8), nothing)
    loss.nll.backward()
    assert float(loss.nll.detach()) == 0.0
