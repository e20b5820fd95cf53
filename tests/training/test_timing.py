"""How many steps a time has room for, by made-up costs."""

from dataclasses import replace

import pytest

from multirater.errors import InputError
from multirater.training.config import TrainConfig
from multirater.training.timing import Costs, within_time

STEPS = Costs(step=1.0, look=0.0, keep=0.0, read=0.0, n_unread=0, n_cases=8, n_held_out=2)


def as_asked(config):
    return config.epochs


def fitted(costs, seconds, epochs=as_asked, **more):
    config = TrainConfig(epochs=20, batch_size=2, steps_per_epoch=50, time=seconds, **more)
    found = within_time(config, costs, epochs, seconds)
    assert costs.of_run(found, epochs(found)) <= seconds
    return found


def n_steps(config):
    return config.epochs * config.steps_per_epoch


def test_steps_fill_the_time():
    assert 0.9 * 1000 / 1.08 <= n_steps(fitted(STEPS, 1000.0)) <= 1000 / 1.08


def test_short_runs_have_few_epochs():
    assert fitted(STEPS, 100.0).epochs <= 5
    assert fitted(STEPS, 5.0).epochs == 1


@pytest.mark.parametrize(
    "more",
    [
        {"look": 5.0},
        {"keep": 2.0},
        {"read": 10.0, "n_unread": 10},
        {"look": 0.5, "n_windows": 400, "window": (64, 64)},
        {"look": 0.5, "n_looks": 400},
    ],
    ids=["held-out cases", "keeping", "reading", "describing raters", "weighing raters"],
)
def test_all_that_a_run_does_takes_its_part(more):
    assert n_steps(fitted(replace(STEPS, **more), 1000.0)) < 0.95 * n_steps(fitted(STEPS, 1000.0))


def test_all_folds_and_all_passes_share_the_time():
    once = n_steps(fitted(STEPS, 1000.0))
    assert n_steps(fitted(STEPS, 1000.0, folds=2)) == pytest.approx(once / 2, rel=0.05)
    twice = fitted(STEPS, 1000.0, epochs=lambda config: 2 * config.epochs)
    assert n_steps(twice) == pytest.approx(once / 2, rel=0.05)


@pytest.mark.parametrize(("seconds", "epochs"), [(1000.0, 15), (50.0, 11)])
def test_class_labels_make_fewer_passes_and_never_more_than_planned(seconds, epochs):
    costs = replace(STEPS, of_classes=True)
    config = TrainConfig(epochs=15, batch_size=2, time=seconds)
    assert within_time(config, costs, as_asked, seconds).epochs == epochs


def test_a_time_too_short_for_anything_is_refused():
    with pytest.raises(InputError, match="1 s is too short"):
        fitted(replace(STEPS, step=5.0), 1.0)
