"""Everything the page says, gathered before it is laid out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.evaluation.predictions import Predictions
from multirater.fuse.identifiability import Identifiability
from multirater.fuse.pattern_blocks import PatternBlocks
from multirater.fuse.pooled_vote import pooled_majority_vote
from multirater.fuse.rater_table import MOST_IN_TABLE
from multirater.io.gold import with_gold
from multirater.io.kept_labels import keep_labels
from multirater.io.survey import Survey, survey
from multirater.rater_choice import choose_raters
from multirater.report.models import Measured, measure_results
from multirater.report.raters import RaterFacts, count_raters, describe_raters
from multirater.report.reference import Reference, choose_reference
from multirater.report.selection import clearest_mistakes, order_by_disagreement
from multirater.report.standing import Standing, standing_of
from multirater.report.subject import Subject, open_results, read_subject
from multirater.report.tally import CaseTally, tally_cases
from multirater.report.trust import assess_trust
from multirater.report.verdicts import Verdict, verdicts_of
from multirater.sanity import study_findings
from multirater.trust import Finding, Trust
from multirater.types import Case, Classes
from multirater.verbs.agreement import Agreement, agreement
from multirater.verbs.info import study_quality


@dataclass(frozen=True, eq=False)
class Contents:
    """What a report says.

    Attributes:
        subject: what it is about; its data set knows its classes.
        found: its data set, surveyed, with the labels in memory.
        opened: what each result says of the cases, by its name.
        reference: what raters are measured against.
        tallies: one per case.
        raters: in numbers and words.
        agreed: how far raters agree; None with fewer than two.
        matrix: (n_raters, n_raters) agreement of every two, NaN where they share no case.
        matrix_name: what it holds.
        trust: the trust statement.
        measured: fusions and networks.
        order: positions of the cases, most disagreement first.
        mistakes: by rater, positions of the cases with their clearest mistakes.
        findings: what is odd about the study, gravest first.
        left_out: raters of the study that the report leaves out.
        quality: of each rater, as every result of the study says it (`fuse.quality`); empty with
            fewer than two raters.
        verdicts: quality of the raters by each reference.
        standing: who is how good, by the truth where there is one.
        table: of the raters' errors, with the columns of `raters.csv`; empty without raters.
    """

    subject: Subject
    found: Survey
    opened: Mapping[str, Predictions]
    reference: Reference
    tallies: list[CaseTally]
    raters: list[RaterFacts]
    agreed: Agreement | None
    matrix: NDArray[np.float64]
    matrix_name: str
    trust: Trust
    measured: list[Measured]
    order: list[int]
    mistakes: list[list[int]]
    findings: tuple[Finding, ...] = ()
    left_out: tuple[str, ...] = ()
    quality: pd.DataFrame = field(default_factory=pd.DataFrame)
    verdicts: list[Verdict] = field(default_factory=list)
    standing: Standing = field(default_factory=Standing)
    table: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def classes(self) -> Classes:
        """The classes of the data set."""
        assert self.subject.dataset.classes is not None
        return self.subject.dataset.classes

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases, in the order of the data set."""
        return self.subject.dataset.cases

    @property
    def is_masks(self) -> bool:
        """Whether labels are drawings rather than classes of whole images."""
        return self.subject.dataset.kind == "masks"

    @property
    def mean_agreement(self) -> float | None:
        """Mean Dice of two raters, or share of cases on which two raters agree."""
        if self.agreed is None:
            return None
        name = "mean Dice of pairs" if self.is_masks else "percent agreement"
        value = float(cast(Any, self.agreed.coefficients.loc[(name, "all"), "value"]))
        return None if np.isnan(value) else value


class Choices(TypedDict, total=False):
    """What can be chosen of a report, whichever way it is shown.

    Attributes:
        raters: whom to report on, as in `choose_raters`; everybody when not given.
        exclude: whom to leave out.
        gold: labels that stand, as in `with_gold`.
        seed: of the draws behind intervals.
        workers: number of processes that read.
    """

    raters: Iterable[str] | None
    exclude: Iterable[str] | None
    gold: str | Path | None
    seed: int
    workers: int


def gather(paths: Sequence[str | Path], **choices: Unpack[Choices]) -> Contents:
    """Read and measure everything that a report on these paths says.

    Args:
        paths: as in `write_report`.
        choices: see `Choices`.
    """
    return gather_subject(read_subject(paths), **choices)


def _require_few_classes(n_classes: int) -> None:
    if n_classes > MOST_IN_TABLE:
        raise InputError(
            Fault(
                f"{n_classes} classes are too many for a page",
                expected=f"at most {MOST_IN_TABLE}, of which it draws matrices",
                fix="look at `multirater info` and `multirater agreement`, or join classes",
            )
        )


def gather_subject(named: Subject, **choices: Unpack[Choices]) -> Contents:
    """Measure everything that a report on a subject says; labels are read once and kept."""
    gold, seed, workers = choices.get("gold"), choices.get("seed", 0), choices.get("workers", 1)
    if gold is not None:
        named = replace(named, dataset=with_gold(named.dataset, gold))
    dataset = choose_raters(named.dataset, choices.get("raters"), exclude=choices.get("exclude"))
    declared = (each.dataset.classes for each in named.results if each.dataset.classes is not None)
    classes = dataset.classes or next(declared, None)
    found = survey(replace(dataset, classes=classes), workers=workers, keep=True)
    _require_few_classes(len(found.classes))
    results = tuple(
        replace(each, dataset=keep_labels(each.dataset, workers=workers)) for each in named.results
    )
    subject = replace(named, dataset=found.dataset, results=results)
    opened = open_results(subject, found.classes)
    reference = choose_reference(subject, len(found.classes))
    tallies = tally_cases(found, reference, workers=workers)
    agreed = _agreement(found, seed)
    matrix, matrix_name = _matrix(found, agreed)
    n_mistakes = 6 if len(subject.dataset.raters) <= 12 else 3
    table = pd.DataFrame()
    if subject.dataset.raters:
        table = count_raters(subject.dataset, tallies, seed=seed, table=reference.table)
    described = describe_raters(subject.dataset, tallies, table, seed=seed)
    measured = measure_results(subject, found.classes, opened, workers=workers)
    quality = study_quality(found, seed=seed)
    standing = standing_of(subject.dataset, reference, tallies, quality, seed=seed)
    checked = _identifiability(found)
    return Contents(
        subject,
        found,
        opened,
        reference,
        tallies,
        described,
        agreed,
        matrix,
        matrix_name,
        assess_trust(subject, found, reference, agreed, checked, measured, standing),
        measured,
        order_by_disagreement(tallies),
        clearest_mistakes(tallies, n_mistakes),
        study_findings(found),
        tuple(each for each in named.dataset.raters if each not in dataset.raters),
        quality,
        verdicts_of(subject, reference, described, quality),
        standing,
        table,
    )


def _agreement(found: Survey, seed: int) -> Agreement | None:
    if len(found.dataset.raters) < 2:
        return None
    return agreement(found, n_resamples=100, seed=seed)


def _matrix(found: Survey, agreed: Agreement | None) -> tuple[NDArray[np.float64], str]:
    raters = found.dataset.raters
    matrix = np.full((len(raters), len(raters)), np.nan)
    name = "Dice" if found.dataset.kind == "masks" else "Cohen kappa"
    if agreed is not None:
        place = {rater: position for position, rater in enumerate(raters)}
        columns = agreed.pairs[["rater a", "rater b", name]]
        for a, b, value in columns.itertuples(index=False):
            matrix[place[a], place[b]] = matrix[place[b], place[a]] = value
    return matrix, name


def _identifiability(found: Survey) -> Identifiability | None:
    """Assess the majority vote over the patterns of all cases."""
    parts = [case for case in found.cases if len(case.counts)]
    if len(found.dataset.raters) < 2 or not parts:
        return None
    raters, names = found.dataset.raters, found.classes.names
    patterns = ((part.rows, part.counts) for part in parts)
    blocks = PatternBlocks.of(patterns, len(raters), len(names))
    return pooled_majority_vote(blocks, raters, names).identifiability
