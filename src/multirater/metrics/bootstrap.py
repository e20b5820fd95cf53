"""How sure a number is: percentile bootstrap intervals for every metric of this package.

Two things can be drawn again. `case_interval` draws *cases*: a metric of one case (Dice, IoU,
energy distance, surface distance, ...) is computed once for each, and the mean over drawn cases is
taken. `item_interval` draws the *items* of an agreement coefficient, by giving each column a new
weight; `groups` makes whole cases be drawn, which is what pixels need: those of one image are not
independent, and an interval that takes them for independent is far too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.metrics.class_indices import as_item_weights
from multirater.metrics.known import mean_of_known
from multirater.metrics.rating_counts import RatingCounts, Ratings

_AT_ONCE = 1 << 17
"""Values that are drawn in one go: hundreds of small draws one by one are slow."""

Value = TypeVar("Value")
"""What the metric returns: a float, or an array such as one score per class or pair of raters."""


@dataclass(frozen=True, eq=False)
class Estimate(Generic[Value]):
    """A value and the interval around it.

    Attributes:
        value: the metric on the data as they are.
        low: lower end of the interval, of the same shape.
        high: upper end.
        level: the share of resampled values that lie inside, for instance 0.95.
    """

    value: Value
    low: Value
    high: Value
    level: float


def case_interval(
    metric: Callable[..., Value],
    *samples: Sequence[Any] | NDArray[Any],
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate[Value]:
    """Mean of a metric over cases, with an interval from drawing cases again.

    Args:
        metric: called once per case with one element of each sample. Options go in by `partial`.
        samples: equally long sequences of cases, for instance references and predictions. The first
            axis is what is drawn: for confusion-matrix errors it may be raters instead.
        level: of the interval.
        n_resamples: how many times to draw.
        seed: same seed, same interval.

    Returns:
        The mean over cases. Cases for which the metric is NaN leave the mean; an infinite one
        (Hausdorff against an empty mask) makes it infinite.

    Example:
        >>> from multirater.metrics import dice_score
        >>> truth, drawn = [[1, 1, 0], [0, 1, 1]], [[1, 1, 0], [0, 0, 1]]
        >>> found = case_interval(dice_score, truth, drawn)
        >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
        (0.833, 0.667, 1.0)
    """
    _require_equal_lengths(samples)
    values = np.array([metric(*case) for case in zip(*samples, strict=True)], dtype=np.float64)
    n_cases, random = len(values), np.random.default_rng(seed)

    at_once = max(_AT_ONCE // max(values.size, 1), 1)

    def draw_again() -> Iterator[NDArray[np.float64]]:
        for start in range(0, n_resamples, at_once):
            n_draws = min(at_once, n_resamples - start)
            yield from mean_of_known(values[random.integers(n_cases, size=(n_draws, n_cases))], 1)

    return _estimate(mean_of_known(values, axis=0), draw_again(), level, n_resamples)


def item_interval(
    coefficient: Callable[..., Value],
    *labels: Ratings,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate[Value]:
    """An agreement coefficient with an interval from drawing items, or groups of items, again.

    Args:
        coefficient: `fleiss_kappa`, `krippendorff_alpha`, `cohen_kappa`, `pairwise_scores`,
            `partial(per_class, fleiss_kappa, n_classes=3)`, ...; called with labels and weights.
        labels: one array (n_raters, *items), or one array (*items) per rater; or counted ratings.
        weights: (*items), how many items each column stands for: whole numbers.
        groups: (*items), the case each column belongs to. When given, cases are drawn and take all
            their items along; when not, each single item is drawn by itself.
        level: of the interval.
        n_resamples: how many times to draw.
        seed: same seed, same interval.

    Returns:
        The coefficient; draws for which it is undefined (NaN) do not enter the interval.

    Example:
        >>> from multirater.metrics import percent_agreement
        >>> found = item_interval(percent_agreement, [[0, 1] * 8, [0, 1, 1, 1] * 4])
        >>> found.value, found.low, found.high
        (0.75, 0.5, 0.9375)
    """
    arrays = [each if isinstance(each, RatingCounts) else np.asarray(each) for each in labels]
    items = _items_of(arrays)
    start = as_item_weights(weights, items)
    draw = _item_drawer(start) if groups is None else _group_drawer(start, groups, items)
    random = np.random.default_rng(seed)

    def draw_again() -> Iterator[NDArray[np.float64]]:
        for _ in range(n_resamples):
            drawn = draw(random).reshape(items)
            yield np.asarray(coefficient(*arrays, weights=drawn), dtype=np.float64)

    value = np.asarray(coefficient(*arrays, weights=weights), dtype=np.float64)
    return _estimate(value, draw_again(), level, n_resamples)


def _items_of(arrays: Sequence[NDArray[Any] | RatingCounts]) -> tuple[int, ...]:
    first = arrays[0]
    if isinstance(first, RatingCounts):
        return first.weights.shape
    return first.shape[1:] if len(arrays) == 1 else first.shape


Drawer = Callable[[np.random.Generator], NDArray[np.float64]]


def _item_drawer(weights: NDArray[np.float64]) -> Drawer:
    total = weights.sum()
    if np.any(weights != np.round(weights)) or total == 0:
        raise InputError(
            Fault(
                "weights that are not counts of items" if total else "no item to draw from",
                expected="whole numbers, how many items share each column",
                fix="give groups to draw whole cases, whose weights may be any number",
            )
        )
    # The expanded items drawn one by one fall on the columns by a multinomial law.
    return lambda random: random.multinomial(int(total), weights / total).astype(np.float64)


def _group_drawer(
    weights: NDArray[np.float64], groups: ArrayLike, items: tuple[int, ...]
) -> Drawer:
    names = np.asarray(groups)
    if names.shape != items or not names.size:
        raise InputError(
            Fault(
                f"groups of shape {names.shape}",
                expected=f"the group of every item, shape {items}, not empty",
                fix="give the groups the shape of the labels without the rater axis",
            )
        )
    unique, member = np.unique(names.ravel(), return_inverse=True)
    n = len(unique)
    return lambda random: weights * random.multinomial(n, np.full(n, 1 / n))[member]


def _estimate(
    value: NDArray[np.float64],
    resampled: Iterator[NDArray[np.float64]],
    level: float,
    n_resamples: int,
) -> Estimate[Any]:
    if not 0 < level < 1 or n_resamples < 1:
        raise InputError(
            Fault(
                f"level {level} with {n_resamples} resamples",
                expected="a level between 0 and 1, and at least one resample",
                fix="use level=0.95, n_resamples=1000",
            )
        )
    low, high = _middle(np.stack(list(resampled)), level)
    return Estimate(_plain(value), _plain(low), _plain(high), level)


def _middle(
    values: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both ends of the middle share of the first axis, NaN left out.

    The ends are values that occurred (no interpolation), rounded outwards, so that infinities stay
    what they are and the interval is not narrowed.
    """
    ordered = np.sort(values, axis=0)  # NaN last
    last = np.maximum((~np.isnan(values)).sum(axis=0) - 1, 0)
    tail = (1 - level) / 2
    low = np.floor(tail * last).astype(np.intp)
    high = np.ceil((1 - tail) * last).astype(np.intp)
    ends = np.take_along_axis(ordered, np.stack([low, high]), axis=0)
    return ends[0], ends[1]


def _plain(value: NDArray[np.float64]) -> Any:
    return float(value) if value.ndim == 0 else value


def _require_equal_lengths(samples: Sequence[Sequence[Any] | NDArray[Any]]) -> None:
    lengths = [len(sample) for sample in samples]
    if not lengths or len(set(lengths)) != 1 or lengths[0] == 0:
        raise InputError(
            Fault(
                f"samples of {lengths} cases",
                expected="the same number of cases in each, at least one",
                fix="give every sample one element per case",
            )
        )
