"""Why a label is asked for, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from multirater.acquisition.belief import Array, Belief
from multirater.acquisition.choice import Pick
from multirater.words import counted, percent

Reason: TypeAlias = Literal["unlabelled", "disputed", "unsure", "try-out"]


@dataclass(frozen=True)
class Words:
    """The names of a study, for sentences.

    Attributes:
        classes: names.
        is_masks: labels are drawings.
        differ: of each case, whether raters said different things.
    """

    classes: Sequence[str]
    is_masks: bool
    differ: Sequence[bool]


def reason_of(pick: Pick, belief: Belief, words: Words) -> Reason:
    """Say which kind of reason a label has."""
    unseen = not belief.given[pick.case].any()
    if pick.curiosity > pick.gain and not (unseen and pick.nth == 1):
        return "try-out"
    if unseen:
        return "unlabelled"
    return "disputed" if words.differ[pick.case] else "unsure"


def why(pick: Pick, belief: Belief, words: Words, rater: str) -> str:
    """Say why a label is asked for, in a sentence.

    Args:
        pick: the label.
        belief: what is known.
        words: names of the study.
        rater: name of who is asked.
    """
    kind = reason_of(pick, belief, words)
    n_given = int(belief.given[pick.case].sum())
    rows = slice(belief.start[pick.case], belief.start[pick.case + 1])
    weight, beliefs = belief.weight[rows], belief.probability[rows]
    if kind == "try-out":
        known = belief.raters.known[pick.rater]
        begun = f"to learn how good {rater} is ({known:.0f} labels tell so far)"
        return f"{begun}: beside {counted(n_given + pick.nth - 1, 'other label')} of this case"
    if kind == "unlabelled":
        said = "nobody has labelled it"
    else:
        about = _disputed(weight, beliefs, words)
        raters = counted(n_given, "rater")
        said = f"{raters} {'differ on' if kind == 'disputed' else 'cannot settle'} {about}"
    if pick.nth > 1:
        said += f"; label {pick.nth} of this list for it"
    return f"{said}; {_strength(pick, beliefs, belief, words, rater)}"


def _disputed(weight: Array, beliefs: Array, words: Words) -> str:
    if words.is_masks:
        left = weight @ (1 - (beliefs**2).sum(1))
        return f"it (Dice to be expected about {max(0.0, 1 - left):.2f})"
    first, second = np.argsort(-beliefs[0])[:2]
    one, other = words.classes[first], words.classes[second]
    return f"{one} ({percent(float(beliefs[0, first]))}) or {other}"


def _strength(pick: Pick, beliefs: Array, belief: Belief, words: Words, rater: str) -> str:
    skill = float(belief.raters.skill[pick.rater])
    if words.is_masks:
        return f"{rater} draws with Dice {skill:.2f}"
    if not belief.given[pick.case].any():
        return f"{rater} is right {percent(skill)} of the time"
    pair = np.argsort(-beliefs[0])[:2]
    cm = belief.raters.cm[pick.rater]
    told = float(np.diagonal(cm[np.ix_(pair, pair)]).mean())
    return f"{rater} is right {percent(told)} of the time about these two"
