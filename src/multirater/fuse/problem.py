"""From what users have (label arrays, many cases, tables) to answers, and back to their shape."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.answers import Answers, answers_from_rows
from multirater.fuse.table import Table, encode_table
from multirater.patterns import Patterns, encode_patterns, merge_patterns
from multirater.types import MISSING, Labels

LabelInput: TypeAlias = ArrayLike | Labels | pd.DataFrame | Sequence[NDArray[Any]]
"""Labels (n_raters, *space), a sequence of such cases, a long table or a wide table."""

Decoder: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.float64]], tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class Problem:
    """Answers to fuse, with names, and the way back to the shape of the input.

    Attributes:
        answers: weighted rows.
        raters: names, in the order of the answers' raters.
        classes: names, in the order of class indices.
        decode: maps the label (n_rows,) and probability (n_rows, n_classes) of rows to the shape
            of the input.
    """

    answers: Answers
    raters: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]
    decode: Decoder


class Inputs(TypedDict, total=False):
    """What may come with the labels; the same for every fusion method.

    Attributes:
        raters: names of an array's raters.
        classes: class names; for a table the labels that may occur, in the order of `cm`.
        rater_axis: the array axis that holds the raters; 1 for arrays (n_tasks, n_raters).
        pooled: True when `labels` is a sequence of arrays, one per case, which share one
            confusion matrix per rater; the result then holds a list of labels.
        gold: known classes: class indices (*space), -1 where unknown; for a table a mapping or
            Series from task to class.
        roi: True where a pixel counts for the estimates, (*space). The label is given everywhere.
        weights: how many items each pixel or column stands for, (*space); one when not given.

    With `pooled`, `gold`, `roi` and `weights` are sequences too.
    """

    raters: Sequence[Hashable] | None
    classes: Sequence[Hashable] | None
    rater_axis: int
    pooled: bool
    gold: Any
    roi: Any
    weights: Any


def pose(
    labels: LabelInput,
    n_classes: int | None = None,
    *,
    prior_map: Any = None,
    raters: Sequence[Hashable] | None = None,
    classes: Sequence[Hashable] | None = None,
    rater_axis: int = 0,
    pooled: bool = False,
    gold: Any = None,
    roi: Any = None,
    weights: Any = None,
) -> Problem:
    """Bring any accepted input into the form that fusion methods work on.

    Args:
        labels: integers (n_raters, *space), -1 or NaN where missing; `Labels`; with `pooled` a
            sequence of such arrays, one per case; or a table: long (task, rater, label) or wide
            (a row per task, a column per rater).
        n_classes: number of classes; the largest index plus one (at least two) when not given.
        prior_map: class probabilities (n_classes, *space), one per case when pooled.
        raters: this and the rest: see `Inputs`.
        classes: see `Inputs`.
        rater_axis: see `Inputs`.
        pooled: see `Inputs`.
        gold: see `Inputs`.
        roi: see `Inputs`.
        weights: see `Inputs`.
    """
    if isinstance(labels, pd.DataFrame):
        return _pose_table(encode_table(labels, classes=classes, gold=gold))
    if isinstance(labels, Labels):
        raters = raters or labels.raters
        labels = labels.array
    given = list(labels) if pooled else [labels]  # type: ignore[arg-type]
    cases = [_as_labels(case, rater_axis) for case in given]
    _require_same_raters(cases, raters)
    size = _n_classes(cases, n_classes, classes)
    names = tuple(range(len(cases[0]))) if raters is None else tuple(raters)
    class_names = tuple(range(size)) if classes is None else tuple(classes)
    keys, vectors = _keys(cases, gold, roi, prior_map, pooled)
    parts = [encode_patterns([*case, *key]) for case, key in zip(cases, keys, strict=True)]
    if weights is not None:
        given_weights = weights if pooled else [weights]
        parts = [_weighted(part, each) for part, each in zip(parts, given_weights, strict=True)]
    merged, positions = merge_patterns(parts) if len(parts) > 1 else (parts[0], [None])
    answers = _answers(merged, len(names), size, vectors, bool(keys[0]))

    def decode(label: NDArray[np.int64], probability: NDArray[np.float64]) -> tuple[Any, Any]:
        maps = [
            decode_patterns(part, position, label, probability)
            for part, position in zip(parts, positions, strict=True)
        ]
        return ([m[0] for m in maps], [m[1] for m in maps]) if pooled else maps[0]

    return Problem(answers, names, class_names, decode)


def _weighted(part: Patterns, weights: Any) -> Patterns:
    if np.shape(weights) != part.index.shape:
        raise InputError(
            Fault(f"weights: shape {np.shape(weights)}", expected=f"{part.index.shape}")
        )
    flat = np.asarray(weights, dtype=float).ravel()
    counts = np.bincount(part.index.ravel(), weights=flat, minlength=len(part.rows))
    return replace(part, counts=counts)


def _keys(
    cases: list[NDArray[Any]], gold: Any, roi: Any, prior_map: Any, pooled: bool
) -> tuple[list[list[NDArray[Any]]], NDArray[np.float64] | None]:
    """Return what tells items of one pattern apart: gold label, region of interest, prior.

    Each case gets no key row, or these three; the prior enters as the number of its vector, and
    the vectors (n_vectors, n_classes) come second.
    """
    if gold is None and roi is None and prior_map is None:
        return [[] for _ in cases], None
    shapes = [case.shape[1:] for case in cases]
    golds = _per_case(gold, shapes, pooled, MISSING, "gold labels")
    inside = _per_case(roi, shapes, pooled, 1, "region of interest")
    if prior_map is None:
        numbers, vectors = [np.zeros(shape, dtype=np.int64) for shape in shapes], None
    else:
        numbers, vectors = _number_vectors(list(prior_map) if pooled else [prior_map], shapes)
    keys = [
        [known, (region != 0).astype(np.int8), number]
        for known, region, number in zip(golds, inside, numbers, strict=True)
    ]
    return keys, vectors


def _per_case(
    given: Any, shapes: list[tuple[int, ...]], pooled: bool, default: int, what: str
) -> list[NDArray[Any]]:
    if given is None:
        return [np.full(shape, default, dtype=np.int16) for shape in shapes]
    arrays = [np.asarray(each) for each in (given if pooled else [given])]
    for array, shape in zip(arrays, shapes, strict=True):
        if array.shape != shape:
            raise InputError(Fault(f"{what}: shape {array.shape}", expected=f"{shape}"))
    return arrays


def _number_vectors(
    maps: list[Any], shapes: list[tuple[int, ...]]
) -> tuple[list[NDArray[np.int64]], NDArray[np.float64]]:
    for prior, shape in zip(maps, shapes, strict=True):
        if np.shape(prior)[1:] != shape:
            raise InputError(
                Fault(f"prior map: shape {np.shape(prior)}", expected=f"(n_classes, {shape})")
            )
    stacked = np.concatenate([np.asarray(m, dtype=float).reshape(len(m), -1) for m in maps], axis=1)
    vectors, inverse = np.unique(stacked.T, axis=0, return_inverse=True)
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    pieces = np.split(inverse.reshape(-1), ends)
    return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)], vectors


def _answers(
    merged: Patterns,
    n_raters: int,
    n_classes: int,
    vectors: NDArray[np.float64] | None,
    with_keys: bool,
) -> Answers:
    if not with_keys:
        return answers_from_rows(merged.rows, merged.counts, n_classes)
    gold, inside, number = merged.rows[:, n_raters:].T
    return answers_from_rows(
        merged.rows[:, :n_raters],
        merged.counts * inside,
        n_classes,
        gold=gold if (gold != MISSING).any() else None,
        row_prior=None if vectors is None else vectors[number],
    )


def decode_patterns(
    part: Patterns,
    position: NDArray[np.int64] | None,
    label: NDArray[np.int64],
    probability: NDArray[np.float64],
) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
    """Write rows back to the pixels: label (*space), probability (n_classes, *space)."""
    if position is not None:
        label, probability = label[position], probability[position]
    by_class = np.ascontiguousarray(probability.T.astype(np.float32))
    maps = np.empty((len(by_class), *part.index.shape), dtype=np.float32)
    for target, values in zip(maps, by_class, strict=True):
        # Every index is in range; saying so spares numpy a buffered copy.
        np.take(values, part.index, out=target, mode="clip")
    return np.take(label.astype(np.int16), part.index, mode="clip"), maps


def _pose_table(table: Table) -> Problem:
    def decode(label: NDArray[np.int64], probability: NDArray[np.float64]) -> tuple[Any, Any]:
        columns = pd.Index(table.classes, name="label")
        frame = pd.DataFrame(probability, index=table.tasks, columns=columns, copy=False)
        values = columns.take(np.maximum(label, 0)).to_series(index=table.tasks, name="label")
        return values.where(label != MISSING) if (label == MISSING).any() else values, frame

    return Problem(table.answers, table.raters, table.classes, decode)


def _as_labels(labels: Any, rater_axis: int) -> NDArray[Any]:
    """Return integers (n_raters, *space), -1 where missing."""
    array = np.asarray(labels)
    if array.ndim < 1 or array.size == 0:
        raise InputError(
            Fault(f"labels have shape {array.shape}", expected="(n_raters, *space), not empty")
        )
    array = np.moveaxis(array, rater_axis, 0)
    if array.dtype == bool:
        return array.astype(np.int8)
    if np.issubdtype(array.dtype, np.floating):
        whole = np.where(np.isnan(array), MISSING, array)
        if not np.array_equal(whole, np.round(whole)):
            raise InputError(
                Fault(
                    f"labels hold fractions such as {whole[whole != np.round(whole)].flat[0]:g}",
                    expected="class indices, -1 or NaN where a rater did not label",
                    fix="turn probabilities into labels before fusing them",
                )
            )
        array = whole.astype(np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            Fault(f"labels are of type {array.dtype}", expected="integers: class indices, or -1")
        )
    if array.dtype.kind == "i" and array.min() < MISSING:
        raise InputError(Fault(f"label {array.min()}", expected="class indices, or -1 for missing"))
    return array


def _n_classes(
    cases: list[NDArray[Any]], n_classes: int | None, classes: Sequence[Hashable] | None
) -> int:
    highest = max(int(case.max()) for case in cases)
    size = n_classes or (len(classes) if classes is not None else max(highest + 1, 2))
    if highest >= size:
        raise InputError(
            Fault(
                f"label {highest} with {size} classes",
                expected=f"class indices 0 to {size - 1}, or -1 for missing",
                fix="pass a larger n_classes, or mend the label",
            )
        )
    return size


def _require_same_raters(cases: list[NDArray[Any]], raters: Sequence[Hashable] | None) -> None:
    sizes = sorted({len(case) for case in cases})
    if len(sizes) != 1:
        raise InputError(
            Fault(
                f"cases have {sizes} raters",
                expected="the same raters, in the same order, in every case",
                fix="fill the labels of absent raters with -1",
            )
        )
    if raters is not None and len(raters) != sizes[0]:
        raise InputError(
            Fault(f"{len(raters)} names for {sizes[0]} raters", fix="give one name per rater")
        )
