"""A class that is nearly everywhere: masks that mean something else, or a rater without care."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrc

from multirater.sanity.facts import StudyFacts
from multirater.sanity.reversed import is_reversed
from multirater.trust import Finding
from multirater.words import listed, percent

_NEARLY_ALL = 0.95
_OTHERS = 0.8
"""A rater stands out when the class takes at most this share of what the others labelled."""

_OTHER_ANSWERS = 0.7
"""The same for class labels, of which cautious raters say the frequent one more often."""

_SURPRISE = 0.01
"""A rater of class labels stands out when chance explains it less often than this."""


def covering_classes(facts: StudyFacts) -> list[Finding]:
    """Find classes that cover nearly everything, of all raters or of one.

    Of masks the background may well do so; in reversed masks another finding says it.
    """
    if not len(facts.raters) or (facts.is_masks and is_reversed(facts).any()):
        return []
    total = facts.pixels.sum(0)
    findings = []
    for k in range(1 if facts.is_masks else 0, total.shape[1]):
        share = float(total[:, k].sum() / total.sum())
        if share >= _NEARLY_ALL and facts.n_labels.sum() >= (1 if facts.is_masks else 20):
            findings.append(_everywhere(facts, k, share))
        else:
            findings += _by_single_raters(facts, k)
    return findings


def _everywhere(facts: StudyFacts, k: int, share: float) -> Finding:
    assert facts.dataset.classes is not None
    name, of = facts.dataset.classes.names[k], "pixels" if facts.is_masks else "labels"
    fix = "check what the values of the label files stand for (classes.csv)"
    if not facts.is_masks:
        fix = "judge raters by the other classes: nearly all of them are right by saying this one"
    return Finding(
        "caution",
        f"{name} covers {percent(share)} of all {of}",
        "covers-everything",
        {"share": share},
        fix=fix,
    )


def _by_single_raters(facts: StudyFacts, k: int) -> list[Finding]:
    """Find the raters who say one class of nearly everything, and the others do not."""
    shares = {number: _shares(facts, number, k) for number in range(len(facts.raters))}
    who = [number for number, each in shares.items() if each is not None]
    if not who:
        return []
    names = tuple(facts.raters[number] for number in who)
    mine, rest = np.mean([each for each in shares.values() if each is not None], axis=0).tolist()
    assert facts.dataset.classes is not None
    name, things = facts.dataset.classes.names[k], "pixels" if facts.is_masks else "cases"
    fix = "use a fusion that weighs raters, or leave them out with --exclude"
    return [
        Finding(
            "caution",
            f"{listed(names)} {'says' if len(names) == 1 else 'say'} {name} of {percent(mine)} of "
            f"the {things}, the others of {percent(rest)}",
            "covers-everything",
            {"share": mine, "others": rest, "raters": len(who)},
            facts.names(np.asarray((facts.pixels[:, who, k] > 0).any(1))),
            names,
            "look at what they drew, or leave them out with --exclude" if facts.is_masks else fix,
        )
    ]


def _shares(facts: StudyFacts, number: int, k: int) -> tuple[float, float] | None:
    """Return how much of their cases a rater and the others call class k; None if not too much."""
    together = facts.labelled[:, number] & (facts.labelled.sum(1) > 1)
    mine = facts.pixels[together, number].sum(0)
    others = facts.pixels[together].sum((0, 1)) - mine
    if not mine.sum() or not others.sum():
        return None
    share, rest = float(mine[k] / mine.sum()), float(others[k] / others.sum())
    if share < _NEARLY_ALL or rest > (_OTHERS if facts.is_masks else _OTHER_ANSWERS):
        return None
    if not facts.is_masks:
        chance = bdtrc(mine[k] - 1, int(mine.sum()), max(rest, 0.5))
        if chance > _SURPRISE / len(facts.raters):
            return None
    return share, rest
