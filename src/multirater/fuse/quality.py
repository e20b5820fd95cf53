"""The quality of a rater: how far their labels agree with the consensus of the others.

For drawings it is Dice, averaged over cases; for class labels the share of answers alike. The
consensus of everybody else's labels is the weighted vote of drawings, the majority vote where cases
have many of them, and Dawid-Skene of class labels. It is the same whatever method fuses the labels
afterwards, so that all results of one study say the same of its raters.

Of the measures that were compared (docs/rater-quality.md) this one follows the true quality best:
the mean diagonal of the confusion matrix rewards whoever draws too much of a small object, since
hardly any of the background is lost by it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betaincinv

from multirater.fuse.answers import Answers
from multirater.fuse.case_draws import over_draws
from multirater.fuse.dawid_skene import FreeMatrices
from multirater.fuse.em import Stopping, run_em
from multirater.fuse.left_out import alike_without, left_out_vote
from multirater.fuse.pattern_blocks import PatternBlocks
from multirater.fuse.weighted_vote import vote_weights
from multirater.metrics.known import ratio_or_nan
from multirater.metrics.overlap import overlaps_of_tables
from multirater.types import MISSING

Array = NDArray[np.float64]
Rows = NDArray[np.integer]

COLUMNS = ("quality", "quality_low", "quality_high", "rank")
"""What a table of raters says of quality; raters of one `rank` are level."""

LONG_ENOUGH = Stopping(200, 1e-7)
"""When the consensus of class labels is found."""

_PSEUDO_COUNTS = 4.0
"""Of a whole matrix of class labels."""

MANY = 8
"""Labels of most cases from which on the others vote with equal weights: weights help few voters,
and can follow those among many who err alike."""


def class_dirichlet(n_classes: int) -> float:
    """Return the pseudo-count of each entry of a matrix of class labels: few answers say little.

    Four for all entries together: one for each of a dozen classes would outweigh what raters
    answered, until all that they say is explained by a single class.

    Example:
        >>> class_dirichlet(2), class_dirichlet(4)
        (1.0, 0.25)
    """
    return min(1.0, _PSEUDO_COUNTS / max(n_classes, 1) ** 2)


def consensus_model(n_classes: int) -> FreeMatrices:
    """Return how the consensus of class labels is found."""
    return FreeMatrices(class_dirichlet(n_classes))


def case_quality(
    rows: Rows, counts: NDArray[Any], reference: Rows, n_classes: int, *, is_mask: bool
) -> Array:
    """Return the quality of each rater in one case.

    Args:
        rows: label patterns or items (n_rows, n_raters), -1 where missing.
        counts: (n_rows,), items that carry each row.
        reference: class of each row, (n_rows, n_raters) as judged without each rater, or (n_rows,)
            when no rater has a say in it; -1 where unknown.
        n_classes: number of classes.
        is_mask: whether class 0 is the background of a drawing.

    Returns:
        (n_raters,), Dice (mean over the classes but 0 that occur) or share of answers alike; NaN
        where there is nothing to compare.

    Example:
        >>> rows = np.array([[1, 1, 0], [0, 0, 0]])
        >>> case_quality(rows, np.array([4, 60]), np.array([1, 0]), 2, is_mask=True).tolist()
        [1.0, 1.0, 0.0]
    """
    tables = tables_of(rows, counts, reference, n_classes)
    if is_mask:
        # Agreeing that there is nothing says little of how well somebody draws.
        return overlaps_of_tables(tables, "dice", None, empty=float("nan"))
    return ratio_or_nan(np.trace(tables, axis1=1, axis2=2), tables.sum((1, 2)))


def quality_of_drawings(
    cases: Iterable[tuple[Rows, NDArray[Any]]],
    raters: Sequence[Hashable],
    n_classes: int,
    *,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the quality of each rater of drawings.

    Args:
        cases: gone through more than once: of each the label patterns (n_rows, n_raters), -1 where
            missing, and how many pixels carry each. Further columns, of a network say, vote
            without being judged.
        raters: names.
        n_classes: background included.
        seed: of the draws behind intervals.

    Returns:
        One row per rater, with `COLUMNS`; NaN for a rater whom nobody accompanies.
    """
    n_voters, n_labels = 0, []
    for rows, _ in cases:
        n_voters = rows.shape[1]
        n_labels.append(int((rows != MISSING).any(0).sum()))
    weight = np.ones(n_voters)
    if np.median(n_labels) < MANY:
        weight = vote_weights(PatternBlocks.of(cases, n_voters, n_classes))
    scores = [
        case_quality(rows, n, left_out_vote(rows, weight, n_classes), n_classes, is_mask=True)
        for rows, n in cases
    ]
    return quality_of_cases(np.array(scores)[:, : len(raters)], raters, seed=seed)


def quality_of_class_labels(answers: Answers, raters: Sequence[Hashable]) -> pd.DataFrame:
    """Return the quality of each rater of class labels.

    Args:
        answers: what the raters said of each case.
        raters: names.
    """
    prior = answers.class_frequency()
    model = consensus_model(len(prior))
    fit = run_em(answers, model, prior=prior, estimate_prior=True, stopping=LONG_ENOUGH)
    return quality_of_answers(*alike_without(answers, fit.posterior, fit.cm), raters)


def quality_of_cases(
    scores: Array, raters: Sequence[Hashable], *, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Return the quality of each rater over cases, with intervals from drawing cases again.

    Args:
        scores: quality by case, (n_cases, n_raters), NaN where unknown.
        raters: names.
        level: of the intervals.
        seed: of the draws.

    Returns:
        One row per rater, with `COLUMNS`. Another rater is clearly better when they are in all but
        half of what is left of the level of the draws; without a second case nobody is. A rank
        begins with the first rater than whom somebody of the rank before is clearly better.

    Example:
        >>> scores = np.array([[0.9, 0.5], [0.8, 0.4], [0.9, 0.6], [0.7, 0.5]])
        >>> found = quality_of_cases(scores, ["anna", "bert"])
        >>> found["quality"].round(3).tolist(), found["rank"].tolist()
        ([0.825, 0.5], [1, 2])
    """
    n_cases = len(scores)
    drawn = over_draws(n_cases, seed, lambda times: _mean_of_known(times, scores))
    tail = (1 - level) / 2
    low, high = np.full((2, scores.shape[1]), np.nan)
    several = (~np.isnan(scores)).sum(0) > 1
    if several.any():
        low[several], high[several] = np.nanquantile(drawn[:, several], [tail, 1 - tail], axis=0)
    better = np.zeros((len(raters), len(raters)), dtype=bool)
    for one in np.flatnonzero(several):
        gap = drawn[:, [one]] - drawn[:, several]
        known = ~np.isnan(gap)
        share = ((gap > 0) & known).sum(0) / np.maximum(known.sum(0), 1)
        better[one, several] = share >= 1 - tail
    value = _mean_of_known(np.ones((1, n_cases)), scores)[0]
    return _table(raters, value, low, high, better)


def quality_of_answers(
    right: Array, total: Array, raters: Sequence[Hashable], *, level: float = 0.95
) -> pd.DataFrame:
    """Return the quality of each rater of class labels, which are independent of one another.

    Args:
        right: (n_raters,), answers alike with the consensus of the others.
        total: (n_raters,), answers compared.
        raters: names.
        level: of the intervals, from the Beta posterior.

    Returns:
        As `quality_of_cases`. A rater is clearly better when the interval of the difference, made
        from both intervals (Zou and Donner's MOVER), lies above zero.
    """
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore"):
        value = np.where(total > 0, right / np.maximum(total, 1), np.nan)
    low, high = betaincinv(right + 0.5, total - right + 0.5, [[tail], [1 - tail]])
    low = np.where(total > 0, np.fmin(low, value), np.nan)
    high = np.where(total > 0, np.fmax(high, value), np.nan)
    better = np.empty((len(value), len(value)), dtype=bool)
    for one in range(len(value)):  # by rows: of ten thousand raters the gaps take a gigabyte
        with np.errstate(invalid="ignore"):
            margin = np.sqrt((value[one] - low[one]) ** 2 + (high - value) ** 2)
            better[one] = value[one] - value > margin
    return _table(raters, value, low, high, better)


def with_quality(table: pd.DataFrame, quality: pd.DataFrame) -> pd.DataFrame:
    """Put quality in front of what else is known of raters, after the number of their labels."""
    first = [name for name in ("labels",) if name in table]
    others = [name for name in table if name not in (*first, *COLUMNS)]
    joined = pd.concat([table[first], quality.reindex(table.index), table[others]], axis=1)
    return joined.assign(rank=joined["rank"].astype("Int64"))


def _table(
    raters: Sequence[Hashable], value: Array, low: Array, high: Array, better: NDArray[np.bool_]
) -> pd.DataFrame:
    columns = dict(zip(COLUMNS, (value, low, high, ranks_of(value, better)), strict=True))
    return pd.DataFrame(columns, index=pd.Index(list(raters), name="rater"))


def ranks_of(value: Array, better: NDArray[np.bool_]) -> pd.api.extensions.ExtensionArray:
    """Rank raters so that no two of one rank can be told apart.

    How many are clearly better would not do: somebody of whom little is known has few who are, and
    would stand above others of higher quality.

    Args:
        value: quality, (n_raters,), NaN where unknown.
        better: whether the first is clearly better than the second, (n_raters, n_raters).

    Returns:
        (n_raters,), 1 for the best; missing where quality is unknown.

    Example:
        >>> better = np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
        >>> [int(rank) for rank in ranks_of(np.array([0.9, 0.8, 0.7]), better)]
        [1, 1, 3]
    """
    ranks = pd.array([pd.NA] * len(value), dtype="Int64")
    order = np.argsort(-value, kind="stable")[: np.count_nonzero(~np.isnan(value))]
    better = better[np.ix_(order, order)]
    begins, found = 0, np.zeros(len(order), dtype=np.int64)
    for place in range(len(order)):
        if better[begins:place, place].any():
            begins = place
        found[place] = begins + 1
    ranks[order] = found
    return ranks


def _mean_of_known(weights: Array, scores: Array) -> Array:
    """Weighted means over cases (n_draws, n_raters); NaN without a known case."""
    known = ~np.isnan(scores)
    total = weights @ np.where(known, scores, 0.0)
    n_known = weights @ known.astype(float)
    return np.where(n_known > 0, total / np.maximum(n_known, 1e-9), np.nan)


def tables_of(
    rows: Rows, counts: NDArray[Any], reference: Rows, n_classes: int
) -> NDArray[np.float64]:
    """Count items by rater, class of the reference and class said, (n_raters, true, observed).

    The arguments are those of `case_quality`.
    """
    true = reference if reference.ndim == 2 else np.repeat(reference[:, None], rows.shape[1], 1)
    both = (true != MISSING) & (rows != MISSING)
    n_raters = rows.shape[1]
    cell = (np.arange(n_raters) * n_classes + true) * n_classes + rows
    weight = np.broadcast_to(np.asarray(counts)[:, None], rows.shape)
    found = np.bincount(cell[both], weight[both], minlength=n_raters * n_classes**2)
    return found.astype(float).reshape(n_raters, n_classes, n_classes)
