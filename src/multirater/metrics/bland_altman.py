"""How far two ways of measuring a size agree: bias and limits of agreement."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

_Z = 1.959963984540054
"""Limits hold 95 % of the differences, whatever the level of the intervals."""


@dataclass(frozen=True)
class BlandAltman:
    """Bias and limits of agreement, each with an interval; in the unit of what was measured.

    Attributes:
        n: pairs behind it.
        bias: mean of one minus other.
        bias_low: lower end of its interval.
        bias_high: upper end.
        sd: standard deviation of the differences.
        lower: lower limit of agreement: 2.5 % of the differences lie below.
        lower_low: lower end of its interval.
        lower_high: upper end.
        upper: upper limit of agreement.
        upper_low: lower end of its interval.
        upper_high: upper end.
    """

    n: int
    bias: float
    bias_low: float = math.nan
    bias_high: float = math.nan
    sd: float = math.nan
    lower: float = math.nan
    lower_low: float = math.nan
    lower_high: float = math.nan
    upper: float = math.nan
    upper_low: float = math.nan
    upper_high: float = math.nan


def bland_altman(one: ArrayLike, other: ArrayLike, *, level: float = 0.95) -> BlandAltman:
    """Compare two measurements of the same things (Bland and Altman 1986, 1999).

    Differences are taken as normal and independent: limits are the mean plus and minus 1.96
    standard deviations; the variance of a limit is (1/n + 1.96² / (2(n - 1))) times that of the
    differences, and ends come from Student's t with n - 1 degrees of freedom.

    Args:
        one: measurements; NaN where unknown.
        other: of the same things, in the same order and unit.
        level: of the intervals.

    Returns:
        Numbers that are not known are NaN: all but `n` without a pair, and all but the bias with
        a single one.

    Example:
        >>> found = bland_altman([5.0, 7.0, 9.0, 8.0], [4.0, 7.0, 7.0, 7.0])
        >>> found.bias, round(found.lower, 2), round(found.upper, 2)
        (1.0, -0.6, 2.6)
    """
    from scipy.special import stdtrit  # scipy.stats takes a second to import

    differences = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    known = differences[~np.isnan(differences)]
    n = len(known)
    if n < 2:
        return BlandAltman(n, float(known[0]) if n else math.nan)
    bias, sd = float(known.mean()), float(known.std(ddof=1))
    t = float(stdtrit(n - 1, (1 + level) / 2))
    of_bias = t * sd / math.sqrt(n)
    of_limit = t * sd * math.sqrt(1 / n + _Z**2 / (2 * (n - 1)))
    lower, upper = bias - _Z * sd, bias + _Z * sd
    return BlandAltman(
        n,
        bias,
        bias - of_bias,
        bias + of_bias,
        sd,
        lower,
        lower - of_limit,
        lower + of_limit,
        upper,
        upper - of_limit,
        upper + of_limit,
    )
