"""Whether the result can be trusted: findings, each with its weight, and one sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd

from multirater.fuse.identifiability import Identifiability
from multirater.io.survey import Survey
from multirater.report.models import Measured
from multirater.report.reference import Reference
from multirater.report.standing import Standing
from multirater.report.subject import Result, Subject
from multirater.trust import Finding, Level, Trust, gravest_first
from multirater.verbs.agreement import Agreement
from multirater.words import counted, listed, percent

_OFTEN = 0.25
"""Share of the cases from which on a grave note is a problem rather than a caution."""

_SELDOM = 0.02
"""Share of the cases below which a note is not worth a finding."""

_AS_GOOD = 0.01
"""Dice with the truth up to which a fusion is as good as the best."""

_HIGH, _LOW = 0.8, 0.6
"""Mean agreement of two raters that is called high, and below which it is called low."""


def assess_trust(
    subject: Subject,
    found: Survey,
    reference: Reference,
    agreed: Agreement | None,
    identifiable: Identifiability | None,
    measured: Sequence[Measured] = (),
    standing: Standing | None = None,
) -> Trust:
    """Collect what speaks for and against trusting the labels and what was made of them.

    Args:
        subject: of the report.
        found: its data set, surveyed.
        reference: what raters are measured against.
        agreed: how far raters agree; None with fewer than two.
        identifiable: of the pooled majority vote, for a data set without any fusion.
        measured: fusions and networks, where they could be compared with something.
        standing: who of the raters is how good.
    """
    findings = [*_of_runs(subject), *_of_results(subject.results, measured)]
    findings += _of_followed(subject, standing)
    if identifiable is not None and not subject.results:
        findings += _of_votes(identifiable)
    findings += [*_of_agreement(found, agreed), *_of_supply(found), *_of_reference(reference)]
    ranked = gravest_first(findings)
    level = ranked[0].level if ranked else "caution"
    return Trust(_summary(subject, level, measured), ranked)


def _of_runs(subject: Subject) -> list[Finding]:
    """Repeat what training wrote down."""
    return [
        replace(each, text=f"{run.name}: {each.text}", code="")
        for run in subject.runs
        if run.trust is not None
        for each in run.trust.findings
    ]


def _of_followed(subject: Subject, standing: Standing | None) -> list[Finding]:
    """Say where a network follows somebody who is clearly worse than others."""
    if standing is None or not standing.tells:
        return []
    quality = standing.table
    findings = []
    for run in subject.runs:
        for each in run.trust.findings if run.trust is not None else ():
            (followed, *_) = each.raters or ("",)
            if each.code != "followed" or followed not in quality.index:
                continue
            rank, best = quality["rank"].to_dict()[followed], quality["quality"].idxmax()
            if pd.isna(rank) or rank == 1:
                continue
            text = (
                f"{run.name} follows {followed} most, whose labels follow from the image; by "
                f"{standing.judge} {best} is better. They judge by different things: look at cases "
                "where the two differ."
            )
            findings.append(Finding("caution", text, "followed", raters=(followed, str(best))))
    return findings


def _of_results(results: Sequence[Result], measured: Sequence[Measured]) -> list[Finding]:
    """Say what speaks against fusions; what holds for several is said once."""
    said: dict[tuple[Level, str], tuple[Finding, list[str]]] = {}
    for result in results:
        for each in _of_result(result, measured):
            said.setdefault((each.level, each.text), (each, []))[1].append(result.name)
    return [replace(each, text=f"{listed(who)}: {each.text}") for each, who in said.values()]


def doubtful_fusions(subject: Subject, measured: Sequence[Measured] = ()) -> list[str]:
    """Name the fusions whose own notes put their labels in doubt, unless the truth clears them."""
    return [
        each.name
        for each in subject.results
        if any(finding.level == "problem" for finding in _of_result(each, measured))
    ]


def _cleared(name: str, measured: Sequence[Measured]) -> float | None:
    """Return the Dice with the truth of a fusion that is as good as the best one measured."""
    known = {
        each.name: each.figures["Dice"].value
        for each in measured
        if each.kind == "fusion" and "Dice" in each.figures
    }
    if name in known and len(known) > 1 and known[name] >= max(known.values()) - _AS_GOOD:
        return known[name]
    return None


def _of_result(result: Result, measured: Sequence[Measured]) -> list[Finding]:
    """Say what a fusion found against itself; what is grave in few cases is a caution."""
    n_cases = max(len(result.dataset), 1)
    findings = []
    for each in result.findings:
        n = len(each.cases) or n_cases
        if n < _SELDOM * n_cases:
            continue
        where = "" if n >= n_cases else f" (in {n} of {counted(n_cases, 'case')})"
        dice = _cleared(result.name, measured) if each.level == "problem" else None
        if dice is not None:
            where += f"; but against the truth it is as good as any, with Dice {dice:.2f}"
        level = "caution" if dice is not None or n < _OFTEN * n_cases else each.level
        findings.append(replace(each, level=level, text=f"{each.text}{where}"))
    return list(gravest_first(findings)[:3])


def _of_votes(identifiable: Identifiability) -> list[Finding]:
    findings = list(identifiable.findings())
    margins = identifiable.dominance[~np.isnan(identifiable.dominance)]
    if identifiable.is_dominant and margins.size:
        text = (
            "In every class raters agree with their majority more often than they err in any one "
            f"way (smallest margin {margins.min():.2f})."
        )
        findings.append(Finding("good", text))
    return findings


def _of_agreement(found: Survey, agreed: Agreement | None) -> list[Finding]:
    if agreed is None:
        return []
    measure = "mean Dice of pairs" if found.dataset.kind == "masks" else "percent agreement"
    value = float(cast(Any, agreed.coefficients.loc[(measure, "all"), "value"]))
    if math.isnan(value):
        return []
    said = f"Dice {value:.2f}" if found.dataset.kind == "masks" else f"{percent(value)} of cases"
    if value >= _HIGH:
        return [Finding("good", f"Raters agree well: two of them at {said} on average.")]
    word = "moderately" if value >= _LOW else "poorly"
    return [Finding("caution", f"Raters agree {word}: two of them at {said} on average.")]


def _of_supply(found: Survey) -> list[Finding]:
    n_labels = [len(case.labels) for case in found.dataset if case.labels]
    findings = []
    alone = sum(n == 1 for n in n_labels)
    if alone and len(found.dataset.raters) > 1:
        findings.append(
            Finding(
                "caution",
                f"{counted(alone, 'case')} of {len(n_labels)} were labelled by one rater only: "
                "nothing can be said about their errors there.",
            )
        )
    elif n_labels and max(n_labels) == 2:
        findings.append(
            Finding("caution", "With two raters per case, no vote can tell which of them is right.")
        )
    empty = len(found.dataset) - len(n_labels)
    if empty and n_labels:
        findings.append(Finding("caution", f"{counted(empty, 'case')} nobody labelled."))
    return findings


def _of_reference(reference: Reference) -> list[Finding]:
    if reference.kind == "truth":
        text = "The truth came with the data: the errors shown here are measured, not estimated."
        return [Finding("good", text)]
    if reference.kind == "none":
        text = "Neither a truth nor a second rater: no error can be measured."
        return [Finding("problem", text)]
    return []


def _summary(subject: Subject, level: Level, measured: Sequence[Measured] = ()) -> str:
    doubtful = doubtful_fusions(subject, measured)
    written: dict[str, list[str]] = {}
    for run in subject.runs:
        if run.trust is not None and run.trust.summary:
            written.setdefault(run.trust.summary, []).append(run.name)
    if written:
        said = [f"{text.rstrip('.')} ({listed(names)})." for text, names in written.items()]
        alone = len(subject.runs) == 1 and not doubtful
        warned = [f"Do not rely on {listed(doubtful)} here."] if doubtful else []
        return next(iter(written)) if alone else " ".join([*warned, *said])
    fusions = [each.name for each in subject.results if each.kind == "fusion"]
    trusted = [name for name in fusions if name not in doubtful]
    if doubtful and trusted:
        return f"Do not rely on {listed(doubtful)} here; nothing grave against {listed(trusted)}."
    if level == "problem":
        what = listed(doubtful) if doubtful else "these labels"
        return f"Do not rely on {what} without a second look: see why below."
    if level == "caution":
        return "Usable with care: nothing grave was found, but read the cautions."
    return "Nothing was found that speaks against these labels."
