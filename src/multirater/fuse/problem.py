"""From what users have (label arrays, many cases, tables) to answers, and back to their shape."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.answers import Answers, answers_from_rows
from multirater.fuse.table import Table, encode_table, require_raters
from multirater.fuse.user_warning import warn_user
from multirater.metrics.class_indices import class_indices, unmasked
from multirater.patterns import Patterns, encode_patterns, merge_patterns
from multirater.types import MISSING, MOST_CLASSES, Labels
from multirater.words import listed

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
        raters: names of an array's raters; for a table the raters to use, in the order of `cm`.
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
            A table with `n_classes` holds class indices.
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
        _require_array(roi=roi, weights=weights, prior=prior_map, pooled=pooled or None)
        if classes is None and n_classes is not None:
            classes = range(n_classes)
        _require_distinct(raters)
        _require_distinct(classes, "classes")
        if raters is not None:
            require_raters(labels, raters)
        return _pose_table(encode_table(labels, raters=raters, classes=classes, gold=gold))
    if isinstance(labels, Labels):
        raters = raters or labels.raters
        labels = labels.array
    given: list[Any] = list(labels) if pooled else [labels]  # type: ignore[arg-type]
    if any(isinstance(case, Labels) for case in given):
        raters = raters or given[0].raters
        given = [case.array if isinstance(case, Labels) else case for case in given]
    cases = [_as_labels(case, rater_axis) for case in given]
    _require_same_raters(cases, raters)
    _require_distinct(raters)
    golds = None if gold is None else [class_indices(each) for each in _listed(gold, pooled)]
    is_plain = golds is None and roi is None and prior_map is None
    parts = [encode_patterns(case) for case in cases] if is_plain else []
    highest = _highest([part.rows for part in parts] or [*cases, *(golds or [])])
    size = _n_classes(highest, cases, n_classes, classes)
    names = tuple(range(len(cases[0]))) if raters is None else tuple(raters)
    class_names = tuple(range(size)) if classes is None else tuple(classes)
    regions = None if roi is None else [_region(each) for each in _listed(roi, pooled)]
    priors = None if prior_map is None else _listed(prior_map, pooled)
    keys, vectors = _keys([case.shape[1:] for case in cases], size, golds, regions, priors)
    if not is_plain:
        parts = [encode_patterns([*case, *key]) for case, key in zip(cases, keys, strict=True)]
    if weights is not None:
        parts = _weighted(parts, _listed(weights, pooled))
    merged, positions = merge_patterns(parts) if len(parts) > 1 else (parts[0], [None])
    answers = _answers(merged, len(names), size, vectors, bool(keys[0]))
    if regions is not None or weights is not None:
        _require_some(answers, class_names)

    def decode(label: NDArray[np.int64], probability: NDArray[np.float64]) -> tuple[Any, Any]:
        maps = [
            decode_patterns(part, position, label, probability)
            for part, position in zip(parts, positions, strict=True)
        ]
        return ([m[0] for m in maps], [m[1] for m in maps]) if pooled else maps[0]

    return Problem(answers, names, class_names, decode)


def _require_some(answers: Answers, classes: Sequence[Hashable]) -> None:
    """Refuse regions and weights that leave nothing to learn from, and tell classes outside."""
    said = np.asarray(answers.matrix.sum(0)).reshape(answers.n_raters, -1).sum(0)
    counted = answers.class_totals()
    if said.any() and not counted.any():
        raise InputError(
            Fault(
                "the region of interest, or the weights, leave no label that counts",
                expected="at least one labelled pixel inside, of a weight above 0",
            )
        )
    outside = [
        str(name)
        for name, one, other in zip(classes, said, counted, strict=True)
        if one and not other
    ]
    if outside and answers.gold is None:
        warn_user(
            f"{listed(outside)} is drawn outside of the region of interest alone: methods that "
            "learn how frequent classes are do not find it anywhere"
        )


def _listed(given: Any, pooled: bool) -> list[Any]:
    return list(given) if pooled else [given]


def _region(given: Any) -> NDArray[np.bool_]:
    """Return where pixels count."""
    region = np.asarray(given)
    if region.dtype.kind not in "biuf" or not np.isfinite(region).all():
        raise InputError(
            Fault(
                "roi holds something else than numbers, or NaN",
                expected="True or 1 where a pixel counts, False or 0 elsewhere",
            )
        )
    return np.asarray(region != 0)


def _require_array(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(
                Fault(
                    f"{name} given with a table",
                    expected="labels as an array (n_raters, *space)",
                    fix=f"leave {name} out",
                )
            )


def _require_shapes(
    what: str, found: Sequence[tuple[int, ...]], expected: Sequence[tuple[int, ...]]
) -> None:
    if len(found) != len(expected):
        raise InputError(Fault(f"{what} for {len(found)} cases", expected=f"{len(expected)} cases"))
    for shape, wanted in zip(found, expected, strict=True):
        if shape != wanted:
            raise InputError(Fault(f"{what}: shape {shape}", expected=f"{wanted}"))


def _weighted(parts: list[Patterns], weights: list[Any]) -> list[Patterns]:
    arrays = [np.asarray(each, dtype=float) for each in weights]
    _require_shapes(
        "weights", [each.shape for each in arrays], [part.codes.shape for part in parts]
    )
    if not all(np.all(each >= 0) and np.all(np.isfinite(each)) for each in arrays):
        raise InputError(Fault("weights below zero or not finite", expected="numbers of items"))
    return [
        replace(part, counts=np.bincount(part.index.ravel(), each.ravel(), len(part.rows)))
        for part, each in zip(parts, arrays, strict=True)
    ]


def _keys(
    shapes: list[tuple[int, ...]],
    n_classes: int,
    golds: list[NDArray[Any]] | None,
    regions: list[NDArray[np.bool_]] | None,
    priors: list[Any] | None,
) -> tuple[list[list[NDArray[Any]]], NDArray[np.float64] | None]:
    """Return what tells items of one pattern apart: gold label, region of interest, prior.

    Each case gets no key row, or these three; the prior enters as the number of its vector, and
    the vectors (n_vectors, n_classes) come second.
    """
    if golds is None and regions is None and priors is None:
        return [[] for _ in shapes], None
    known = golds or [np.full(shape, MISSING, dtype=np.int8) for shape in shapes]
    inside = regions or [np.ones(shape, dtype=bool) for shape in shapes]
    numbers: list[NDArray[Any]] = [np.zeros(shape, dtype=np.int8) for shape in shapes]
    vectors = None
    if priors is not None:
        numbers, vectors = _number_vectors(priors, shapes, n_classes)
    _require_shapes("gold labels", [each.shape for each in known], shapes)
    _require_shapes("region of interest", [each.shape for each in inside], shapes)
    keys = [
        [gold, region.view(np.int8), number]
        for gold, region, number in zip(known, inside, numbers, strict=True)
    ]
    return keys, vectors


def _number_vectors(
    maps: list[Any], shapes: list[tuple[int, ...]], n_classes: int
) -> tuple[list[NDArray[Any]], NDArray[np.float64]]:
    arrays = [np.asarray(each, dtype=float) for each in maps]
    wanted = [(n_classes, *shape) for shape in shapes]
    _require_shapes("prior map", [each.shape for each in arrays], wanted)
    stacked = np.concatenate([each.reshape(n_classes, -1) for each in arrays], axis=1)
    vectors, inverse = np.unique(stacked.T, axis=0, return_inverse=True)
    if vectors.min() < 0 or not np.allclose(vectors.sum(1), 1, atol=1e-4):
        raise InputError(
            Fault("prior map is no probability", expected="values that sum to one over classes")
        )
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    pieces = np.split(inverse.reshape(-1), ends)
    numbers = [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]
    return numbers, vectors


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
    shape = part.codes.shape
    labels = np.empty(shape, dtype=np.int16)
    maps = np.empty((len(by_class), *shape), dtype=np.float32)
    part.spread([label.astype(np.int16), *by_class], [labels, *maps])
    return labels, maps


def _pose_table(table: Table) -> Problem:
    def decode(label: NDArray[np.int64], probability: NDArray[np.float64]) -> tuple[Any, Any]:
        columns = pd.Index(table.classes, name="label")
        frame = pd.DataFrame(probability, index=table.tasks, columns=columns, copy=False)
        values = columns.take(np.maximum(label, 0)).to_series(index=table.tasks, name="label")
        return values.where(label != MISSING) if (label == MISSING).any() else values, frame

    return Problem(table.answers, table.raters, table.classes, decode)


def _as_labels(labels: Any, rater_axis: int) -> NDArray[Any]:
    """Return integers (n_raters, *space), -1 where missing."""
    array = unmasked(labels)
    if array.ndim < 1 or array.size == 0:
        raise InputError(
            Fault(f"labels have shape {array.shape}", expected="(n_raters, *space), not empty")
        )
    if not -array.ndim <= rater_axis < array.ndim:
        raise InputError(
            Fault(
                f"rater_axis is {rater_axis}",
                expected=f"an axis of labels of shape {array.shape}: 0 to {array.ndim - 1}",
            )
        )
    return class_indices(np.moveaxis(array, rater_axis, 0))


def _require_distinct(names: Sequence[Hashable] | None, what: str = "raters") -> None:
    twice = [
        name for name, n_times in Counter(() if names is None else names).items() if n_times > 1
    ]
    if twice:
        raise InputError(
            Fault(f"two {what} are called {twice[0]}", expected="distinct names", fix="rename one")
        )


def _is_mask(cases: list[NDArray[Any]]) -> bool:
    return all(np.isin(case, (MISSING, 0, 255)).all() for case in cases)


def _highest(labels: list[NDArray[Any]]) -> int:
    return max(int(each.max()) for each in labels)


def _n_classes(
    highest: int,
    cases: list[NDArray[Any]],
    n_classes: int | None,
    classes: Sequence[Hashable] | None,
) -> int:
    if n_classes is not None and not (isinstance(n_classes, int | np.integer) and n_classes > 0):
        raise InputError(Fault(f"n_classes is {n_classes!r}", expected="a whole number from 1"))
    if n_classes is not None and classes is not None and n_classes != len(classes):
        raise InputError(Fault(f"{len(classes)} names for {n_classes} classes"))
    size = n_classes or (len(classes) if classes is not None else max(highest + 1, 2))
    if n_classes is None and classes is None and highest == 255 and _is_mask(cases):
        raise InputError(
            Fault(
                "labels are 0 and 255, as image files store masks",
                expected="class indices",
                fix="fuse `masks > 0`; or give n_classes=256 if 255 is meant as a class",
            )
        )
    if size > MOST_CLASSES:
        raise InputError(
            Fault(
                f"{size} classes",
                expected=f"at most {MOST_CLASSES}",
                fix="number the classes 0, 1, 2, ...; labels of single objects are no classes",
            )
        )
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
