"""How good a network is, without a truth: beside the raters, on cases it was not trained on.

Raters agree with one another to some degree. A network that agrees with them as far as they do is
*level with a rater*; nothing more can be seen in their labels. Below that the finding says by how
much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.io.results.statements import read_trust
from multirater.metrics import case_interval, pairwise_scores
from multirater.trust import Finding, Level, Trust, gravest_first
from multirater.types import MISSING
from multirater.words import percent

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


_LEVEL = 0.02
"""Distance to the raters up to which a network is called level with one."""

_FAR = 0.1
"""Distance from which on it is a problem."""

_FEWEST = 3
"""Held-out cases below which the comparison says little."""

_OVERFITTED = 0.05
"""Loss from trained to held-out cases from which on over-fitting is said."""


@dataclass(frozen=True, eq=False)
class Compared:
    """The network beside the raters of each case.

    Attributes:
        network: (n_cases,), its mean agreement with the raters of the case.
        raters: (n_cases,), mean agreement of every two of them; NaN with fewer than two.
        held_out: (n_cases,), whether the case was not trained on.
        of_classes: agreement is the share of answers alike; else Dice.
    """

    network: Array
    raters: Array
    held_out: NDArray[np.bool_]
    of_classes: bool = False

    @property
    def measure(self) -> str:
        """What agreement is."""
        return "agreement" if self.of_classes else "Dice"


def compare_drawings(
    cases: Sequence[tuple[Rows, NDArray[Any]]], held_out: Sequence[bool]
) -> Compared:
    """Compare drawings.

    Args:
        cases: of each the label patterns (n_rows, n_raters + 1), the network's label last, and how
            many pixels carry each.
        held_out: by case.
    """
    network, raters = np.full((2, len(cases)), np.nan)
    for number, (rows, counts) in enumerate(cases):
        present = (rows != MISSING).any(0)
        scores = pairwise_scores(rows[:, present].T, weights=counts)
        network[number] = _mean(scores[-1, :-1])
        among = scores[:-1, :-1]
        raters[number] = _mean(among[np.triu_indices(len(among), k=1)])
    return Compared(network, raters, np.asarray(held_out, dtype=bool))


def compare_answers(
    labels: Rows, answer: NDArray[np.integer], held_out: Sequence[bool]
) -> Compared:
    """Compare class labels.

    Args:
        labels: (n_cases, n_raters), -1 where missing.
        answer: of the network, (n_cases,).
        held_out: by case.
    """
    given = labels != MISSING
    n_given = given.sum(1)
    alike = (labels == answer[:, None]) & given
    classes = np.arange(int(max(labels.max(initial=0), answer.max(initial=0))) + 1)
    votes = (labels[:, :, None] == classes).sum(1)
    pairs = n_given * (n_given - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        network = np.where(n_given > 0, alike.sum(1) / np.maximum(n_given, 1), np.nan)
        raters = np.where(pairs > 0, (votes * (votes - 1)).sum(1) / np.maximum(pairs, 1), np.nan)
    return Compared(network, raters, np.asarray(held_out, dtype=bool), of_classes=True)


def beside_raters(compared: Compared, *, seed: int = 0) -> Finding:
    """Say how far the network agrees with raters whose labels it has not seen.

    Args:
        compared: network and raters.
        seed: of the draws behind the interval.
    """
    said = compared.measure
    chosen = compared.held_out if compared.held_out.any() else np.ones_like(compared.held_out)
    where = "held-out cases" if compared.held_out.any() else "the cases it was trained on"
    network = compared.network[chosen]
    both = chosen & ~np.isnan(compared.network) & ~np.isnan(compared.raters)
    value = _mean(network)
    numbers = {"network": value, "cases": float(chosen.sum())}
    begin = f"On {where} ({int(chosen.sum())}) the network has {said} {value:.2f} with a rater"
    if not both.any():
        text = f"{begin}; no case has labels of two raters to hold that against."
        return Finding("caution", text, "network", numbers)
    gap = compared.network[both] - compared.raters[both]
    found = case_interval(float, gap.tolist(), n_resamples=500, seed=seed)
    among = _mean(compared.raters[both])
    numbers |= {"raters": among, "gap": found.value, "low": found.low, "high": found.high}
    text = f"{begin}, raters have {among:.2f} with one another"
    level = _level(found.value, found.high, int(both.sum()), held_out=bool(compared.held_out.any()))
    if level == "good":
        return Finding(level, f"{text}: level with a rater.", "network", numbers)
    few = int(both.sum()) < _FEWEST or not compared.held_out.any()
    doubt = " These are too few unseen cases to be sure." if few else ""
    below = f"{max(-found.value, 0.0):.2f} below a rater" if found.value < -_LEVEL else "level"
    return Finding(level, f"{text}: {below}.{doubt}", "network", numbers)


def of_folds(folders: Sequence[Path]) -> list[Finding]:
    """Say the same of folds, each of which was held beside the raters of the cases it left out.

    Args:
        folders: of the folds, each with its trust statement.
    """
    numbers = []
    for folder in folders:
        trust = read_trust(folder) or Trust("")
        numbers += [each.numbers for each in trust.findings if each.code == "network"]
    known = [each for each in numbers if "gap" in each]
    if not known:
        return []
    weight = [each["cases"] for each in known]
    mean = {
        name: float(np.average([each[name] for each in known], weights=weight))
        for name in ("network", "raters", "gap")
    }
    level = _level(mean["gap"], -1.0, int(sum(weight)), held_out=True)
    far = "level with a rater" if level == "good" else f"{-mean['gap']:.2f} below a rater"
    text = (
        f"Folds, on the cases each held out ({int(sum(weight))}), have {mean['network']:.2f} with "
        f"a rater, raters have {mean['raters']:.2f} with one another: {far}."
    )
    return [Finding(level, text, "network", {**mean, "cases": float(sum(weight))})]


def over_fitting(compared: Compared) -> list[Finding]:
    """Say how much is lost from the cases trained on to those held out."""
    seen, unseen = (
        _mean(compared.network[part]) for part in (~compared.held_out, compared.held_out)
    )
    if np.isnan(seen) or np.isnan(unseen):
        return []
    numbers = {"trained": seen, "held_out": unseen}
    said = (
        f"{compared.measure} with raters is {seen:.2f} on the cases trained on and {unseen:.2f} on "
        "those held out"
    )
    if seen - unseen < _OVERFITTED:
        return [Finding("good", f"{said}: no sign of over-fitting.", "over-fitting", numbers)]
    text = f"{said}: it has learned these cases by heart in part. More cases help."
    return [Finding("caution", text, "over-fitting", numbers)]


def kept_epoch(curves: pd.DataFrame) -> list[Finding]:
    """Say which epoch was kept, and whether training ended too early.

    Args:
        curves: of the run, one row per epoch, with `val_nll` where cases were held out.
    """
    if "val_nll" not in curves or curves["val_nll"].isna().all():
        return []
    best = int(np.nanargmin(curves["val_nll"].to_numpy(dtype=float)))
    n_epochs, row = len(curves), curves.iloc[best]
    numbers = {
        "epoch": float(best + 1),
        "epochs": float(n_epochs),
        "train_nll": float(row["train_nll"]),
        "val_nll": float(row["val_nll"]),
    }
    text = (
        f"Held-out labels were likeliest after epoch {best + 1} of {n_epochs} "
        f"({row['val_nll']:.3f} nats per label; {row['train_nll']:.3f} in training)"
    )
    return [Finding("good", f"{text}.", "epoch", numbers)]


def sides_of_two(
    cases: Sequence[tuple[Rows, NDArray[Any]]], raters: Sequence[str]
) -> list[Finding]:
    """Say with whom of two raters the network sides where they differ.

    Args:
        cases: as in `compare_drawings`.
        raters: names; nothing is said of more than two.
    """
    if len(raters) != 2:
        return []
    sides = np.zeros(2)
    for rows, counts in cases:
        differ = (rows[:, 0] != rows[:, 1]) & (rows[:, :2] != MISSING).all(1)
        sides += [counts[differ & (rows[:, r] == rows[:, 2])].sum() for r in (0, 1)]
    if not sides.sum():
        return []
    first = int(sides.argmax())
    share = float(sides[first] / sides.sum())
    text = (
        f"Where the two raters differ, the network sides with {raters[first]} on "
        f"{percent(share)} of the pixels; their labels cannot tell who is right."
    )
    return [Finding("good", text, "sides", {"share": share}, raters=(raters[first],))]


def with_quality_of_network(trust: Trust, findings: Sequence[Finding]) -> Trust:
    """Put how good a network is into a trust statement, and into the sentence it begins with."""
    ranked = gravest_first([*findings, *trust.findings])
    return replace(trust, summary=_summary(ranked), findings=ranked)


def _summary(findings: Sequence[Finding]) -> str:
    """Say in one sentence whether to rely on the network, and how good it is."""
    said = {
        "problem": "Do not rely on this network before the problems below are looked into",
        "caution": "Usable with care",
        "good": "Nothing was found that speaks against this network",
    }[findings[0].level]
    numbers = next((each.numbers for each in findings if each.code == "network"), {})
    if "gap" not in numbers:
        return f"{said}: read the cautions." if findings[0].level == "caution" else f"{said}."
    gap = numbers["gap"]
    good = "as close to a rater as raters are to one another"
    if gap < -_LEVEL:
        good = f"{-gap:.2f} less close to a rater than raters are to one another"
    return f"{said}; it is {good} ({numbers['network']:.2f} against {numbers['raters']:.2f})."


def _level(gap: float, high: float, n_cases: int, *, held_out: bool) -> Level:
    if n_cases < _FEWEST or not held_out:
        return "problem" if gap < -_FAR and held_out else "caution"
    if gap >= -_LEVEL or high >= 0:
        return "good"
    return "caution" if gap >= -_FAR else "problem"


def _mean(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
