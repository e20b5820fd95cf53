"""What a finished run says of its raters and of itself: `raters.csv` and `trust.json`.

Both come from one look at the cases: the network's truth beside what raters drew. Raters are
described by cases that were held out, where there are enough of them, and judged without a say of
their own (`rater_quality`). Class labels, one per case and rater, are looked at in
`class_evidence`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.fuse.quality import with_quality
from multirater.fuse.rater_table import rater_table
from multirater.io.results.layout import fold_folders
from multirater.io.results.statements import read_curves, write_rater_table, write_trust
from multirater.patterns import encode_patterns
from multirater.progress import say, track
from multirater.training.class_answers import answers_of
from multirater.training.class_evidence import by_own_matrices, class_evidence, truth_of
from multirater.training.class_trust import beside_looks
from multirater.training.data import group_of, named_splits
from multirater.training.folds import unseen_answers
from multirater.training.looking import Seen, look_at
from multirater.training.methods import split_as_trained
from multirater.training.network_quality import (
    beside_raters,
    compare_answers,
    compare_drawings,
    kept_epoch,
    of_folds,
    over_fitting,
    sides_of_two,
    with_quality_of_network,
)
from multirater.training.orientation import turn_to, turned_value
from multirater.training.predictor import Predictor
from multirater.training.rater_quality import (
    FEWEST,
    Judged,
    class_quality_in_run,
    judged_by_labels,
    judged_case,
    quality_in_run,
)
from multirater.training.second_opinion import SecondOpinion
from multirater.training.trust import Evidence, trust_of
from multirater.trust import Finding
from multirater.types import MISSING, Case, Dataset

Counts: TypeAlias = NDArray[np.float64]
Patterns: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Labels that occur together, (n_rows, n_raters + 1) with the network's last, -1 where missing, and
how many pixels carry each."""

_ASKED = 12
"""Raters who are predicted where a case has too few labels of its own to show a dispute."""


_ENOUGH = 5
"""Held-out cases of every rater from which on they alone describe raters."""

_BLOCK_PIXELS = 2**20


@dataclass(frozen=True, eq=False)
class _Look:
    """What was seen in one case.

    Attributes:
        labels: pixels (n_raters, true, observed) of what raters drew.
        answered: pixels (answer, observed) of all raters, by the network's likeliest class.
        disputed: pixels (true, observed) of all raters together, where they disagree.
        vote: pixels (vote, truth): the majority vote of the case's labels, and the network.
        n_disputed: pixels where raters disagree.
        n_pixels: all pixels.
        is_compared: there are labels of two raters, or what they would be.
    """

    labels: Counts
    answered: Counts
    disputed: Counts
    vote: Counts
    n_disputed: float
    n_pixels: float
    is_compared: bool = True


@dataclass(frozen=True, eq=False)
class Unseen:
    """What a network was not trained on.

    Attributes:
        names: of the cases that it has not seen.
        by_folds: of folds, each case as the one predicted it that was not trained on it.
    """

    names: Set[str]
    by_folds: Mapping[str, Case]


def describe_run(folder: Path, dataset: Dataset) -> None:
    """Write `raters.csv` and `trust.json` of a run.

    Args:
        folder: of the run.
        dataset: as it was read, with the labels of all raters.
    """
    predictor = Predictor(folder)
    cases = [case for part in named_splits(dataset) for case in part if case.labels]
    if not cases:
        say("no trust statement: it compares raters' masks or class labels, and there are none")
        return
    folds = fold_folders(folder)
    # Together the folds have seen every case.
    unseen: set[str] = set()
    if not folds:
        unseen = {case.name for case in split_as_trained(dataset, predictor.config)[1]}
    n_classes = len(predictor.data.classes)
    if dataset.kind == "classes":
        evidence = class_evidence(predictor, cases, dataset.raters, unseen)
        labels, answer = _answers(predictor, cases, dataset.raters)
        held_out = [case.name in unseen for case in cases]
        compared = compare_answers(labels, answer, held_out)
        own = by_own_matrices(
            predictor, evidence.counts, answers_of(cases, dataset.raters), dataset.raters
        )
        quality = class_quality_in_run(labels, answer, held_out, own, dataset.raters)
        found: list[Finding] = []
    else:
        opinion = SecondOpinion(dataset.raters, n_classes)
        outside = unseen_answers(folder) if folds else {}
        evidence, patterns, judged = _evidence(
            predictor, cases, dataset.raters, opinion, Unseen(unseen, outside)
        )
        quality = quality_in_run(judged, dataset.raters, n_classes, evidence.weights)
        compared = compare_drawings(patterns, [case.name in unseen for case in cases])
        said = opinion.finding()
        evidence = replace(evidence, borne_out=tuple(r for each in said for r in each.raters))
        found = [*said, *sides_of_two(patterns, dataset.raters)]
    evidence = replace(evidence, table=with_quality(evidence.table, quality))
    write_rater_table(folder, evidence.table)
    found += beside_looks(of_folds(folds) or [beside_raters(compared)], evidence.lesson)
    found += [*over_fitting(compared), *kept_epoch(read_curves(folder))]
    trust = with_quality_of_network(trust_of(evidence), found)
    write_trust(folder, trust)
    say(trust.as_text())


def _answers(
    predictor: Predictor, cases: Sequence[Case], raters: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return class labels (n_cases, n_raters), -1 where missing, and the network's (n_cases,)."""
    answers = answers_of(cases, raters)
    labels = np.full((len(cases), len(raters)), MISSING, dtype=np.int64)
    labels[answers.case, answers.rater] = answers.label
    return labels, truth_of(predictor, cases).argmax(1)


def _evidence(
    predictor: Predictor,
    cases: list[Case],
    raters: tuple[str, ...],
    opinion: SecondOpinion,
    outside: Unseen,
) -> tuple[Evidence, list[Patterns], list[Judged]]:
    """Look at drawings, pixel by pixel; return what each case holds, too.

    Args:
        predictor: of the run.
        cases: to look at; they are put into another order.
        raters: of the data set.
        opinion: which is shown some of the cases.
        outside: what the network was not trained on.
    """
    # Cases that the same raters labelled go through the network together.
    cases.sort(key=lambda case: tuple(case.labels))
    found = look_at(
        predictor,
        cases,
        raters,
        partial(_asked, predictor),
        partial(_by_fold, by_folds=outside.by_folds, orientation=predictor.config.orientation),
    )
    looks, patterns, judged = [], [], []
    for seen in track(found, "describing raters", len(cases)):
        looks.append(_look(seen, raters))
        patterns.append(_patterns(seen, raters))
        judged.append(_judged(predictor, seen, raters, outside))
        if not opinion.is_full:
            parts = (seen.example.image, seen.example.labels, seen.example.answer)
            opinion.look(*parts, group_of(seen.case))
    counts = np.stack([look.labels for look in looks])
    votes = np.stack([look.vote for look in looks])
    evidence = Evidence(
        table=_described(counts, [case.name in outside.names for case in cases], raters, predictor),
        counts=counts.sum(0),
        disputed=np.sum([look.disputed for look in looks], axis=0),
        votes=votes.sum(0),
        changed=votes.sum((1, 2)) - np.trace(votes, axis1=1, axis2=2),
        disputed_share=_disputed_share(looks),
        foreseen=not any(len(case.labels) > 1 for case in cases),
        cases=tuple(case.name for case in cases),
        raters=raters,
        classes=predictor.data.classes,
        weights=predictor.network.followed,
        answered=np.sum([look.answered for look in looks], axis=0),
    )
    return evidence, patterns, judged


def _disputed_share(looks: Sequence[_Look]) -> float:
    """Return the share of the pixels on which raters disagree; NaN where none can be compared."""
    compared = [look for look in looks if look.is_compared]
    if not compared:
        return float("nan")
    n_pixels = sum(look.n_pixels for look in compared)
    return sum(look.n_disputed for look in compared) / max(n_pixels, 1)


def _described(
    counts: Counts, held_out: Sequence[bool], raters: tuple[str, ...], predictor: Predictor
) -> pd.DataFrame:
    """Describe raters by the cases held out, where each has enough of them, else by all.

    How much raters draw, compared with one another, no network has learned: all cases tell it, and
    tell it more surely.

    Args:
        counts: pixels (n_cases, n_raters, true, observed).
        held_out: by case.
        raters: names.
        predictor: of the run.
    """
    outside = counts[np.asarray(held_out, dtype=bool)]
    labelled = [(each.sum((2, 3)) > 0).sum(0) for each in (counts, outside)]
    is_enough = bool((labelled[1][labelled[0] > 0] >= _ENOUGH).all())
    table = rater_table(counts, raters, predictor.data.classes)
    if is_enough:
        sizes = table.filter(regex=r"^size(_| |$)")
        table = rater_table(outside, raters, predictor.data.classes)
        table[sizes.columns] = sizes
    return table.assign(labels=labelled[0])


def _by_fold(
    case: Case, by_folds: Mapping[str, Case], orientation: str
) -> NDArray[np.int16] | None:
    """Return a case as the fold predicted it that has not seen it, (*space); None without folds.

    Predictions lie on the image's own grid; raters are looked at as the network sees them, turned.
    """
    own = by_folds.get(case.name)
    if own is None:
        return None
    label = own.read_label(next(iter(own.labels)))
    return turned_value(label, turn_to(orientation, label.geometry)).array


def _asked(predictor: Predictor, case: Case) -> Sequence[int]:
    """Return the raters to predict, those followed most, where labels of the case are few."""
    n_raters, followed = len(predictor.data.raters), predictor.network.followed
    if len(case.labels) >= min(FEWEST, n_raters) or not predictor.network.knows_raters:
        return ()
    order = np.argsort([-each for each in followed], kind="stable") if followed else range(n_raters)
    return sorted(int(rater) for rater in order[:_ASKED])


def _judged(predictor: Predictor, seen: Seen, raters: tuple[str, ...], outside: Unseen) -> Judged:
    """Gather what a case says of its raters without their own say.

    Labels enough judge by themselves, all of their pixels.
    """
    stand_in = _stand_in(predictor, seen, raters, outside)
    if stand_in is None:
        return judged_by_labels(*seen.whole)
    heads, asked, network = stand_in
    nobody = np.broadcast_to(np.int16(MISSING), seen.weight.shape)
    labels = [seen.labels.get(rater, nobody) for rater in raters]
    return judged_case(labels, heads, asked, network, seen.weight)


def _stand_in(
    predictor: Predictor, seen: Seen, raters: tuple[str, ...], outside: Unseen
) -> tuple[NDArray[np.int16] | None, Sequence[int], NDArray[np.int16] | None] | None:
    """Return who speaks where labels are few: heads, of whom, and the network; None if nobody."""
    if len(seen.labels) >= min(FEWEST, len(raters)):
        return None
    if seen.heads is not None:
        is_known = predictor.data.raters == raters
        return (seen.heads, _asked(predictor, seen.case), None) if is_known else None
    if seen.other is not None:
        return None, (), seen.other
    if seen.case.name in outside.names:
        return None, (), seen.probability.argmax(0).astype(np.int16)
    return None


def _look(seen: Seen, raters: tuple[str, ...]) -> _Look:
    """Look at a case, block by block: what is counted takes far more memory than labels do."""
    drawn = np.stack(list(seen.labels.values()))
    # Where a case has labels of its own that can differ, they show what is disputed.
    heads = seen.heads if len(drawn) < 2 else None
    places = [raters.index(rater) for rater in seen.labels]
    looks = []
    for start in range(0, drawn.shape[1], _BLOCK_PIXELS):
        block = slice(start, start + _BLOCK_PIXELS)
        own = None if heads is None else heads[:, block]
        truth, weight = seen.probability[:, block].astype(float), seen.weight[block]
        looks.append(_look_at(truth, weight, drawn[:, block], own, places, len(raters)))
    labels, answered, disputed, vote = (
        np.sum([getattr(look, name) for look in looks], axis=0)
        for name in ("labels", "answered", "disputed", "vote")
    )
    n_disputed = sum(look.n_disputed for look in looks)
    is_compared = len(drawn) > 1 or heads is not None
    n_items = float(seen.weight.sum())
    return _Look(labels, answered, disputed, vote, n_disputed, n_items, is_compared)


def _look_at(
    truth: Counts,
    weight: Counts,
    drawn: NDArray[np.int16],
    heads: NDArray[np.int16] | None,
    places: Sequence[int],
    n_raters: int,
) -> _Look:
    """Count pixels: truth (n_classes, pixels), labels (n_labels, pixels) of raters at places."""
    n_classes = len(truth)
    answer = np.eye(n_classes)[truth.argmax(0)].T * weight
    truth = truth * weight
    labels = np.zeros((n_raters, n_classes, n_classes))
    answered = np.zeros((n_classes, n_classes))
    for place, own in zip(places, drawn, strict=True):
        labels[place] = _pairs(truth, own, n_classes)
        answered += _pairs(answer, own, n_classes)
    votes = np.stack([(drawn == k).sum(0) for k in range(n_classes)])
    vote = _pairs(answer, np.where(votes.any(0), votes.argmax(0), MISSING), n_classes).T
    everyone = drawn if heads is None else heads
    disputed = _is_disputed(everyone)
    among = sum(
        (_pairs(truth[:, disputed], own[disputed], n_classes) for own in everyone),
        np.zeros((n_classes, n_classes)),
    )
    n_disputed = float(weight[disputed].sum())
    return _Look(labels, answered, among, vote, n_disputed, float(weight.sum()))


def _patterns(seen: Seen, raters: tuple[str, ...]) -> Patterns:
    """Find the labels that occur together in a case, the network's last."""
    answer = seen.probability.argmax(0).astype(np.int16)
    absent = np.broadcast_to(np.int16(MISSING), answer.shape)
    found = encode_patterns([*(seen.labels.get(rater, absent) for rater in raters), answer])
    counts = np.bincount(found.index, seen.weight, len(found.rows))
    return found.rows, counts.astype(float)


def _pairs(truth: Counts, drawn: NDArray[np.integer], n_classes: int) -> Counts:
    """Count pixels (true, observed) from their numbers (true, pixels) and labels (pixels)."""
    given = drawn != MISSING
    return np.asarray(truth[:, given] @ np.eye(n_classes)[drawn[given]])


def _is_disputed(drawn: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Whether two raters who labelled a pixel disagree on it."""
    highest = drawn.max(0)
    lowest = np.where(drawn == MISSING, np.iinfo(drawn.dtype).max, drawn).min(0)
    return np.asarray((highest != MISSING) & (lowest < highest))
