"""How far a fusion can be trusted, from the labels alone.

A truth estimated from disagreeing raters is only as good as the assumptions behind it: that on
average raters are more often right than wrong in any one way (the mean confusion matrix is
diagonally dominant), that their errors are independent given the truth, and that there are enough
labels. This module looks at what can be seen of each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.answers import Answers
from multirater.fuse.em import confusion_of
from multirater.fuse.expectation import log_likelihood_of
from multirater.trust import Finding

ENOUGH_LABELS = 10
"""Labels of a class below which a rater's estimate for it is called uncertain."""

FOLLOWS = "follows"
"""Code of the finding that a fusion has fallen for one rater."""

_COINCIDES = 0.99
_DISAGREES = 0.95
_OUTVOTED = 0.1
"""Share of a class, called so against most votes, from which its source is looked at closely."""

_CLOSE_CALL = 3.0
"""A log-likelihood difference (about 20 to 1) below which two solutions are called a close call."""


@dataclass(frozen=True, eq=False)
class Identifiability:
    """What can be said about the trustworthiness of a fusion.

    Attributes:
        mean_cm: (n_classes, n_classes), mean over raters weighted by the labels they gave.
        dominance: (n_classes,), diagonal of `mean_cm` minus the largest other entry of the row;
            positive means that raters are, on average, right more often than wrong in any one
            way. NaN for a class that does not occur.
        labels_per_class: (n_raters, n_classes), expected number of labels by true class.
        uncertain: (rater, class, labels) wherever an estimate rests on fewer than `ENOUGH_LABELS`;
            of raters who gave any.
        swap: the two classes most likely to be mistaken for each other as a whole; None with
            fewer than two classes present.
        swap_drop: log-likelihood lost (in nats, over all items) if these two classes were swapped
            while class frequencies stay. Near zero, only the assumption that raters are mostly
            right tells the classes apart.
        follows: the rater with whom the estimated truth coincides although every other rater
            disagrees with it: in all classes, or in one class that goes against most votes in
            more than a tenth of its items. None when there is no such rater.
        raters: names by index.
        classes: names by index.
    """

    mean_cm: NDArray[np.float64]
    dominance: NDArray[np.float64]
    labels_per_class: NDArray[np.float64]
    uncertain: tuple[tuple[Hashable, Hashable, float], ...]
    swap: tuple[Hashable, Hashable] | None
    swap_drop: float
    follows: Hashable | None
    raters: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]

    @property
    def is_dominant(self) -> bool:
        """Whether the mean confusion matrix is diagonally dominant in every class present."""
        present = self.dominance[~np.isnan(self.dominance)]
        return bool(np.all(present > 0))

    def findings(self) -> tuple[Finding, ...]:
        """Return what speaks against the result; nothing when nothing does."""
        found = []
        for name, margin in zip(self.classes, self.dominance, strict=True):
            if margin <= 0:
                text = (
                    f"class {name}: raters are, on average, not right more often than wrong "
                    f"(margin {margin:.2f}); the fused label of this class cannot be trusted"
                )
                numbers = {"margin": float(margin)}
                found.append(Finding("problem", text, "dominance", numbers, classes=(str(name),)))
        if self.follows is not None:
            text = (
                f"the estimated truth follows rater {self.follows}: it coincides with their labels "
                "while every other rater disagrees with it; when errors are nested (one rater "
                "draws larger than the next) this is a known failure: compare with majority vote"
            )
            found.append(Finding("problem", text, FOLLOWS, raters=(str(self.follows),)))
        if self.swap is not None and self.is_swap_a_close_call():
            text = (
                f"classes {self.swap[0]} and {self.swap[1]} could be swapped: the labels fit "
                f"almost as well the other way round (log-likelihood {self.swap_drop:.2f} lower)"
            )
            numbers, pair = {"log-likelihood": self.swap_drop}, tuple(map(str, self.swap))
            found.append(Finding("problem", text, "swap", numbers, classes=pair))
        if self.uncertain:
            rater, name, labels = min(self.uncertain, key=lambda each: each[2])
            text = (
                f"{len(self.uncertain)} estimates rest on fewer than {ENOUGH_LABELS} labels "
                f"(least: rater {rater}, class {name}, {labels:.1f} labels)"
            )
            numbers = {"estimates": len(self.uncertain), "least": labels}
            found.append(Finding("caution", text, "few-labels", numbers))
        return tuple(found)

    def messages(self) -> list[str]:
        """Say in words what speaks against the result; empty when nothing does."""
        return [each.text for each in self.findings()]

    def is_swap_a_close_call(self) -> bool:
        """Whether neither class frequencies nor skill tell the two classes of `swap` apart."""
        if self.swap is None:
            return False
        margins = self.dominance[[self.classes.index(name) for name in self.swap]]
        return bool(self.swap_drop < _CLOSE_CALL and np.min(margins) < 0.2)


def assess(
    answers: Answers,
    cm: NDArray[np.float64],
    counts: NDArray[np.float64],
    prior: NDArray[np.float64],
    posterior: NDArray[np.float64],
    raters: tuple[Hashable, ...],
    classes: tuple[Hashable, ...],
) -> Identifiability:
    """Assess a fusion from its answers, what was estimated of raters, and of rows (posterior)."""
    return assess_counts(
        cm,
        counts,
        raters,
        classes,
        swap_drop=lambda pair: swap_drop(answers, cm, prior, pair),
        outvoted=lambda k: outvoted_share(outvoted_items(answers, posterior, k)),
    )


def assess_counts(
    cm: NDArray[np.float64],
    counts: NDArray[np.float64],
    raters: tuple[Hashable, ...],
    classes: tuple[Hashable, ...],
    *,
    swap_drop: Callable[[tuple[int, int]], float],
    outvoted: Callable[[int], float],
) -> Identifiability:
    """Assess a fusion from what was estimated of raters.

    Args:
        cm: (n_raters, true, observed).
        counts: expected answers, same axes.
        raters: names.
        classes: names.
        swap_drop: by how much the log-likelihood falls when two classes are swapped.
        outvoted: the share of the items fused to a class that most raters gave another label.
    """
    labels_per_class = counts.sum(2)
    present = labels_per_class.sum(0) > 0.5
    took_part = labels_per_class.sum(1) > 0.5
    mean_cm = confusion_of(counts.sum(0))
    dominance = margins(counts.sum(0))
    pair = _most_confusable(mean_cm, present)
    return Identifiability(
        mean_cm=mean_cm,
        dominance=dominance,
        labels_per_class=labels_per_class,
        uncertain=tuple(
            (raters[r], classes[t], float(labels_per_class[r, t]))
            for r, t in np.argwhere(
                (labels_per_class < ENOUGH_LABELS) & present & took_part[:, None]
            )
        ),
        swap=None if pair is None else (classes[pair[0]], classes[pair[1]]),
        swap_drop=np.nan if pair is None else swap_drop(pair),
        follows=_followed_rater(outvoted, cm, labels_per_class, raters),
        raters=raters,
        classes=classes,
    )


def margins(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much each class is called by its name more often than by any other.

    Args:
        counts: labels (true, observed).

    Returns:
        (n_classes,), diagonal minus the largest other entry of the confusion matrix; NaN for a
        class that does not occur.

    Example:
        >>> margins(np.array([[8.0, 2.0], [6.0, 4.0]])).round(1)
        array([ 0.6, -0.2])
    """
    cm = confusion_of(counts)
    off_diagonal = np.where(np.eye(len(cm), dtype=bool), -np.inf, cm)
    margin = np.diagonal(cm) - off_diagonal.max(1)
    return np.asarray(np.where(counts.sum(1) > 0.5, margin, np.nan))


def name_margins(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much each name is likelier for its own class than for any other.

    Where this is positive for all, the truth is the solution of least trace (Tanno 2019, Theorem
    1). How frequent the classes are does not count.

    Args:
        counts: labels (true, observed).

    Returns:
        (n_classes,), diagonal minus the largest other entry of the confusion matrix's column; NaN
        for a class that does not occur.

    Example:
        >>> name_margins(np.array([[8.0, 2.0], [6.0, 4.0]])).round(1)
        array([0.2, 0.2])
    """
    cm = confusion_of(counts)
    occurs = counts.sum(1) > 0.5
    others = np.where(np.eye(len(cm), dtype=bool) | ~occurs[:, None], 0.0, cm)
    return np.asarray(np.where(occurs, np.diagonal(cm) - others.max(0), np.nan))


def _most_confusable(
    mean_cm: NDArray[np.float64], present: NDArray[np.bool_]
) -> tuple[int, int] | None:
    if present.sum() < 2:
        return None
    right = np.diagonal(mean_cm)
    gain = mean_cm + mean_cm.T - right[:, None] - right[None, :]
    allowed = np.triu(present[:, None] & present[None, :], k=1)
    first, second = np.unravel_index(np.argmax(np.where(allowed, gain, -np.inf)), gain.shape)
    return int(first), int(second)


def swap_drop(
    answers: Answers,
    cm: NDArray[np.float64],
    prior: NDArray[np.float64],
    pair: tuple[int, int],
) -> float:
    """Return by how much the log-likelihood falls when two classes are swapped."""
    if answers.gold is None and answers.row_prior is None:
        # To swap two classes in all matrices is to swap how frequent they are.
        as_found, exchanged = log_likelihood_of(answers, cm, prior, swapped_prior(prior, pair))
        return as_found - exchanged
    other = cm.copy()
    other[:, list(pair)] = cm[:, list(pair[::-1])]
    (as_found,), (exchanged,) = (log_likelihood_of(answers, each, prior) for each in (cm, other))
    return as_found - exchanged


def swapped_prior(prior: NDArray[np.float64], pair: tuple[int, int]) -> NDArray[np.float64]:
    """Return class probabilities with those of two classes exchanged."""
    swapped = prior.copy()
    swapped[list(pair)] = prior[list(pair[::-1])]
    return swapped


def _followed_rater(
    outvoted: Callable[[int], float],
    cm: NDArray[np.float64],
    labels_per_class: NDArray[np.float64],
    raters: tuple[Hashable, ...],
) -> Hashable | None:
    """Find the one rater whose recall is near 1 while nobody else's is."""
    present = np.flatnonzero(labels_per_class.sum(0) > 0.5)
    if len(raters) < 2 or len(present) < 2:
        return None
    met = labels_per_class[:, present] > 0
    if met.any(1).sum() < 2:
        return None
    recall = np.diagonal(cm, axis1=1, axis2=2)[:, present]
    worst = np.where(met, recall, 1.0).min(1) * met.any(1)
    rater = _alone_at_the_top(worst)
    if rater is not None:
        return raters[rater]
    for k, recalls in zip(present, np.where(met, recall, 0.0).T, strict=True):
        rater = _alone_at_the_top(recalls)
        if rater is not None and outvoted(int(k)) >= _OUTVOTED:
            return raters[rater]
    return None


def _alone_at_the_top(recalls: NDArray[np.float64]) -> int | None:
    second, best = np.argsort(recalls)[-2:]
    alone = recalls[best] >= _COINCIDES and recalls[second] <= _DISAGREES
    return int(best) if alone else None


def outvoted_items(answers: Answers, posterior: NDArray[np.float64], k: int) -> tuple[float, float]:
    """Count the items fused to class k, and those of them that most raters labelled otherwise."""
    items, against = 0.0, 0.0
    votes_for_k = np.tile(np.arange(answers.n_classes) == k, answers.n_raters).astype(float)
    for rows, matrix, *_ in answers.blocks:
        weight = np.where(posterior[rows].argmax(1) == k, answers.weight[rows], 0.0)
        n_votes = matrix @ np.ones_like(votes_for_k)
        items += weight.sum()
        against += weight.sum(where=2 * (matrix @ votes_for_k) < n_votes)
    return items, against


def outvoted_share(items: tuple[float, float]) -> float:
    """Return the share of items that were outvoted, from what `outvoted_items` counts."""
    return items[1] / max(items[0], 1e-300)
