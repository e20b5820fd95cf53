"""Raters on a terminal: best first, ranks and intervals said alike by every verb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

QUALITY = (
    "quality: agreement with the consensus of the other raters (Dice of drawings, share of answers "
    "alike\nof class labels), whatever the method. rank: raters of one rank are level, none is "
    "clearly better than\nanother."
)
"""What the words mean."""


def rater_rows(raters: pd.DataFrame) -> pd.DataFrame:
    """Lay a table of raters out for people: value and interval in one cell, best raters first.

    Matrices and skill stay in the file.

    Args:
        raters: as in `raters.csv`, or as `info` has them; those without quality keep their order.
    """
    ordered = raters
    shown: dict[str, Any] = {}
    if "quality" in raters:
        ordered = raters.sort_values("quality", ascending=False, kind="stable", na_position="last")
        level = ordered["rank"].duplicated(keep=False)
        shown["rank"] = [_rank(*each) for each in zip(ordered["rank"], level, strict=True)]
    for name in ordered.columns:
        if name in ("rank", "skill") or name.startswith("cm[") or _is_end(name, ordered):
            continue
        if f"{name}_low" in ordered.columns:
            ends = zip(ordered[name], ordered[f"{name}_low"], ordered[f"{name}_high"], strict=True)
            shown[name] = [_figure(*each) for each in ends]
        else:
            shown[name] = ordered[name]
    return type(raters)(shown, index=ordered.index)


def _is_end(name: str, raters: pd.DataFrame) -> bool:
    return name.endswith(("_low", "_high")) and name.rsplit("_", 1)[0] in raters.columns


def _rank(rank: Any, is_level: bool) -> str:
    if type(rank).__name__ == "NAType":  # pandas' own, which need not be imported for that
        return "-"
    return f"{rank} (level)" if is_level else str(rank)


def _figure(value: float, low: float, high: float) -> str:
    """Say a number with its interval; one case, or one rater, has none."""
    if value != value:
        return "-"
    return f"{value:.3f}" if low != low else f"{value:.3f} [{low:.3f}, {high:.3f}]"
