"""Answers that do not fit into memory: parts on disk, over which EM sums.

A part is a folder with the tasks it holds and their answers as sparse rows. Each sum is over parts
in their order, so that it is the same to the last bit wherever the parts are worked on.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multirater.fuse.answers import Answers
from multirater.fuse.em import RaterFit
from multirater.fuse.expectation import (
    expected_counts,
    log_likelihood_of,
    posterior_of,
    vote_counts,
)
from multirater.fuse.fitting import row_labels
from multirater.fuse.identifiability import outvoted_items
from multirater.fuse.left_out import alike_without
from multirater.fusion.parquet_answers import SCATTERED
from multirater.parallel import Apply

Array = NDArray[np.float64]
R = TypeVar("R")

TASKS, FIRST, LABEL, POSTERIOR = "tasks.arrow", "first.bin", "label.bin", "posterior.bin"
"""Of a part: its tasks, the row of the file where each appears first, and what was found."""

_START, _COLUMNS = "start.npy", "columns.npy"


@dataclass(frozen=True)
class Repeated:
    """Answers that a rater gave to a task again: how many, and the first of them."""

    number: int
    row: int = -1
    rater: int = -1
    task: str = ""


@dataclass(frozen=True)
class Encoded:
    """What a part holds: tasks, answers of most tasks, answers by rater and class, repetitions."""

    n_tasks: int
    n_answers: NDArray[np.int64]
    by_column: Array
    repeated: Repeated


def encode_part(part: Path, *, code_of_label: NDArray[np.int32], n_raters: int) -> Encoded:
    """Number the tasks of a part and lay its answers out as sparse rows.

    Args:
        part: as `scatter` left it; the answers as they were read are removed.
        code_of_label: the class of each label as it was read.
        n_raters: number of raters.
    """
    import pyarrow as pa

    with pa.OSFile(str(part / SCATTERED), "rb") as stream:
        table = pa.ipc.open_stream(stream).read_all().combine_chunks()
    encoded = table.column("task").combine_chunks().dictionary_encode()
    task, tasks = encoded.indices.to_numpy(), encoded.dictionary
    rater, label, row = (table.column(name).to_numpy() for name in ("rater", "label", "row"))
    repeated = _repeated(task, rater, row, n_raters, tasks)
    _, first = np.unique(task, return_index=True)
    row[first].tofile(part / FIRST)
    with pa.OSFile(str(part / TASKS), "wb") as stream:
        schema = pa.schema([("task", tasks.type)])
        with pa.ipc.new_file(stream, schema) as to:
            to.write_batch(pa.record_batch([tasks], schema=schema))
    answered = label >= 0
    order = np.argsort(task[answered], kind="stable")
    n_answers = np.bincount(task[answered], minlength=len(tasks))
    n_classes = len(code_of_label)
    column = (rater[answered] * np.int32(n_classes) + code_of_label[label[answered]])[order]
    np.save(part / _COLUMNS, column.astype(np.int32))
    np.save(part / _START, np.append(0, np.cumsum(n_answers)).astype(np.int32))
    (part / SCATTERED).unlink()
    by_column = np.bincount(column, minlength=n_raters * n_classes).astype(float)
    return Encoded(len(tasks), np.bincount(n_answers), by_column, repeated)


def _repeated(
    task: NDArray[Any], rater: NDArray[Any], row: NDArray[Any], n_raters: int, tasks: Any
) -> Repeated:
    """Find answers of a rater to a task that they have answered before."""
    key = task.astype(np.int64) * n_raters + rater
    order = np.argsort(key, kind="stable")
    again = order[1:][key[order[1:]] == key[order[:-1]]]
    if not len(again):
        return Repeated(0)
    here = again.min()
    return Repeated(len(again), int(row[here]), int(rater[here]), str(tasks[int(task[here])]))


class _OnceEach(Answers):
    """Answers of which no rater gave two to a task, which `encode_part` has made sure of."""

    is_plain = True

    @cached_property
    def most_answers(self) -> float:
        return float(np.diff(self.matrix.indptr).max(initial=0))


def _answers_of(part: Path, n_raters: int, n_classes: int) -> Answers:
    start, columns = np.load(part / _START), np.load(part / _COLUMNS)
    shape = (len(start) - 1, n_raters * n_classes)
    matrix = sparse.csr_matrix((np.ones(len(columns)), columns, start), shape=shape, copy=False)
    return _OnceEach(matrix, (np.diff(start) > 0).astype(float), n_raters, n_classes)


@dataclass(frozen=True)
class AnswerParts:
    """Answers in parts, as evidence for EM.

    Attributes:
        parts: encoded, a folder each.
        n_raters: number of raters.
        n_classes: number of classes.
        by_column: answers by rater and class, (n_raters * n_classes,).
        scratch: a folder that whoever works on parts can read.
        apply: works on parts.
    """

    parts: tuple[Path, ...]
    n_raters: int
    n_classes: int
    by_column: Array
    scratch: Path
    apply: Apply

    def class_frequency(self) -> Array:
        """Return the share of each class among all answers, (n_classes,); sums to one."""
        total = self.by_column.reshape(self.n_raters, self.n_classes).sum(0)
        if total.sum() == 0:
            return np.full(self.n_classes, 1 / self.n_classes)
        return np.asarray(total / total.sum())

    def vote(self, prior: Array) -> tuple[Array, Array]:
        """Count as if the soft majority vote were the truth: counts and class mass."""
        counts, mass = self._sum(_vote, prior=prior)
        return counts, mass

    def expect(self, cm: Array, prior: Array) -> tuple[Array, Array, float]:
        """Return expected counts, class mass and log-likelihood."""
        counts, mass, log_likelihood = self._sum(_expect, cm=cm, prior=prior)
        return counts, mass, log_likelihood

    def log_likelihoods(self, cm: Array, *priors: Array) -> list[float]:
        """Return the log-likelihood of all answers, with each of several class probabilities."""
        return self._sum(_log_likelihoods, cm=cm, priors=np.stack(priors))

    def outvoted(self, found: RaterFit, k: int) -> tuple[float, float]:
        """Count the items fused to class k, and those of them that most labelled otherwise."""
        items, against = self._sum(_outvoted, k=np.array(k), **_last(found))
        return items, against

    def alike(self, found: RaterFit) -> tuple[Array, Array]:
        """Count the answers of each rater that the others' answers make the likeliest."""
        right, total = self._sum(_alike, found=found.cm, **_last(found))
        return right, total

    def write_posteriors(self, found: RaterFit) -> None:
        """Write the label and the probabilities of each task beside it."""
        self._sum(_write_posterior, **_last(found))

    def _sum(self, work: Callable[..., tuple[Any, ...]], **model: Any) -> list[Any]:
        """Add what work returns of each part, in order; the model goes by a file."""
        # A name of its own: another machine may still have an older file at hand.
        path = self.scratch / f"{secrets.token_hex(8)}.npz"
        np.savez(path, **model)
        given = partial(_on_part, work=work, model=path, shape=(self.n_raters, self.n_classes))
        try:
            sums: list[Any] = []
            for found in self.apply(given, self.parts):
                sums = [a + b for a, b in zip(sums, found, strict=True)] if sums else list(found)
            return sums
        finally:
            path.unlink()


def _on_part(part: Path, *, work: Callable[..., R], model: Path, shape: tuple[int, int]) -> R:
    with np.load(model) as arrays:
        given = dict(arrays)
    return work(part, _answers_of(part, *shape), **given)


def _vote(_: Path, answers: Answers, prior: Array) -> Any:
    return vote_counts(answers, prior)


def _expect(_: Path, answers: Answers, cm: Array, prior: Array) -> Any:
    return expected_counts(answers, cm, prior)


def _log_likelihoods(_: Path, answers: Answers, cm: Array, priors: Array) -> Any:
    return tuple(log_likelihood_of(answers, cm, *priors))


def _outvoted(_: Path, answers: Answers, k: Array, cm: Array, prior: Array) -> Any:
    return outvoted_items(answers, posterior_of(answers, cm, prior), int(k))


def _alike(_: Path, answers: Answers, found: Array, cm: Array, prior: Array) -> Any:
    return alike_without(answers, posterior_of(answers, cm, prior), found)


def _write_posterior(part: Path, answers: Answers, cm: Array, prior: Array) -> Any:
    posterior = posterior_of(answers, cm, prior)
    label, _ = row_labels(answers, posterior)
    label.astype(np.int32).tofile(part / LABEL)
    posterior.tofile(part / POSTERIOR)
    return ()


def _last(found: RaterFit) -> dict[str, Array]:
    assert found.last is not None
    return dict(zip(("cm", "prior"), found.last, strict=True))
