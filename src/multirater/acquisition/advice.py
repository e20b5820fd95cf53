"""When to stop, and whether raters or images are worth more, in sentences with numbers."""

from __future__ import annotations

from multirater.acquisition.belief import Array
from multirater.acquisition.forecast import STEPS, Outlook
from multirater.words import counted, percent

_HARDLY = 0.02
"""Share of the uncertainty below which more labels are not worth asking for."""

SETTLED = 0.02
"""Uncertainty below which a case needs no more labels."""

_MOSTLY = 0.5
"""Share of the uncertainty that the raters at hand have to be able to remove."""


def advice_words(
    ahead: Outlook, curve: Array, n_settled: int, n_cases: int, is_masks: bool
) -> tuple[str, ...]:
    """Say what to do next.

    Args:
        ahead: what is foreseen.
        curve: expected uncertainty after none, one, two, ... labels.
        n_settled: cases that need no more labels.
        n_cases: all cases.
        is_masks: labels are drawings.
    """
    what = "1 - Dice" if is_masks else "chance to be wrong"
    return (
        f"Uncertainty of a case ({what}): {ahead.now:.3f} on average; "
        f"{n_settled} of {counted(n_cases, 'case')} settled, which need no more labels.",
        _gains(ahead, curve),
        _raters_or_images(ahead, n_cases),
    )


def _gains(ahead: Outlook, curve: Array) -> str:
    steps = [step for step in STEPS if step < len(curve)] or [len(curve) - 1]
    if len(curve) < 2 or ahead.now <= 0:
        return "No further label of these raters is expected to lower it: stop."
    falls = [f"{step} to {curve[step]:.3f}" for step in steps]
    said = f"The next labels are expected to lower it: {', '.join(falls)}."
    last = (curve[0] - curve[steps[-1]]) / ahead.now
    if last < _HARDLY:
        return f"{said} That is {percent(last)} of it: stop."
    return said


def _raters_or_images(ahead: Outlook, n_cases: int) -> str:
    if ahead.now <= 0:
        return "More images: nothing is left to learn of these."
    gained = 1 - ahead.everybody / ahead.now
    said = (
        f"If all raters labelled every case ({counted(ahead.open_labels, 'label')}): "
        f"{ahead.everybody:.3f}; one more rater like these on every case "
        f"({counted(n_cases, 'label')}): {ahead.one_more_rater:.3f}; a new image with one label of "
        f"the best rater: {ahead.new_case:.3f}."
    )
    if ahead.now < SETTLED:
        return f"{said} More images: these are settled."
    if gained < _MOSTLY and ahead.one_more_rater < ahead.now * (1 - _HARDLY):
        return f"{said} More raters: those at hand can remove {percent(max(gained, 0))} of it."
    if ahead.new_case <= ahead.now:
        return f"{said} More images: one label makes a new one as sure as these are."
    return f"{said} More labels of the raters at hand: they can remove {percent(gained)} of it."
