"""What to do next, said to whoever owns the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from multirater.report.models import Measured
from multirater.report.raters import RaterFacts
from multirater.report.standing import Standing
from multirater.report.subject import Subject
from multirater.report.trust import doubtful_fusions
from multirater.words import counted, listed, percent

_BELOW = 0.1
"""How far below the middle rater, with all of its interval, a quality is worth a talk."""

_LEVEL = 0.005
"""Dice below which a fusion is not behind another."""

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
    standing: Standing,
) -> list[Step]:
    """Say what to do next, the most useful first.

    Args:
        subject: of the report.
        raters: in numbers.
        worst_cases: names of the cases with most disagreement.
        measured: fusions and networks.
        anchors: by rater, the place of their section on the page.
        standing: who of the raters is how good.
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
    steps += _talks(raters, anchors, standing)
    if len(subject.dataset.raters) == 2 and not standing.by_truth:
        steps.append(Step("Let a third rater label some of the cases: two cannot show who errs."))
    steps += _fusions(subject, measured)
    steps += _choice(subject, measured)
    only_fused = {each.kind for each in subject.results} == {"fusion"} and not subject.runs
    if only_fused and subject.dataset.kind == "masks":
        steps.append(
            Step(
                "Train a network on all raters' labels and compare it with the fused labels.",
                "multirater train DATA -o run/",
            )
        )
    return steps[:_MOST]


def _talks(raters: Sequence[RaterFacts], anchors: dict[str, str], standing: Standing) -> list[Step]:
    """Name the raters to talk to: those clearly below the middle one, worst first."""
    if not standing.tells:
        return []
    quality = standing.table
    high = quality["quality_high"].fillna(quality["quality"])
    poor = quality["quality"][high < quality["quality"].median() - _BELOW].sort_values()
    by_name = {each.name: each for each in raters}
    steps = []
    for name, value in list(poor.items())[:2]:
        each = by_name[str(name)]
        why = (
            each.confusion
            if each.missed * 2 < each.judged
            else (f"drew nothing in {each.missed} of {counted(each.judged, 'case')}")
        )
        steps.append(
            Step(
                f"Talk to {name} ({standing.said(value)}): {why}.",
                link=anchors[str(name)],
                link_text="Their clearest mistakes",
            )
        )
    if len(poor) > 2:
        rest = listed([str(name) for name in poor.index[2:]])
        steps.append(Step(f"Also clearly below the others: {rest}."))
    return steps


def _choice(subject: Subject, measured: Sequence[Measured]) -> list[Step]:
    """Name the fusion that is closest to the truth, of those measured on the same cases.

    One that the trust statement warns of is not advised.
    """
    fusions = [each for each in measured if each.kind == "fusion" and "Dice" in each.figures]
    if len(fusions) < 2 or len({each.n_cases for each in fusions}) > 1:
        return []
    best = max(fusions, key=lambda each: each.figures["Dice"].value)
    highest = best.figures["Dice"].value
    if best.name in doubtful_fusions(subject, measured):
        return []
    level = [
        each.name
        for each in fusions
        if each is not best and each.figures["Dice"].value > highest - _LEVEL
    ]
    also = f"; {listed(level)} {'is' if len(level) == 1 else 'are'} level with it" if level else ""
    return [
        Step(
            f"Of the fusions, use {best.name}: closest to the truth, with Dice {highest:.2f}"
            f"{also}.",
            link="models",
            link_text="Compare them",
        )
    ]


def _fusions(subject: Subject, measured: Sequence[Measured]) -> list[Step]:
    fusions = [each for each in subject.results if each.kind == "fusion"]
    if fusions:
        if len(fusions) > 1 or not doubtful_fusions(subject, measured):
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
    return [
        Step(
            "Fuse the labels into one per case, and report on both together.",
            "multirater fuse DATA -o fused/ && multirater report fused/ -o fused.html",
        )
    ]


def headline(subject: Subject, n_labels: int, agreement: float | None, standing: Standing) -> str:
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
    return f"{said}{standing.best_and_least()}."
