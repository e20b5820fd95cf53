"""What the network of every training method promises, for drawings and for class labels."""

from dataclasses import replace

import pytest
import torch

from multirater.errors import InputError
from multirater.nn.em import EMNetwork
from multirater.nn.rater_network import Labelled, batch_loss
from multirater.training.config import TrainConfig, settled
from multirater.training.methods import METHODS, training_method
from multirater.training.networks import NetworkShape
from multirater.training.precision import HALF, WHOLE, computing_in

N_RATERS, N_CLASSES = 4, 3
SPACES = {"classes": [()], "masks": [(8, 8), (4, 8, 8)]}
ONLY_2D = {"prism", "attention-guided"}
WEIGH_RATERS_ALIKE = {"separate", "prob-unet", "mrnet", "coarse", "partial", "cycle-mix"}
"""Methods whose loss is a mean over the raters of a batch, whoever has fewer labels in it."""

BY_NETWORK = {(kind, each.build): name for kind in METHODS for name, each in METHODS[kind].items()}
"""One method of those that share a network."""

EVERY = [
    pytest.param(kind, name, space, id=f"{name}-{len(space)}d")
    for (kind, _), name in BY_NETWORK.items()
    for space in SPACES[kind]
    if len(space) < 3 or name not in ONLY_2D
]
every_network = pytest.mark.parametrize(("kind", "name", "space"), EVERY)


def network(kind, name, space):
    """Weights away from the start, so that symmetry hides nothing."""
    torch.manual_seed(0)
    own = {"channels": (4, 8)} if space else {"backbone_options": {"channels": (4, 4)}}
    config = settled(TrainConfig(method=name, n_features=4, epochs=2, **own), kind, 10)
    image = () if space else (8, 8)
    shape = NetworkShape(N_RATERS, N_CLASSES, 2, len(space), image, ("mask",) * N_RATERS)
    made = METHODS[kind][name].build(config, shape)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter += torch.randn(parameter.shape) * 0.1
    if isinstance(made, EMNetwork):
        made.take_counts(torch.rand(N_RATERS, N_CLASSES, N_CLASSES) + torch.eye(N_CLASSES))
    return made


def images(n_cases, space):
    return torch.randn(n_cases, 2, *(space or (8, 8)))


def labelled(space, raters=(2, 0), n_cases=6):
    """Labels of two raters per case; of classes, each case has its own."""
    generator = torch.Generator().manual_seed(1)
    labels = torch.randint(-1, N_CLASSES, (n_cases, 2, *space), generator=generator)
    labels[0] = 1
    who = list(raters) if space else torch.tensor([list(raters)] * n_cases)
    truth = torch.randint(0, N_CLASSES, (n_cases, *space), generator=generator)
    return Labelled(labels, who, truth, None, True, "marginal")


def total(made, image, group):
    torch.manual_seed(3)  # some draw a rater, or a sample
    loss = batch_loss(made, image, [group])
    return loss.nll + loss.truth + 0.01 * loss.trace


@pytest.mark.parametrize(
    ("kind", "name", "space"), [each for each in EVERY if len(each.values[2]) < 3]
)
def test_a_step_in_halves_has_the_loss_of_a_whole_one(kind, name, space):
    image, group = images(6, space), labelled(space)
    losses, slopes = [], []
    for precision in (WHOLE, HALF):
        made = network(kind, name, space)
        with computing_in(precision):
            loss = total(made, image, group)
        loss.backward()
        losses.append(loss.detach())
        slopes.append([each.grad for each in made.parameters() if each.grad is not None])
    assert losses[1].dtype == torch.float32
    assert torch.allclose(losses[0], losses[1], rtol=0.03)
    assert len(slopes[0]) == len(slopes[1])
    assert all(torch.isfinite(each).all() for each in slopes[1])


@every_network
def test_outputs_are_probabilities(kind, name, space):
    made = network(kind, name, space).eval()
    found = made.outputs(images(2, space), [3, 1])
    assert found.truth.shape == (2, N_CLASSES, *space)
    sums = [found.truth.sum(1)]
    if found.drawn is not None:
        assert found.drawn.shape == (2, 2, N_CLASSES, *space)
        sums.append(found.drawn.sum(2))
    if found.cm is not None:
        assert found.cm.shape == (2, 2, N_CLASSES, N_CLASSES, *space)
        sums.append(found.cm.sum(3))
    for each in sums:
        assert torch.allclose(each, torch.ones_like(each), atol=1e-4)
    assert space or (made.matrices is not None) == (found.cm is not None)


@every_network
def test_a_few_steps_lower_the_loss(kind, name, space):
    made, image, group = network(kind, name, space), images(6, space), labelled(space)
    optimizer = torch.optim.Adam(made.parameters(), lr=2e-3)
    before = float(total(made, image, group).detach())
    for _ in range(10):
        optimizer.zero_grad()
        total(made, image, group).backward()
        optimizer.step()
    assert float(total(made, image, group).detach()) < before < float("inf")


@pytest.mark.parametrize(
    ("kind", "name", "space"), [each for each in EVERY if each.values[1] not in WEIGH_RATERS_ALIKE]
)
def test_missing_labels_count_for_nothing(kind, name, space):
    made, image, group = network(kind, name, space).eval(), images(6, space), labelled(space)
    without = group.labels.clone()
    without[:, 1] = -1
    who = group.raters[:1] if space else group.raters[:, :1]
    alone = replace(group, labels=without[:, :1], raters=who)
    one, other = (total(made, image, each) for each in (alone, replace(group, labels=without)))
    assert float(one.detach()) == pytest.approx(float(other.detach()), rel=1e-4)


@pytest.mark.parametrize(
    ("paper", "ours"),
    [("ag-net", "attention-guided"), ("Diag", "diagnosis-first"), ("majority-vote", "mode")],
)
def test_names_of_papers_and_fusions_are_not_taken_for_others(paper, ours):
    with pytest.raises(InputError, match=f"here it is called {ours}"):
        training_method(paper, "masks")
