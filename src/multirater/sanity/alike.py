"""Labels that are copies: of another rater, or of the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import counted, listed

_FEWEST_PIXELS = 20
"""Pixels drawn in all, below which equal masks are no surprise."""

_SURPRISE = 0.01
"""Class labels count as copies when agreeing so often by chance is less likely than this."""

_USUAL_AGREEMENT = 0.9
"""How often raters agree at least, as far as chance is concerned: many cases are easy."""

_MOST_RATERS = 1000
"""Pairs of more raters are not looked through."""


def alike_raters(facts: StudyFacts) -> list[Finding]:
    """Find raters who gave the same label in every case they share."""
    n_raters = len(facts.raters)
    if not 2 <= n_raters <= _MOST_RATERS:
        return []
    shared, same = _equal_labels(facts)
    alike = (same == shared) & (shared > 0)
    np.fill_diagonal(alike, False)
    alike &= _is_surprising(facts, shared, same)
    n_groups, group = connected_components(csr_matrix(alike), directed=False)
    findings = []
    for number in range(n_groups):
        inside = np.flatnonzero(group == number)
        if len(inside) > 1:
            together = np.triu(shared[np.ix_(inside, inside)], k=1)
            findings.append(_copies(facts, inside, int(together.max())))
    return findings


def _copies(facts: StudyFacts, who: NDArray[np.intp], n_cases: int) -> Finding:
    names = tuple(facts.raters[number] for number in who)
    together = facts.labelled[:, who].sum(1) > 1
    done = "drew the same, pixel for pixel," if facts.is_masks else "gave the same labels"
    spare = " and ".join(f"--exclude '{name}'" for name in names[1:3])
    return Finding(
        "caution",
        f"{listed(names)} {done} in every one of {counted(n_cases, 'case')} they share",
        "alike",
        {"cases": n_cases},
        facts.names(together),
        names,
        f"check that files were not copied; one label counts twice: {spare}",
    )


def _equal_labels(facts: StudyFacts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count, for every two raters, the cases they share and those with equal labels."""
    if not facts.is_masks:
        has = facts.labelled.astype(np.float32)
        agreeing = np.zeros((len(facts.raters),) * 2)
        for k in range(facts.pixels.shape[2]):
            said = (facts.pixels[:, :, k] > 0).astype(np.float32)
            agreeing += said.T @ said
        return np.rint(has.T @ has).astype(np.int64), np.rint(agreeing).astype(np.int64)
    shared = np.zeros((len(facts.raters),) * 2, dtype=np.int64)
    same = np.zeros_like(shared)
    for place, case in enumerate(facts.cases):
        # Cases of which nobody drew anything tell nothing.
        here = np.flatnonzero(facts.labelled[place])
        if len(here) < 2 or not facts.size[place, here].any():
            continue
        # Equal labels get equal numbers; comparing bytes is far quicker than sorting columns.
        seen: dict[bytes, int] = {}
        columns = np.ascontiguousarray(case.rows[:, here].T)
        number = np.array([seen.setdefault(each.tobytes(), len(seen)) for each in columns])
        drawn = facts.size[place, here] > 0
        either = drawn[:, None] | drawn[None, :]
        equal = number[:, None] == number[None, :]
        shared[np.ix_(here, here)] += either
        same[np.ix_(here, here)] += equal & either
    return shared, same


def _is_surprising(
    facts: StudyFacts, shared: NDArray[np.int64], same: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether two raters who always agree would hardly do so by chance."""
    if facts.is_masks:
        drawn = facts.size.sum(0)
        return np.asarray(np.minimum(drawn[:, None], drawn[None, :]) >= _FEWEST_PIXELS)
    above = np.triu_indices(len(shared), k=1)
    n_shared, n_same = shared[above].sum(), same[above].sum()
    # The pair itself does not say how often raters agree.
    rest = (n_same - same) / np.maximum(n_shared - shared, 1)
    usual = np.maximum(rest, _USUAL_AGREEMENT)
    n_pairs = int((shared[above] > 0).sum())
    return np.asarray(usual**shared < _SURPRISE / max(n_pairs, 1))


def alike_to_truth(facts: StudyFacts) -> list[Finding]:
    """Find raters whose every label is the truth."""
    noted = [case.drawn for case in facts.cases]
    has = np.stack([_row(facts) if each is None else each.has_truth for each in noted])
    same = np.stack([_row(facts) if each is None else each.same_as_truth for each in noted])
    if facts.is_masks:
        has &= facts.size > 0
        same &= has
    findings = []
    for number in range(len(facts.raters)):
        n_cases = int(has[:, number].sum())
        if not n_cases or not same[has[:, number], number].all():
            continue
        if facts.is_masks:
            surprising = facts.size[has[:, number], number].sum() >= _FEWEST_PIXELS
        else:
            others = np.delete(has, number, axis=1), np.delete(same, number, axis=1)
            usual = others[1].sum() / max(others[0].sum(), 1)
            surprising = max(usual, _USUAL_AGREEMENT) ** n_cases < _SURPRISE / len(facts.raters)
        if surprising:
            findings.append(_as_truth(facts, number, has[:, number], n_cases))
    return findings


def _as_truth(facts: StudyFacts, number: int, cases: NDArray[np.bool_], n_cases: int) -> Finding:
    rater = facts.raters[number]
    return Finding(
        "caution",
        f"{rater} is the truth in every one of {counted(n_cases, 'case')}: one was copied from the "
        "other, so that the truth says nothing of this rater",
        "alike-to-truth",
        {"cases": n_cases},
        facts.names(cases),
        (rater,),
        f"leave the rater out where the truth is known: --exclude '{rater}'",
    )


def _row(facts: StudyFacts) -> NDArray[np.bool_]:
    return np.zeros(len(facts.raters), dtype=bool)
