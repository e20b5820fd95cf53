"""What can be chosen of the method for coarse drawings: the paper's forms beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from multirater.errors import Fault, InputError

LARGEST_ERROR = 0.4
"""Largest share of wrong pixels that a confusion matrix may claim."""


@dataclass(frozen=True)
class CoarseOptions:
    """Options of the method `coarse`.

    As printed (Coarse, eq. 4 to 6): `transition=learned`, `largest_error=1`, `doubt=false`,
    `trusted=0`, `undrawn=background`.

    Attributes:
        transition: from what a pixel is taken for to what it is said not to be: every other class
            as much as any other, or learned for each rater.
        largest_error: that a confusion matrix may claim; 1 leaves matrices free.
        doubt: whether a drawing is doubted only where the network agrees with most of it. Without,
            matrices hold everywhere.
        trusted: share of the epochs that take drawings as they are, before matrices learn.
        undrawn: what pixels are that a drawing leaves out: unlabelled, or, as in the paper's label
            maps, background; then a negative drawing of two classes says of them that they are not
            background, one of more classes nothing.
        drawings: which kinds are looked at.
    """

    transition: Literal["uniform", "learned"] = "uniform"
    largest_error: float = LARGEST_ERROR
    doubt: bool = True
    trusted: float = 0.25
    undrawn: Literal["unlabelled", "background"] = "unlabelled"
    drawings: Literal["both", "positive", "negative"] = "both"

    def __post_init__(self) -> None:
        if not 0 < self.largest_error <= 1:
            raise InputError(
                Fault(
                    f"option largest_error = {self.largest_error}",
                    expected="a share above 0, 1 at most",
                )
            )
        if not 0 <= self.trusted < 1:
            raise InputError(
                Fault(f"option trusted = {self.trusted}", expected="a share from 0 to below 1")
            )
