"""Agreement of groups of raters, and sizes of what they draw, as rows of the page."""

from __future__ import annotations

from dataclasses import dataclass

from multirater.dataset_sizes import TRUTH
from multirater.report.raters import Figure
from multirater.verbs.agreement import Agreement

MOST_SIZES = 15
"""Comparisons of sizes that are shown: those that are furthest apart."""


@dataclass(frozen=True)
class GroupRow:
    """Agreement within a group, or between two.

    Attributes:
        who: in words.
        column: of `raters.csv` that makes the groups.
        pairs: of raters.
        measure: what the value is, as the head of its column says.
        value: mean over cases.
        gap: how much more two raters of different groups agree than two of the same; NaN within.
    """

    who: str
    column: str
    pairs: int
    measure: str
    value: Figure
    gap: Figure


@dataclass(frozen=True)
class SizeRow:
    """How much more one draws than another: bias and limits, in a unit of area or volume."""

    who: str
    cases: int
    bias: Figure
    lower: float
    upper: float
    unit: str


def group_rows(agreed: Agreement | None) -> list[GroupRow]:
    """Return agreement within and between groups; nothing without groups."""
    if agreed is None or not len(agreed.groups):
        return []
    measure = next(name for name in ("Dice", "percent agreement") if name in agreed.groups)
    rows = []
    for row in agreed.groups.to_dict("records"):
        one, other = (_named(row["column"], row[name]) for name in ("group a", "group b"))
        rows.append(
            GroupRow(
                f"within {one}" if one == other else f"between {one} and {other}",
                row["column"],
                row["pairs"],
                measure[0].upper() + measure[1:],
                Figure(row[measure], row["low"], row["high"]),
                Figure(row["gap"], row["gap_low"], row["gap_high"]),
            )
        )
    return rows


def _named(column: str, value: str) -> str:
    """Say what a number stands for.

    Example:
        >>> _named("group", "crowd"), _named("years", "2")
        ('crowd', 'years 2')
    """
    return f"{column} {value}" if value.replace(".", "", 1).isdigit() else value


def size_rows(agreed: Agreement | None) -> list[SizeRow]:
    """Return sizes against the truth where it is known, else of every two; most apart first."""
    if agreed is None or not len(agreed.sizes):
        return []
    rows = agreed.sizes[(agreed.sizes["class"] == "all") & (agreed.sizes["cases"] > 1)]
    against_truth = rows[rows["rater b"] == TRUTH]
    shown = against_truth if len(against_truth) else rows
    order = (-shown["bias"].abs()).sort_values(kind="stable").index[:MOST_SIZES]
    return [
        SizeRow(
            f"{row['rater a']} against {'truth' if row['rater b'] == TRUTH else row['rater b']}",
            row["cases"],
            Figure(row["bias"], row["bias_low"], row["bias_high"]),
            row["lower"],
            row["upper"],
            row["unit"],
        )
        for row in shown.loc[order].to_dict("records")
    ]
