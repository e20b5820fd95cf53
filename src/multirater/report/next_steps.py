"""What to do next, said to whoever owns the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from multirater.report.models import Measured
from multirater.report.raters import RaterFacts
from multirater.report.subject import Subject
from multirater.report.trust import doubtful_fusions
from multirater.words import counted, listed, percent

_POOR = 0.75
"""Skill below which a rater is worth a talk."""

_MOST = 5


@dataclass(frozen=True)
class Step:
    """Something to do, and the command or the place on the page that helps with it."""

    text: str
    command: str = ""
    link: str = ""
    link_text: str = ""


def next_steps(
    subject: Subject,
    raters: Sequence[RaterFacts],
    worst_cases: Sequence[str],
    measured: Sequence[Measured],
    anchors: dict[str, str],
) -> list[Step]:
    """Say what to do next, the most useful first.

    Args:
        subject: of the report.
        raters: in numbers.
        worst_cases: names of the cases with most disagreement.
        measured: fusions and networks.
        anchors: by rater, the place of their section on the page.
    """
    steps: list[Step] = []
    if worst_cases:
        worst = listed(worst_cases[:3])
        steps.append(
            Step(
                f"Look at the cases raters disagree on most, first of all {worst}. "
                "Relabel where the task was misunderstood.",
                link="cases",
                link_text="Open the viewer",
            )
        )
    steps += _talks(raters, anchors)
    steps += _fusions(subject)
    steps += _choice(measured)
    only_fused = {each.kind for each in subject.results} == {"fusion"} and not subject.runs
    if only_fused and subject.dataset.kind == "masks":
        steps.append(
            Step(
                "Train a network on all raters' labels and compare it with the fused labels.",
                "multirater train DATA -o run/",
            )
        )
    return steps[:_MOST]


def _talks(raters: Sequence[RaterFacts], anchors: dict[str, str]) -> list[Step]:
    """Name the raters to talk to: those who draw nothing or err most, worst first."""
    poor = sorted(
        (each for each in raters if each.skill.value < _POOR), key=lambda each: each.skill.value
    )
    steps = []
    for each in poor[:2]:
        why = (
            each.confusion
            if each.missed * 2 < each.judged
            else (f"drew nothing in {each.missed} of {counted(each.judged, 'case')}")
        )
        steps.append(
            Step(
                f"Talk to {each.name} (skill {each.skill.value:.2f}): {why}.",
                link=anchors[each.name],
                link_text="Their clearest mistakes",
            )
        )
    if len(poor) > 2:
        rest = listed([each.name for each in poor[2:]])
        steps.append(Step(f"Also of low skill: {rest}."))
    return steps


def _choice(measured: Sequence[Measured]) -> list[Step]:
    """Name the fusion that is closest to the truth, of those measured on the same cases."""
    fusions = [each for each in measured if each.kind == "fusion" and "Dice" in each.figures]
    if len(fusions) < 2 or len({each.n_cases for each in fusions}) > 1:
        return []
    best = max(fusions, key=lambda each: each.figures["Dice"].value)
    return [
        Step(
            f"Of the fusions, use {best.name}: closest to the truth, with Dice "
            f"{best.figures['Dice'].value:.2f}.",
            link="models",
            link_text="Compare them",
        )
    ]


def _fusions(subject: Subject) -> list[Step]:
    fusions = [each for each in subject.results if each.kind == "fusion"]
    if fusions:
        if len(fusions) > 1 or not doubtful_fusions(subject):
            return []
        return [
            Step(
                f"Compare {fusions[0].name} with a method that assumes less.",
                "multirater fuse DATA --method majority-vote -o vote/",
            )
        ]
    if subject.results or subject.runs:
        return []
    if len(subject.dataset.raters) < 2:
        return [Step("Let a second rater label some of the cases: one alone cannot be checked.")]
    method = "staple" if subject.dataset.kind == "masks" else "dawid-skene"
    return [
        Step(
            "Fuse the labels into one per case, and report on both together.",
            f"multirater fuse DATA --method {method} -o fused/ && multirater report fused/ "
            "-o fused.html",
        )
    ]


def headline(
    subject: Subject, n_labels: int, agreement: float | None, raters: Sequence[RaterFacts]
) -> str:
    """Say in one sentence what this is, with the numbers that matter."""
    dataset = subject.dataset
    n_cases, n_raters = len(dataset), len(dataset.raters)
    if not n_raters:
        return f"Predictions for {counted(n_cases, 'case')} that nobody labelled."
    did = "drew" if dataset.kind == "masks" else "gave"
    what = counted(n_labels, "mask" if dataset.kind == "masks" else "class label")
    said = f"{counted(n_raters, 'rater')} {did} {what} on {counted(n_cases, 'case')}"
    if agreement is not None:
        measure = f"Dice {agreement:.2f}" if dataset.kind == "masks" else percent(agreement)
        said += f"; two of them agree at {measure} on average"
    known = [each for each in raters if each.skill.value == each.skill.value]
    if len(known) > 1:
        best = max(known, key=lambda each: each.skill.value)
        worst = min(known, key=lambda each: each.skill.value)
        said += (
            f". Most skilled is {best.name} ({best.skill.value:.2f}), least {worst.name} "
            f"({worst.skill.value:.2f})"
        )
    return said + "."
