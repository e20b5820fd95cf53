"""Which figures can be made of a subject, and what they show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from matplotlib.figure import Figure

from multirater.dataset_agreement import agreement
from multirater.dataset_info import disagreement
from multirater.evaluation import Evaluation, evaluate
from multirater.evaluation.consensus import GROUPS
from multirater.evaluation.recurrences import recurrence_scores
from multirater.fuse.quality import with_quality
from multirater.fusion.study_quality import quality_of_study
from multirater.io.naming import file_names
from multirater.io.results.layout import RATERS
from multirater.io.survey import Survey, survey
from multirater.report.figures.agreement_matrix import draw_agreement
from multirater.report.figures.case_view import CaseView, view_case
from multirater.report.figures.confusion_maps import draw_confusion_maps
from multirater.report.figures.confusion_matrices import draw_confusion_matrices
from multirater.report.figures.consensus import consensus_levels, draw_consensus
from multirater.report.figures.consensus_groups import draw_consensus_groups
from multirater.report.figures.curves import draw_curves
from multirater.report.figures.drawings import draw_drawings
from multirater.report.figures.estimate import open_estimates
from multirater.report.figures.quality import draw_quality
from multirater.report.figures.rater_matrices import RaterMatrices, count_matrices, read_matrices
from multirater.report.figures.recurrences import draw_recurrence_curves, draw_recurrences
from multirater.report.figures.uncertainty import draw_uncertainty
from multirater.report.reference import choose_reference
from multirater.report.subject import Subject

Named: TypeAlias = Iterator[tuple[str, Figure]]
"""Figures with their file names, made one after the other."""


def figures_of(subject: Subject, cases: int | Sequence[str] = 3) -> Named:
    """Draw every figure that can be made of a subject, one after the other.

    Args:
        subject: data set, and what was made of it.
        cases: names of the cases to show, or how many: those with the most disagreement.

    Yields:
        The file name without suffix, and the figure.
    """
    yield from _Material(subject, cases).figures()


@dataclass(frozen=True, eq=False)
class _Material:
    """A subject and what is computed of it once, when a figure asks for it."""

    subject: Subject
    cases: int | Sequence[str]

    def figures(self) -> Named:
        """Yield the figures one by one, so that only one is in memory."""
        yield from self._of_raters()
        for run in self.subject.runs:
            if len(run.curves):
                yield f"curves-{self._files[run.name]}", draw_curves(run.curves)
        if self.subject.dataset.kind == "masks":
            yield from self._of_cases()
            yield from self._of_results()

    def _of_raters(self) -> Named:
        raters = self._survey.dataset.raters
        if len(raters) > 1:
            found = agreement(self._survey, n_resamples=1)
            if len(found.pairs):
                yield "agreement", draw_agreement(found, raters)
        for name, matrices in self._matrices():
            end = f"-{self._files[name]}" if name else ""
            drawn = draw_confusion_matrices(
                matrices.cm, matrices.raters, matrices.classes, note=matrices.source
            )
            yield f"confusion-matrices{end}", drawn
            yield f"quality{end}", draw_quality(matrices.table, note=matrices.source)

    def _of_cases(self) -> Named:
        views, raters, classes = self._views, self._raters, self._survey.classes
        if any(view.labels or view.estimates or view.truth is not None for view in views):
            yield "drawings", draw_drawings(views, raters, classes)
        if any(len(view.labels) > 1 or view.probability is not None for view in views):
            yield "uncertainty", draw_uncertainty(views, classes)
        if any(view.recurrences for view in views):
            yield "recurrences", draw_recurrences(views)
        files = file_names(view.name for view in views)
        for view in views:
            if view.confusion:
                figure = draw_confusion_maps(view, raters, classes)
                yield f"confusion-maps-{files[view.name]}", figure

    def _of_results(self) -> Named:
        for result in self.subject.results:
            table = recurrence_scores(result.dataset, self._survey.dataset)
            if len(table):
                yield f"recurrence-curves-{self._files[result.name]}", draw_recurrence_curves(table)
        found = self._evaluations()
        for name, each in found.items():
            if len(consensus_levels(each)[0]):
                yield f"consensus-{self._files[name]}", draw_consensus(each)
        if any(each.groups.loc[list(GROUPS), "n_cases"].any() for each in found.values()):
            yield "consensus-groups", draw_consensus_groups(found)

    @cached_property
    def _survey(self) -> Survey:
        data, results = self.subject.dataset, self.subject.results
        declared = (each.dataset.classes for each in results if each.dataset.classes is not None)
        return survey(replace(data, classes=data.classes or next(declared, None)))

    @cached_property
    def _files(self) -> dict[str, str]:
        """File names of results and runs."""
        results = [each.name for each in self.subject.results]
        return file_names([*results, *(each.name for each in self.subject.runs)])

    @cached_property
    def _views(self) -> list[CaseView]:
        found = self._survey
        estimates = {
            each.name: open_estimates(each.dataset, found.classes, found.dataset.raters)
            for each in self.subject.results
        }
        return [
            view_case(case, {m: e[case.name] for m, e in estimates.items() if case.name in e})
            for case in (found.dataset[name] for name in self._case_names())
        ]

    @property
    def _raters(self) -> list[str]:
        """Raters in order: those of the data, then those that only predictions know."""
        predicted = (rater for view in self._views for rater in (*view.drawn, *view.confusion))
        return list(dict.fromkeys([*self._survey.dataset.raters, *predicted]))

    def _case_names(self) -> list[str]:
        if not isinstance(self.cases, int):
            return list(self.cases)
        covered = [{case.name for case in each.dataset} for each in self.subject.results]
        something = set().union(*covered)
        parts = [part for part in self._survey.cases if part.space or part.name in something]
        # A case that all results cover shows more than one that some of them never saw.
        levels = [
            (
                sum(part.name in names for names in covered),
                np.nan_to_num(disagreement(part), nan=-1.0),
            )
            for part in parts
        ]
        order = sorted(range(len(levels)), key=levels.__getitem__, reverse=True)
        return [parts[number].name for number in order[: self.cases]]

    def _matrices(self) -> Iterator[tuple[str, RaterMatrices]]:
        """Yield what is known of raters: counted, then as each fusion and each run says."""
        reference = choose_reference(self.subject, len(self._survey.classes))
        counted = count_matrices(self._survey, reference)
        if counted is not None:
            table = counted.table
            if len(table) > 1:
                table = with_quality(table, quality_of_study(self._survey))
            yield "", replace(counted, table=table)
        folders = {each.name: each.dataset.folder for each in self.subject.results}
        folders |= {each.name: each.folder for each in self.subject.runs}
        for name, folder in folders.items():
            if folder is not None and (folder / RATERS).is_file():
                yield name, read_matrices(folder / RATERS, f"as seen by {name}")

    def _evaluations(self) -> dict[str, Evaluation]:
        """Evaluate all results on the cases that all of them cover: else they do not compare."""
        data, results = self._survey.dataset, self.subject.results
        covered = [{case.name for case in each.dataset} for each in results]
        shared = [case for case in data if all(case.name in names for names in covered)]
        if not any(case.labels for case in shared):
            return {}
        compared = replace(data, cases=tuple(shared))
        return {each.name: evaluate(each.dataset, compared) for each in results}
