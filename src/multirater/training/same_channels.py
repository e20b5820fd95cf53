"""Images of a study have to have the same channels: a network takes a fixed number of them."""

from __future__ import annotations

from collections.abc import Iterable

from multirater.errors import Fault, InputError
from multirater.io.survey import CaseSurvey
from multirater.words import counted


def require_same_channels(cases: Iterable[CaseSurvey]) -> None:
    """Refuse images with different numbers of channels, and name a case of each number.

    Raises:
        InputError: they differ.
    """
    first: dict[int, str] = {}
    for case in cases:
        first.setdefault(case.n_channels, case.name)
    if len(first) < 2:
        return
    said = [f"{counted(n, 'channel')} (case {name})" for n, name in sorted(first.items())]
    raise InputError(
        Fault(
            f"images with {' and '.join(said)}",
            expected="the same channels in all cases",
            fix="export all images alike (all grey or all in colour, all opaque, all modalities), "
            "or make a study of each kind",
        )
    )
