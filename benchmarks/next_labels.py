"""Who should label what next: how many labels it takes, against random choice and ActiveLab.

    python benchmarks/next_labels.py --data ../../shared/data/crowd     about 15 minutes of one core
    python benchmarks/next_labels.py --data ... --quick                 three regimes, one seed

Studies are replayed: everything that raters would say is there, and a strategy is shown what it
asks for. It starts with one label of every second case. Random choice spends a budget of two labels
per case; how many labels does another strategy need to be as good? Class labels are the regimes of
`class_arena_regimes.py` (labels alone) and real crowds (`--data`); they are fused by the model that
`next_labels` believes in, for all strategies alike. Drawings are the regimes of `arena_regimes.py`,
fused by the weighted vote; Dice of a case nobody labelled is 0.

    random      any label that is not there yet
    even        any label of a case that has fewest
    ActiveLab   cases by cleanlab, raters at random. Its classifier is the 15 nearest neighbours,
                out of sample; for crowds, which have no images, the belief of the labels themselves
    multirater  `multirater.next_labels`

Raters come in random order. Constants were chosen on seeds 0 to 2 of the same regimes (and the
budget of crowds on seed 0 of bluebird); seeds 10 to 14 are reported. All seeds of a crowd are the
same answers, asked for in another order. Results go to benchmarks/results/next_labels.jsonl, tables
to next_labels.md.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import arena_regimes
import class_arena_regimes
from crowds import read_crowd
from grid import Job, grid_arguments, run_and_report
from multirater.acquisition.belief import Belief
from multirater.acquisition.choice import choose_labels
from multirater.acquisition.class_belief import belief_of_classes
from multirater.acquisition.drawing_belief import DrawnCase, belief_of_drawings
from multirater.fuse.answers import answers_from_rows
from multirater.fuse.weighted_vote import vote_weights
from multirater.patterns import encode_patterns
from multirater.types import MISSING
from next_labels_report import write_report

Given: TypeAlias = NDArray[np.bool_]
Pairs: TypeAlias = list[tuple[int, int]]
"""Positions of cases and raters."""

DATA = "MULTIRATER_CROWDS"
SEEDS = range(10, 15)
N_CLASSES, N_CROWD, N_DRAWINGS = 600, 1500, 80
"""Cases of a study."""

PER_CASE, CROWD_PER_CASE, ROUNDS, FURTHER = 2.0, 5.0, 10, 1.3
"""Labels per case of the budget (at most 0.7 of those that exist), parts in which it is spent, and
how far others may go."""


@dataclass(frozen=True, eq=False)
class Replay:
    """A study of which everything is known.

    Attributes:
        there: (n_cases, n_raters), labels that exist.
        believe: what is known when some labels are given.
        score: how right the fused labels are then.
        labels: (n_cases, n_raters) of class labels, -1 where there is none; None of drawings.
        features: of the cases, for a classifier; None without.
        per_case: labels per case of the budget.
    """

    there: Given
    believe: Callable[[Given], Belief]
    score: Callable[[Given], float]
    labels: NDArray[np.int64] | None = None
    features: NDArray[np.float64] | None = None
    per_case: float = PER_CASE


# --- studies --------------------------------------------------------------------------------------


def class_replay(
    labels: NDArray[np.int64], truth: NDArray[np.int64], n_classes: int, features: Any = None
) -> Replay:
    """Return a replay of class labels (n_cases, n_raters); truth -1 where unknown."""

    def of_labels(given: Given) -> Belief:
        rows = np.where(given, labels, MISSING)
        return belief_of_classes(answers_from_rows(rows, np.ones(len(rows)), n_classes))

    believe = _remembered(of_labels)

    def score(given: Given) -> float:
        found = believe(given).probability.argmax(1)
        return float((found == truth)[truth != MISSING].mean())

    return Replay(labels != MISSING, believe, score, labels, features)


def _remembered(believe: Callable[[Given], Belief]) -> Callable[[Given], Belief]:
    """Keep the last belief: scores and strategies ask for the same."""
    last: list[tuple[bytes, Belief]] = []

    def of_given(given: Given) -> Belief:
        key = given.tobytes()
        if not last or last[0][0] != key:
            last[:] = [(key, believe(given))]
        return last[0][1]

    return of_given


def arena_classes(regime: str, data: str, seed: int) -> Replay:
    """Return a regime of class labels."""
    items = class_arena_regimes.DATA[data](seed)
    labels = class_arena_regimes.all_labels(regime, items, seed)[:N_CLASSES]
    order = np.random.default_rng([seed, 77]).permutation(labels.shape[1])
    x = items.x[:N_CLASSES].reshape(len(labels), -1)
    return class_replay(labels[:, order], items.truth[:N_CLASSES], items.n_classes, x)


def crowd(folder: Path, seed: int) -> Replay:
    """Return some questions of a real crowd, with the answers that were given."""
    answers, truth = read_crowd(folder)
    random = np.random.default_rng([seed, 77])
    tasks = random.permutation(np.array(truth.index))[:N_CROWD]
    answers = answers[answers["task"].isin(tasks)]
    raters = random.permutation(answers["worker"].unique())
    classes = sorted(set(answers["label"]))
    labels = np.full((len(tasks), len(raters)), MISSING, dtype=np.int64)
    place = {task: number for number, task in enumerate(tasks)}
    who = {rater: number for number, rater in enumerate(raters)}
    for task, rater, label in answers.itertuples(index=False):
        labels[place[task], who[rater]] = classes.index(label)
    true = np.array([classes.index(truth[task]) for task in tasks])
    study = class_replay(labels, true, len(classes))
    return replace(study, per_case=CROWD_PER_CASE)


def arena_drawings(regime: str, seed: int) -> Replay:
    """Return a regime of drawings; every rater draws every case."""
    described = arena_regimes.REGIMES[regime]
    images, truth = described.images(seed, N_DRAWINGS, 0)
    raters = list(described.raters(seed))
    raters = [raters[k] for k in np.random.default_rng([seed, 77]).permutation(len(raters))]
    seeds = np.random.SeedSequence([seed, 9]).generate_state(len(images) * len(raters)) // 4
    drawn = [
        [
            draw(truth[case], int(seeds[case * len(raters) + number]), truth).ravel()
            for number, draw in enumerate(raters)
        ]
        for case in range(len(images))
    ]
    labels, n_classes = np.array(drawn, dtype=np.int16), described.n_classes
    flat = truth.reshape(len(truth), -1)

    believe = _remembered(
        lambda given: belief_of_drawings(patterns_of(labels, given), len(raters), n_classes)
    )

    def score(given: Given) -> float:
        return fused_dice(labels, given, flat, n_classes)

    return Replay(np.ones(labels.shape[:2], dtype=bool), believe, score)


def patterns_of(labels: NDArray[np.int16], given: Given) -> list[DrawnCase]:
    """Return the cases as far as they are labelled."""
    empty = DrawnCase(np.empty((0, labels.shape[1]), dtype=np.int64), np.empty(0))
    absent = np.full(labels.shape[2], MISSING, dtype=np.int16)
    found = []
    for drawn, who in zip(labels, given, strict=True):
        if not who.any():
            found.append(empty)
            continue
        patterns = encode_patterns([d if w else absent for d, w in zip(drawn, who, strict=True)])
        found.append(DrawnCase(patterns.rows, patterns.counts))
    return found


def fused_dice(
    labels: NDArray[np.int16], given: Given, truth: NDArray[Any], n_classes: int
) -> float:
    """Return the mean Dice of the weighted vote, over cases and the classes they hold."""
    labelled = [case for case in patterns_of(labels, given) if len(case.rows)]
    rows = np.concatenate([case.rows for case in labelled])
    counts = np.concatenate([case.counts for case in labelled])
    weight = vote_weights(answers_from_rows(rows, counts, n_classes))
    classes = np.arange(n_classes)
    scores = []
    for drawn, who, true in zip(labels, given, truth, strict=True):
        votes = sum(
            (weight[r] * (drawn[r][:, None] == classes) for r in np.flatnonzero(who)),
            np.zeros((len(true), n_classes)),
        )
        label = np.asarray(votes).round(12).argmax(1) if who.any() else np.zeros(len(true))
        present = [k for k in classes[1:] if (true == k).any()]
        both = [2 * ((label == k) & (true == k)).sum() for k in present]
        each = [(label == k).sum() + (true == k).sum() for k in present]
        scores.append(np.mean(np.array(both) / np.array(each)))
    return float(np.mean(scores))


# --- strategies -----------------------------------------------------------------------------------


def random_choice(study: Replay, given: Given, n: int, random: np.random.Generator) -> Pairs:
    """Choose any labels."""
    pairs = np.argwhere(study.there & ~given)
    return [(int(c), int(r)) for c, r in pairs[random.permutation(len(pairs))[:n]]]


def even_choice(study: Replay, given: Given, n: int, random: np.random.Generator) -> Pairs:
    """Choose labels of the cases that have fewest."""
    return _in_order(study, given, n, random, given.sum(1) + random.random(len(given)))


def active_lab(study: Replay, given: Given, n: int, random: np.random.Generator) -> Pairs:
    """Choose cases by cleanlab's ActiveLab, and any rater for each."""
    from cleanlab.multiannotator import get_active_learning_scores

    assert study.labels is not None
    belief = study.believe(given).probability
    chances = belief if study.features is None else _neighbours(study.features, belief, given)
    known = given.any(1)
    wide = np.where(given, study.labels, np.nan).astype(float)[known]
    wide = wide[:, ~np.isnan(wide).all(0)]
    scores = np.empty(len(given))
    with redirect_stdout(io.StringIO()):
        found = get_active_learning_scores(wide, chances[known], chances[~known])
    scores[known], scores[~known] = found
    return _in_order(study, given, n, random, scores)


def ours(study: Replay, given: Given, n: int, _: np.random.Generator) -> Pairs:
    """Choose as `multirater.next_labels` does."""
    picks = choose_labels(study.believe(given), n, may_ask=study.there)
    return [(pick.case, pick.rater) for pick in picks]


Strategy: TypeAlias = Callable[[Replay, Given, int, np.random.Generator], Pairs]
STRATEGIES: dict[str, Strategy] = {
    "random": random_choice,
    "even": even_choice,
    "ActiveLab": active_lab,
    "multirater": ours,
}


def _in_order(
    study: Replay, given: Given, n: int, random: np.random.Generator, score: NDArray[np.float64]
) -> Pairs:
    """Take the cases of lowest score, one label each, then again from the first."""
    left, pairs = study.there & ~given, []
    while len(pairs) < n and left.any():
        for case in np.argsort(score, kind="stable"):
            if len(pairs) < n and left[case].any():
                rater = int(random.choice(np.flatnonzero(left[case])))
                pairs.append((int(case), rater))
                left[case, rater] = False
    return pairs


def _neighbours(
    features: NDArray[np.float64], belief: NDArray[np.float64], given: Given
) -> NDArray[np.float64]:
    """Return class shares among the 15 nearest other cases that have labels."""
    from sklearn.neighbors import NearestNeighbors

    known = np.flatnonzero(given.any(1))
    near = NearestNeighbors(n_neighbors=16).fit(features[known]).kneighbors(features)[1]
    votes = np.eye(belief.shape[1])[belief[known].argmax(1)]
    found = np.empty(belief.shape)
    for case, places in enumerate(near):
        others = places[known[places] != case][:15]
        found[case] = votes[others].sum(0) + 0.5
    return np.asarray(found / found.sum(1, keepdims=True))


# --- replays --------------------------------------------------------------------------------------


def work(job: Job) -> dict[str, Any]:
    """Replay a study by every strategy; return their curves."""
    warnings.simplefilter("ignore")
    study = study_of(job)
    names = [name for name in STRATEGIES if study.labels is not None or name != "ActiveLab"]
    found: dict[str, Any] = {}
    target = np.inf
    for name in names:
        curve = replay(study, STRATEGIES[name], int(job["seed"]), target)
        found[name] = curve
        if name == "random":
            target = curve[-1][1]
    return found


def study_of(job: Job) -> Replay:
    """Build the study of a job."""
    if job["kind"] == "crowd":
        return crowd(Path(os.environ[DATA]) / job["regime"], job["seed"])
    if job["kind"] == "drawings":
        return arena_drawings(job["regime"], job["seed"])
    return arena_classes(job["regime"], job["kind"], job["seed"])


def replay(
    study: Replay, strategy: Strategy, seed: int, target: float
) -> list[tuple[int, float, float]]:
    """Spend the budget, further while a target is not reached: labels, score, uncertainty."""
    random = np.random.default_rng([seed, 99])
    n_cases = len(study.there)
    first = random.permutation(n_cases)[: n_cases // 2]
    given = np.zeros(study.there.shape, dtype=bool)
    given[first, (random.random(study.there.shape) * study.there).argmax(1)[first]] = True
    budget = int(min(study.per_case * n_cases, 0.7 * study.there.sum()))
    step = -(-(budget - len(first)) // ROUNDS)
    curve = [_point(study, given)]
    while given.sum() < budget or (
        target < np.inf and max(p[1] for p in curve) < target and given.sum() < FURTHER * budget
    ):
        n = step if given.sum() >= budget else min(step, budget - int(given.sum()))
        pairs = strategy(study, given, n, random)
        if not pairs:
            break
        given[tuple(np.array(pairs).T)] = True
        curve.append(_point(study, given))
    return curve


def _point(study: Replay, given: Given) -> tuple[int, float, float]:
    unsure = float(study.believe(given).uncertainty().mean())
    return int(given.sum()), round(study.score(given), 5), round(unsure, 5)


def jobs_of(data: Path | None, *, quick: bool) -> list[Job]:
    """List every study and seed."""
    studies = [
        (kind, name) for name, regime in class_arena_regimes.REGIMES.items() for kind in regime.data
    ]
    studies += [("drawings", name) for name in arena_regimes.REGIMES]
    if data is not None:
        studies += [("crowd", each.name) for each in sorted(data.iterdir()) if each.is_dir()]
    if quick:
        studies = [("vectors", "one expert"), ("drawings", "five"), ("drawings", "clean")]
    seeds = list(SEEDS)[:1] if quick else SEEDS
    return [{"kind": k, "regime": r, "seed": s} for s in seeds for k, r in studies]


def main() -> None:
    """Replay all studies and write the tables."""
    arguments = grid_arguments(__doc__.splitlines()[0], "next_labels")
    if arguments.data is not None:
        os.environ[DATA] = str(arguments.data.resolve())
    run_and_report(work, jobs_of(arguments.data, quick=arguments.quick), arguments, write_report)


if __name__ == "__main__":
    main()
