"""The table of raters: which columns it has, in which order raters stand, and who are level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from multirater.report.contents import Contents
from multirater.report.raters import Figure
from multirater.report.terms import TERMS

_MOST_RECALLS = 6


@dataclass(frozen=True, eq=False)
class Column:
    """Numbers of all raters.

    Attributes:
        title: what the head of the column says.
        term: what it is called among the terms that are explained.
        figures: one per rater, in the order of the data set.
    """

    title: str
    term: str
    figures: list[Figure]

    @property
    def line(self) -> str:
        """What the column means."""
        return TERMS.get(self.term, "")


@dataclass(frozen=True, eq=False)
class RaterTable:
    """The table of raters.

    Attributes:
        columns: those in which anything is known, the one that raters are sorted by first.
        order: positions of the raters, best first.
        ranks: by rater, in words; those of one rank are level. Empty where nothing is known, and
            with one rater.
        has_offsets: whether outlines could be compared.
        has_confusions: whether anybody confused anything that can be said.
    """

    columns: list[Column]
    order: list[int]
    ranks: list[str]
    has_offsets: bool
    has_confusions: bool

    @property
    def terms(self) -> list[str]:
        """Terms that need a line."""
        offsets = ["over or under"] if self.has_offsets else []
        ranks = ["rank"] if self.ranks else []
        return [*ranks, *(column.term for column in self.columns), "interval", *offsets]


def rater_columns(contents: Contents) -> RaterTable:
    """Lay the raters out; columns of which nothing is known are left out."""
    raters = contents.raters
    columns = [column for column in _columns(contents) if _is_known(column.figures)]
    figures = columns[0].figures if columns else [Figure(0.0)] * len(raters)
    values = np.array([each.value for each in figures])
    standing = contents.standing.table
    ranks = standing["rank"] if len(standing) else pd.Series(dtype=object)
    return RaterTable(
        columns,
        np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable").tolist(),
        [_rank_words(rank, int((ranks == rank).sum())) for rank in ranks],
        contents.is_masks and _is_known([each.offset for each in raters]),
        any(each.confusion not in ("", "\u2013") for each in raters),
    )


def _columns(contents: Contents) -> list[Column]:
    raters, names = contents.raters, contents.classes.names
    score = "Dice" if contents.is_masks else "accuracy"
    columns = [Column(score.capitalize(), score, [each.score for each in raters])]
    if len(contents.quality):
        ends = contents.quality[["quality", "quality_low", "quality_high"]].to_numpy(dtype=float)
        quality = Column("Quality", "quality", [Figure(*each) for each in ends.tolist()])
        columns.insert(int(contents.standing.by_truth), quality)
    if contents.is_masks and len(names) == 2:
        columns.append(Column("Sensitivity", "sensitivity", [each.recalls[1] for each in raters]))
        columns.append(Column("Specificity", "specificity", [each.specificity for each in raters]))
    elif len(names) <= _MOST_RECALLS:
        columns += [
            Column(f"Recall of {name}", "recall", [each.recalls[k] for each in raters])
            for k, name in enumerate(names)
        ]
    return columns


def _rank_words(rank: Any, n_of_rank: int) -> str:
    """Say a rank as the terminal does; raters who share it are level."""
    if pd.isna(rank):
        return ""
    return f"{rank} (level)" if n_of_rank > 1 else str(rank)


def _is_known(figures: Sequence[Figure]) -> bool:
    return any(not np.isnan(figure.value) for figure in figures)
