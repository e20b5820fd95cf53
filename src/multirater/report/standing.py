"""Where raters stand: by the truth where it came with the data, else by the others' consensus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from multirater.fuse.quality import quality_of_answers, quality_of_cases
from multirater.report.reference import Reference
from multirater.report.tally import CaseTally
from multirater.report.verdicts import OTHERS, TRUTH
from multirater.types import Dataset
from multirater.words import listed

_FEWEST = 3
"""Raters from which on the others show who is better; two are alike by each other."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Who is how good, and by what.

    Attributes:
        table: one row per rater, with the columns of `fuse.quality`; empty where nobody is judged.
        by_truth: whether they are judged by the truth rather than by the others.
        measure: Dice or accuracy.
    """

    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    by_truth: bool = False
    measure: str = "Dice"

    @property
    def judge(self) -> str:
        """What judges them, as the page calls it."""
        return TRUTH if self.by_truth else OTHERS

    @property
    def tells(self) -> bool:
        """Whether it can show who is better."""
        return len(self.table) >= (2 if self.by_truth else _FEWEST)

    def said(self, value: float) -> str:
        """Say how good somebody is.

        Example:
            >>> Standing().said(0.5), Standing(by_truth=True).said(0.5)
            ('quality 0.50', 'Dice 0.50 with the truth')
        """
        if not self.by_truth:
            return f"quality {value:.2f}"
        return f"{self.measure} {value:.2f}{' with the truth' if self.measure == 'Dice' else ''}"

    def best_and_least(self) -> str:
        """Name the best and the last; say so where nobody can be told apart."""
        known = self.table.dropna(subset=["quality"]) if len(self.table) else self.table
        if not self.tells or len(known) < 2:
            return ""
        ordered = known.sort_values("quality", ascending=False, kind="stable")
        level = ordered.index[ordered["rank"] == ordered["rank"].min()].map(str).tolist()
        by = "the truth" if self.by_truth else "the others' consensus"
        if len(level) == len(ordered):
            which = "these labels do" if ordered["quality_low"].notna().any() else "one case does"
            return f". By {by} {which} not tell the raters apart"
        least, first = ordered.iloc[-1], float(ordered["quality"].iloc[0])
        best = f"{first:.2f}" if len(level) == 1 else f"level, up to {first:.2f}"
        top, bottom = ("Of best quality", "of least")
        if self.by_truth:
            top, bottom = ("Closest to the truth", "farthest")
        last = f"{least.name} ({least['quality']:.2f})"
        return f". {top}: {listed(level, most=3)} ({best}); {bottom}: {last}"


def standing_of(
    dataset: Dataset,
    reference: Reference,
    tallies: Sequence[CaseTally],
    quality: pd.DataFrame,
    *,
    seed: int = 0,
) -> Standing:
    """Judge raters by the truth where it is what they are measured against, else by the others.

    Args:
        dataset: of the report.
        reference: what raters are measured against.
        tallies: of the cases, against the reference.
        quality: by the consensus of the others; empty with fewer than two raters.
        seed: of the draws behind intervals.
    """
    measure = "Dice" if dataset.kind == "masks" else "accuracy"
    if reference.kind != "truth" or len(dataset.raters) < 2:
        return Standing(quality, measure=measure)
    if dataset.kind == "masks":
        scores = np.stack([each.score for each in tallies])
        table = quality_of_cases(scores, dataset.raters, seed=seed)
    else:
        counts = np.sum([each.counts for each in tallies], axis=0).astype(float)
        right = np.trace(counts, axis1=1, axis2=2)
        table = quality_of_answers(right, counts.sum((1, 2)), dataset.raters)
    return Standing(table, by_truth=True, measure=measure)
