"""The expectation step of EM over answers in memory: block by block, or by compiled loops.

Goes over rows of answers given confusion matrices and class probabilities, in log space where
probabilities would vanish. What EM does with the counts is in `em.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.compiled import is_there
from multirater.fuse.answers import Answers, Block
from multirater.types import MISSING

_TINY = 1e-300
"""Keeps log finite where a probability is exactly zero."""

_HARDLY = 1e-30
"""Prior of a class that the prior excludes but a gold label asserts."""

_DEEPEST = 600.0
"""Exponents up to this may be taken out of logs: exp(-600) and its products with priors exist."""

_WORTH_COMPILING = 1 << 22
"""Probabilities (answers times classes) per step from which on a dozen steps pay for loading
compiled loops."""

Array = NDArray[np.float64]


def vote_fractions(answers: Answers, prior: Array) -> Array:
    """Return the share of each class among a row's answers; the prior where there is none."""
    fractions = np.empty((len(answers), answers.n_classes))
    for block in answers.blocks:
        fractions[block.rows] = _block_fractions(answers, block, prior)
    return fractions


def vote_counts(answers: Answers, prior: Array) -> tuple[Array, Array]:
    """Count as if the soft majority vote were the truth: counts and class mass."""
    if _is_compiled(answers):
        from multirater.compiled.answers import vote

        n_columns, n_classes = answers.matrix.shape[1], answers.n_classes
        counts, mass = vote(*_rows_of(answers), answers.weight, n_columns, n_classes)
        return _by_rater(answers, counts), mass

    def weighted(block: Block) -> Array:
        return _block_fractions(answers, block, prior) * answers.weight[block.rows, None]

    return _accumulate(answers, weighted)


def expected_counts(answers: Answers, cm: Array, prior: Array) -> tuple[Array, Array, float]:
    """Expectation step: expected counts, class mass and log-likelihood, block by block."""
    model = _Model.of(answers, cm, prior)
    if not model.deep and _is_compiled(answers):
        return _compiled_expectation(answers, model)
    parts: list[float] = []

    def weighted(block: Block) -> Array:
        joint, total, log_factor = model.joint(answers, block)
        weight = answers.weight[block.rows]
        joint *= (weight / total)[:, None]
        logs = np.log(total, out=total)
        logs += log_factor
        parts.append(_weighted_sum(weight, logs))
        return joint

    counts, mass = _accumulate(answers, weighted)
    counts *= model.left_out[:, None]
    return counts, mass * model.left_out, sum(parts)


def log_likelihood_of(answers: Answers, cm: Array, *priors: Array) -> list[float]:
    """Return the log-likelihood of all answers, with each of several class probabilities."""
    models = [_Model.of(answers, cm, prior) for prior in priors]
    if not models[0].deep and _is_compiled(answers):
        from multirater.compiled.answers import totals

        by_prior = totals(*_rows_of(answers), models[0].column, np.stack(priors))
        return [_weighted_sum(answers.weight, np.log(each)) for each in by_prior]
    found = [0.0] * len(priors)
    for block in answers.blocks:
        weight = answers.weight[block.rows]
        for number, model in enumerate(models):
            _, total, log_factor = model.joint(answers, block)
            found[number] += _weighted_sum(weight, np.log(total) + log_factor)
    return found


def posterior_counts(answers: Answers, posterior: Array) -> Array:
    """Count answers per rater, true and observed class, for given class probabilities of rows."""

    def weighted(block: Block) -> Array:
        return np.asarray(posterior[block.rows] * answers.weight[block.rows, None])

    return _accumulate(answers, weighted)[0]


def posterior_of(answers: Answers, cm: Array, prior: Array) -> Array:
    """Return the class probabilities of every row, (n_rows, n_classes)."""
    model = _Model.of(answers, cm, prior)
    if not model.deep and _is_compiled(answers):
        from multirater.compiled.answers import posterior as compiled_posterior

        return compiled_posterior(*_rows_of(answers), model.column, prior)
    posterior = np.empty((len(answers), answers.n_classes))
    for block in answers.blocks:
        joint, total, _ = model.joint(answers, block)
        joint *= model.left_out
        np.divide(joint, total[:, None], out=posterior[block.rows])
    return posterior


@dataclass(frozen=True, eq=False)
class _Model:
    """Raters and classes as the expectation step uses them.

    Attributes:
        column: (n_raters * n_classes, n_classes), cm laid out so that answer (rater, observed)
            picks its row, over true classes.
        column_log: its logarithm.
        prior: (n_classes,).
        deep: whether a row's probabilities may be too small for anything but logs.
        left_out: (n_classes,), factor that `joint` leaves to be applied to sums over rows, where
            it costs nothing: the prior when it is the same for all rows, else one.
    """

    column: Array
    column_log: Array
    prior: Array
    deep: bool
    left_out: Array

    @staticmethod
    def of(answers: Answers, cm: Array, prior: Array) -> _Model:
        """Lay out confusion matrices for these answers."""
        n_classes = len(prior)
        column = np.maximum(cm, _TINY).transpose(0, 2, 1).reshape(-1, n_classes)
        column_log = np.log(column)
        deep = bool(answers.most_answers * -column_log.min(initial=0) > _DEEPEST)
        same = not deep and answers.gold is None and answers.row_prior is None
        return _Model(column, column_log, prior, deep, prior if same else np.ones(n_classes))

    def joint(self, answers: Answers, block: Block) -> tuple[Array, Array, Any]:
        """Return P(answers, class) / left_out (n, n_classes), its sum with it (n,), a log factor.

        The log factor, one per row or zero, has been taken out of both.
        """
        if self.deep:
            joint: Array = block.matrix @ self.column_log
            with np.errstate(divide="ignore"):
                joint += np.log(_prior_of_rows(answers, block.rows, self.prior))
            highest = joint.max(1)
            joint -= highest[:, None]
            np.exp(joint, out=joint)
            return joint, joint.sum(1), highest
        joint = self._likelihood(block)
        if self.left_out is not self.prior:
            joint *= _prior_of_rows(answers, block.rows, self.prior)
        return joint, np.einsum("jt,t->j", joint, self.left_out), 0.0

    def _likelihood(self, block: Block) -> Array:
        """Return P(answers | class), (n, n_classes)."""
        if block.columns is None:
            likelihood: Array = block.matrix @ self.column_log
            return np.exp(likelihood, out=likelihood)
        # Multiplying what each answer picks is quicker than the exponential of a sum.
        first, *others = block.columns.T
        likelihood = self.column.take(first, axis=0)
        for each in others:
            likelihood *= self.column.take(each, axis=0)
        return likelihood


def _prior_of_rows(answers: Answers, rows: slice, prior: Array) -> Array:
    """Return class probabilities before any answer, zero for all but a known class."""
    before = prior if answers.row_prior is None else answers.row_prior[rows]
    if answers.gold is None:
        return before
    known = answers.gold[rows, None]
    # A known class stands, even where the prior would exclude it.
    certain = np.where(np.arange(len(prior)) == known, np.maximum(before, _HARDLY), 0.0)
    return np.where(known == MISSING, before, certain)


def _weighted_sum(weight: Array, values: Array) -> float:
    """Sum products without BLAS, whose idle threads would spin between two short calls."""
    return float((weight * values).sum())


def _accumulate(
    answers: Answers, weighted_posterior: Callable[[Block], Array]
) -> tuple[Array, Array]:
    """Sum over rows: counts (n_raters, true, observed) and class mass (n_classes,)."""
    if len(answers.blocks) == 1 and answers.blocks[0].columns is None:  # the few rows of an image
        (block,) = answers.blocks
        weighted = weighted_posterior(block)
        return _by_rater(answers, block.transposed @ weighted), weighted.sum(0)
    n_classes = answers.n_classes
    counts, mass = np.zeros((answers.n_raters * n_classes, n_classes)), np.zeros(n_classes)
    for block in answers.blocks:
        weighted = weighted_posterior(block)
        here = block.transposed @ weighted
        counts += here
        if block.columns is None:
            mass += np.einsum("jt->t", weighted)
        else:  # every row was counted once per answer
            mass += here.sum(0) / block.columns.shape[1]
    return _by_rater(answers, counts), mass


def _by_rater(answers: Answers, counts: Array) -> Array:
    """Lay counts (n_raters * n_classes, true) out as (n_raters, true, observed)."""
    shape = (answers.n_raters, answers.n_classes, answers.n_classes)
    return np.ascontiguousarray(counts.reshape(shape).transpose(0, 2, 1))


def _is_compiled(answers: Answers) -> bool:
    """Whether a compiled loop goes over the rows; by the answers alone, so that results repeat."""
    large = answers.matrix.nnz * answers.n_classes >= _WORTH_COMPILING
    return large and answers.is_plain and is_there()


def _rows_of(answers: Answers) -> tuple[NDArray[Any], NDArray[Any]]:
    return answers.matrix.indptr, answers.matrix.indices


def _compiled_expectation(answers: Answers, model: _Model) -> tuple[Array, Array, float]:
    from multirater.compiled.answers import expect

    given = (*_rows_of(answers), answers.weight, model.column, model.prior)
    counts, mass, total = expect(*given)
    log_likelihood = _weighted_sum(answers.weight, np.log(total, out=total))
    return _by_rater(answers, counts), mass, log_likelihood


def _block_fractions(answers: Answers, block: Block, prior: Array) -> Array:
    votes = _block_votes(answers, block)
    total = votes.sum(1, keepdims=True)
    fractions = np.where(total > 0, votes / np.maximum(total, 1), prior)
    if answers.gold is not None:
        gold = answers.gold[block.rows]
        known = np.flatnonzero(gold != MISSING)
        fractions[known] = np.eye(answers.n_classes)[gold[known]]
    return fractions


def _block_votes(answers: Answers, block: Block) -> Array:
    """Count the answers of each class, (n, n_classes)."""
    n_rows, n_classes = block.rows.stop - block.rows.start, answers.n_classes
    if block.columns is None:
        return np.asarray(block.matrix @ np.tile(np.eye(n_classes), (answers.n_raters, 1)))
    place = block.columns % n_classes
    place += (np.arange(n_rows, dtype=place.dtype) * n_classes)[:, None]
    votes = np.bincount(place.ravel(), minlength=n_rows * n_classes)
    return votes.reshape(n_rows, n_classes).astype(float)
