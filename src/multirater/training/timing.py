"""How many steps a given time has room for, with all that a run does beside them. No torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from multirater.errors import Fault, InputError
from multirater.progress import say
from multirater.training.config import TrainConfig
from multirater.training.windows import most_windows

_FEWEST_STEPS = 20
"""Of an epoch: after each, held-out cases are looked at and the network is kept."""

_HELD_OUT_PART = 8
"""Held-out patches are one for so many that are trained on."""

_OVERHEAD = 1.08
"""Of all that is not measured: logs, curves, filters of the image."""


@dataclass(frozen=True)
class Costs:
    """What a run is made of, in seconds.

    Attributes:
        step: a step, with serving its batch.
        look: predicting a batch.
        keep: writing the network once.
        read: reading and decoding a case.
        n_unread: cases that are still to be read for the first time.
        n_cases: trained on.
        n_held_out: held out.
        n_windows: that the network sees of a case, one after the other.
        window: their size.
        n_looks: samples that the method looks at one by one beside its steps.
        is_in_patches: whether patches of held-out cases are looked at, and not all of them.
        of_classes: whether the length is in passes over the cases, not in steps.
    """

    step: float
    look: float
    keep: float
    read: float
    n_unread: int
    n_cases: int
    n_held_out: int
    n_windows: int = 1
    window: tuple[int, ...] = ()
    n_looks: int = 0
    is_in_patches: bool = False
    of_classes: bool = False

    def of_run(self, config: TrainConfig, n_epochs: int) -> float:
        """Return how long a run takes from its first step to its trust statement.

        Args:
            config: its settings.
            n_epochs: that its method makes in all.
        """
        batch, n_all = config.batch_size, self.n_cases + self.n_held_out
        n_steps = config.steps_per_epoch or -(-self.n_cases // batch)
        n_looked = self.n_held_out
        if self.is_in_patches and n_looked:
            n_looked = max(n_steps * batch // _HELD_OUT_PART, 2 * n_looked)
        epoch = n_steps * self.step + -(-n_looked // batch) * self.look + 2 * self.keep
        beside = min(self.n_looks, 4 * n_steps * batch) * (self.look + self.step / 8) / batch
        n_windows = min(self.n_windows, most_windows(config, n_all, self.window))
        described = n_all * (self.read + n_windows * self.look / batch)
        folds = config.folds
        once = self.n_unread * self.read + (folds * described if folds > 1 else 0.0)
        return _OVERHEAD * (folds * (n_epochs * epoch + beside + described) + once)


def within_time(
    config: TrainConfig, costs: Costs, epochs: Callable[[TrainConfig], int], left: float
) -> TrainConfig:
    """Return the longest schedule that fits into the time left.

    Args:
        config: settings, with a time.
        costs: of what a run does.
        epochs: that a method makes in all, for settings.
        left: seconds.

    Raises:
        InputError: not even one step fits.
    """
    assert config.time is not None
    shortest = _longer(config, costs, 1)
    needed = costs.of_run(shortest, epochs(shortest))
    if needed > left:
        raise InputError(
            Fault(
                f"{config.time:.0f} s is too short: reading the study and one step by which it is "
                f"timed took {config.time - left:.0f} s, the shortest run takes {needed:.0f} s",
                expected="time for some steps",
                fix="give more --time, or a smaller --patch or --batch-size",
            )
        )
    low, high = 1, 2
    while high < 2**24 and _fits(config, costs, epochs, left, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        is_low = _fits(config, costs, epochs, left, middle)
        low, high = (middle, high) if is_low else (low, middle)
    found = _longer(config, costs, low)
    n_steps = f"{found.epochs * found.steps_per_epoch} steps in " if found.steps_per_epoch else ""
    say(f"{n_steps}{found.epochs} epochs fit into {config.time:.0f} s")
    return found


def _fits(
    config: TrainConfig,
    costs: Costs,
    epochs: Callable[[TrainConfig], int],
    left: float,
    length: int,
) -> bool:
    longer = _longer(config, costs, length)
    return costs.of_run(longer, epochs(longer)) <= left


def _longer(config: TrainConfig, costs: Costs, length: int) -> TrainConfig:
    """Return settings of so many steps, or, of class labels, passes up to those asked for."""
    if costs.of_classes:
        return replace(config, epochs=max(min(config.epochs, length), 1))
    n_epochs = max(min(config.epochs, length // _FEWEST_STEPS), 1)
    return replace(config, epochs=n_epochs, steps_per_epoch=max(length // n_epochs, 1))
