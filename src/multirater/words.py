"""Numbers as people say them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNKNOWN = "\u2013"
"""Stands where a number is not known."""

_NEGLIGIBLE = 0.1
"""Offsets below this, in pixels or millimetres, are not worth a word."""


def counted(n: int, thing: str, things: str = "") -> str:
    """Say how many.

    Example:
        >>> counted(1, "case"), counted(1200, "case"), counted(2, "class", "classes")
        ('1 case', '1,200 cases', '2 classes')
    """
    word = thing if n == 1 else things or f"{thing}s"
    return f"{n:,} {word}"


def percent(share: float) -> str:
    """Say a share; small ones keep a digit, and what is not everything is not called 100%.

    Example:
        >>> percent(0.431), percent(0.004), percent(0.9996), percent(float("nan"))
        ('43%', '0.4%', '99.9%', '–')
    """
    if math.isnan(share):
        return UNKNOWN
    value = 100 * share
    if 0 < value < 1 or 99 < value < 100:
        return f"{min(max(value, 0.1), 99.9):.1f}%"
    return f"{value:.0f}%"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Say some names, and how many more there are.

    Example:
        >>> listed(["anna", "bert"]), listed(list("abcdef"), most=2)
        ('anna and bert', 'a, b and 4 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Say which known name is close to one that is not known; nothing where none is.

    Example:
        >>> did_you_mean("stapel", ["mean", "staple"]), did_you_mean("magic", ["mean", "staple"])
        ('; did you mean staple?', '')
    """
    close = get_close_matches(name.lower(), list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def offset_words(
    offset: float, low: float, high: float, unit: str, missed: int, judged: int
) -> str:
    """Say whether a rater draws too large or too small.

    Args:
        offset: mean distance outside the reference; negative inside.
        low: end of its interval, NaN when unknown.
        high: other end.
        unit: of the three.
        missed: cases of which nothing was drawn though there was something.
        judged: cases compared.

    Example:
        >>> offset_words(1.23, 1.1, 1.4, "px", 0, 40)
        'over-draws by 1.2 px'
        >>> offset_words(0.2, -0.3, 0.6, "mm", 3, 40)
        'neither over nor under; nothing drawn in 3 of 40 cases'
    """
    nothing = f"nothing drawn in {missed} of {counted(judged, 'case')}" if missed else ""
    if math.isnan(offset):
        return nothing or UNKNOWN
    sure = math.isnan(low) or low > 0 or high < 0
    if not sure or abs(offset) < _NEGLIGIBLE:
        said = "neither over nor under"
    else:
        said = f"{'over' if offset > 0 else 'under'}-draws by {abs(offset):.1f} {unit}"
    return f"{said}; {nothing}" if nothing else said


def confusion_words(counts: NDArray[Any], classes: Sequence[str], *, is_mask: bool) -> str:
    """Say the most frequent confusion of a rater.

    Args:
        counts: (true, observed).
        classes: names.
        is_mask: whether class 0 is the background of drawings.

    Example:
        >>> confusion_words(np.array([[90, 1], [4, 5]]), ["background", "lesion"], is_mask=True)
        'misses lesion: 44% of it'
        >>> confusion_words(np.array([[8, 2], [0, 9]]), ["cat", "dog"], is_mask=False)
        'takes cat for dog: 20% of the time'
    """
    wrong = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    if not counts.any():
        return UNKNOWN
    if not wrong.any():
        return "none"
    true, observed = (int(i) for i in np.unravel_index(np.argmax(wrong), wrong.shape))
    share = wrong[true, observed] / counts[true].sum()
    if is_mask and true == 0:
        drawn = wrong[true, observed] / counts[:, observed].sum()
        return f"draws {classes[observed]} where there is none: {percent(drawn)} of what they draw"
    if is_mask and observed == 0:
        return f"misses {classes[true]}: {percent(share)} of it"
    verb = "draws" if is_mask else "takes"
    link = "as" if is_mask else "for"
    often = "of it" if is_mask else "of the time"
    return f"{verb} {classes[true]} {link} {classes[observed]}: {percent(share)} {often}"
