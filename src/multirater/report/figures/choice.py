"""Which figures can be made of a subject, and what they show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from multirater.evaluation import Evaluation
from multirater.evaluation.consensus import GROUPS
from multirater.fuse.quality import with_quality
from multirater.io.naming import file_names
from multirater.io.results.layout import RATERS
from multirater.report.contents import Contents
from multirater.report.figures.agreement_matrix import draw_agreement
from multirater.report.figures.case_view import CaseView, view_case
from multirater.report.figures.confusion_maps import draw_confusion_maps
from multirater.report.figures.confusion_matrices import draw_confusion_matrices
from multirater.report.figures.consensus import consensus_levels, draw_consensus
from multirater.report.figures.consensus_groups import draw_consensus_groups
from multirater.report.figures.curves import draw_curves
from multirater.report.figures.drawings import draw_drawings
from multirater.report.figures.method_case import MethodCase
from multirater.report.figures.quality import draw_quality
from multirater.report.figures.rater_matrices import RaterMatrices, read_matrices
from multirater.report.figures.recurrences import draw_recurrence_curves, draw_recurrences
from multirater.report.figures.uncertainty import draw_uncertainty
from multirater.report.subject import Subject

Named: TypeAlias = Iterator[tuple[str, Figure]]
"""Figures with their file names, made one after the other."""


def figures_of(contents: Contents, cases: int | Sequence[str] = 3) -> Named:
    """Draw every figure that can be made of a report's contents, one after the other.

    Args:
        contents: of data set, and what was made of it.
        cases: names of the cases to show, or how many: those with the most disagreement.

    Yields:
        The file name without suffix, and the figure.
    """
    yield from _Material(contents, cases).figures()


@dataclass(frozen=True, eq=False)
class _Material:
    """What a report says, and which cases of it are drawn."""

    contents: Contents
    cases: int | Sequence[str]

    @property
    def subject(self) -> Subject:
        """What the report is about."""
        return self.contents.subject

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
        found = self.contents.agreed
        if found is not None and len(found.pairs):
            yield "agreement", draw_agreement(found, self.subject.dataset.raters)
        for name, matrices in self._matrices():
            end = f"-{self._files[name]}" if name else ""
            drawn = draw_confusion_matrices(
                matrices.cm, matrices.raters, matrices.classes, note=matrices.source
            )
            yield f"confusion-matrices{end}", drawn
            yield f"quality{end}", draw_quality(matrices.table, note=matrices.source)

    def _of_cases(self) -> Named:
        views, raters, classes = self._views, self._raters, self.contents.classes
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
        for each in self.contents.measured:
            if each.recurrences:
                table = pd.DataFrame(each.recurrences)
                yield f"recurrence-curves-{self._files[each.name]}", draw_recurrence_curves(table)
        found = self._evaluations()
        for name, evaluation in found.items():
            if len(consensus_levels(evaluation)[0]):
                yield f"consensus-{self._files[name]}", draw_consensus(evaluation)
        if any(each.groups.loc[list(GROUPS), "n_cases"].any() for each in found.values()):
            yield "consensus-groups", draw_consensus_groups(found)

    @cached_property
    def _files(self) -> dict[str, str]:
        """File names of results and runs."""
        results = [each.name for each in self.subject.results]
        return file_names([*results, *(each.name for each in self.subject.runs)])

    @cached_property
    def _views(self) -> list[CaseView]:
        estimates = {
            name: {case: MethodCase(said) for case, said in opened.cases.items()}
            for name, opened in self.contents.opened.items()
        }
        return [
            view_case(case, {m: e[case.name] for m, e in estimates.items() if case.name in e})
            for case in (self.subject.dataset[name] for name in self._case_names())
        ]

    @property
    def _raters(self) -> list[str]:
        """Raters in order: those of the data, then those that only predictions know."""
        predicted = (rater for view in self._views for rater in (*view.drawn, *view.confusion))
        return list(dict.fromkeys([*self.subject.dataset.raters, *predicted]))

    def _case_names(self) -> list[str]:
        if not isinstance(self.cases, int):
            return list(self.cases)
        contents = self.contents
        covered = [{case.name for case in each.dataset} for each in self.subject.results]
        something = set().union(*covered)
        # A case that all results cover shows more than one that some of them never saw.
        levels = {
            part.name: (
                sum(part.name in names for names in covered),
                np.nan_to_num(tally.disagreement, nan=-1.0),
            )
            for part, tally in zip(contents.found.cases, contents.tallies, strict=True)
            if part.space or part.name in something
        }
        return sorted(levels, key=levels.__getitem__, reverse=True)[: self.cases]

    def _matrices(self) -> Iterator[tuple[str, RaterMatrices]]:
        """Yield what is known of raters: counted, then as each fusion and each run says."""
        contents, table = self.contents, self.contents.table
        if contents.reference.kind != "none" and len(table):
            if len(contents.quality):
                table = with_quality(table, contents.quality)
            yield "", RaterMatrices(table, f"against {contents.reference.name}")
        folders = {each.name: each.dataset.folder for each in self.subject.results}
        folders |= {each.name: each.folder for each in self.subject.runs}
        for name, folder in folders.items():
            if folder is not None and (folder / RATERS).is_file():
                yield name, read_matrices(folder / RATERS, f"as seen by {name}")

    def _evaluations(self) -> dict[str, Evaluation]:
        """Return evaluations on cases that all results cover: else they do not compare."""
        measured = self.contents.measured
        found = {each.name: each.evaluation for each in measured if each.evaluation is not None}
        common = {frozenset(each.cases.index) for each in found.values()}
        is_whole = len(common) == 1 and len(found) == len(self.subject.results)
        return found if is_whole else {}
