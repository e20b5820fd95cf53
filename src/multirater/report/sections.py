"""The sections of the page: one line in `SECTIONS`, one template, and what that is given.

A new one is a function here, its line in the table, and `templates/<name>.html`. The template sees
`contents` and what the function returns, nothing of other sections.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from markupsafe import Markup

from multirater.acquisition.known_study import known_of_study
from multirater.acquisition.result import ranked_labels
from multirater.dataset_time import rater_trends, trend_words
from multirater.io.results.layout import ResultKind
from multirater.io.tables.dates import date_of
from multirater.report.charts import group_chart, line_chart, scatter_chart
from multirater.report.contents import Contents
from multirater.report.layers import rater_layer
from multirater.report.models import LOWER_IS_BETTER, Measured, columns_of
from multirater.report.next_steps import headline, next_steps
from multirater.report.pair_matrix import lay_out
from multirater.report.pair_tables import MOST_SIZES, group_rows, size_rows
from multirater.report.rater_table import RaterTable, rater_columns
from multirater.report.raters import Figure
from multirater.report.step_pictures import step_pictures
from multirater.report.terms import explained
from multirater.report.verdicts import verdict_words
from multirater.words import UNKNOWN, counted, listed, percent

_MOST_LINES = 8
"""Colours that lines of a chart can have."""

_MOST_NEXT = 10
"""Labels to ask for that are shown."""

Said: TypeAlias = Mapping[str, Any]
"""What a template is given, by name."""


@dataclass(frozen=True, eq=False)
class Shown:
    """What a page is about.

    Attributes:
        contents: everything that was gathered.
        chosen: positions of the cases on the page, in order.
        sampled: whether cases were left out.
    """

    contents: Contents
    chosen: Sequence[int]
    sampled: bool

    @property
    def anchors(self) -> dict[str, str]:
        """Where the page speaks of each rater."""
        raters = self.contents.subject.dataset.raters
        return {name: f"rater-{number + 1}" for number, name in enumerate(raters)}


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes:
        anchor: id of its element.
        title: in the navigation.
        template: its file in `templates/`.
        says: what the template is given; None where there is nothing to say, so that it is left
            out.
    """

    anchor: str
    title: str
    template: str
    says: Callable[[Shown], Said | None]


def _overview(shown: Shown) -> Said:
    contents = shown.contents
    subject = contents.subject
    worst = [contents.cases[i].name for i in contents.order if contents.tallies[i].disagreement > 0]
    n_labels = sum(len(case.labels) for case in contents.cases)
    steps = next_steps(
        subject, contents.raters, worst, contents.measured, shown.anchors, contents.standing
    )
    return {
        "subject": subject,
        "kinds": _kinds(subject.kinds),
        "headline": headline(subject, n_labels, contents.mean_agreement, contents.standing),
        "steps": steps,
        "tiles": _tiles(contents, n_labels),
    }


def _raters(shown: Shown) -> Said | None:
    contents = shown.contents
    if not contents.raters:
        return None
    raters = contents.subject.dataset.raters
    table = rater_columns(contents)
    return {
        "anchors": shown.anchors,
        "styles": [rater_layer(number, name) for number, name in enumerate(raters)],
        "rater_table": table,
        "verdict_words": verdict_words(contents.verdicts, raters),
        "matrix": lay_out(contents.matrix, [each.labels for each in contents.raters]),
        "groups": group_rows(contents.agreed),
        "sizes": size_rows(contents.agreed),
        "most_sizes": MOST_SIZES,
        "terms": _rater_terms(contents, table),
        "unknown": UNKNOWN,
        "place_of": {position: place for place, position in enumerate(shown.chosen)},
    }


def _cases(shown: Shown) -> Said:
    n, n_shown = len(shown.contents.cases), len(shown.chosen)
    note = (
        f"{n_shown} of {counted(n, 'case')} are shown: those with most disagreement, those with "
        "the clearest mistakes, and an even choice of the rest. The option --cases all writes "
        "every case, the verb view shows them without writing."
    )
    return {
        "note": note if shown.sampled else "",
        "n_shown": n_shown,
    }


def _models(shown: Shown) -> Said | None:
    contents = shown.contents
    measured = contents.measured
    charts = _charts(contents)
    if not measured and not charts["curves"]:
        return None
    return {
        "columns": columns_of(measured),
        "lower_is_better": LOWER_IS_BETTER,
        "best": _best(measured),
        "charts": charts,
        "terms": _model_terms(contents),
        "on_common": len({each.n_cases for each in measured}) <= 1,
        "all_covered": all(each.n_cases == each.n_covered for each in measured),
        "unknown": UNKNOWN,
    }


def _next(shown: Shown) -> Said | None:
    contents = shown.contents
    if len(contents.subject.dataset.raters) < 2 or not any(case.labels for case in contents.cases):
        return None
    found = ranked_labels(known_of_study(contents.found), _MOST_NEXT)
    points = [
        (float(labels), float(value))
        for labels, value in found.curve[["labels", "uncertainty"]].itertuples(index=False)
    ]
    chart = line_chart(
        {"expected uncertainty": points},
        title="Expected uncertainty of a case after further labels",
        x="further labels",
        y="uncertainty",
    )
    return {
        "found": found,
        "chart": chart if len(points) > 1 else "",
        "lines": found.labels.to_dict("records"),
    }


def _short_dates(dates: Sequence[str]) -> list[str]:
    """Return what tells dates apart: day and month, month and year, or which part it is."""
    of_one_year = len({date[:4] for date in dates}) == 1
    short = [date[5:] if of_one_year else date[:7] for date in dates]
    if len(set(short)) == len(short):
        return short
    return [f"part {number}" for number, _ in enumerate(dates, start=1)]


def _time(shown: Shown) -> Said | None:
    contents = shown.contents
    trends = rater_trends(contents.found)
    if not trends or not trends[0].spans:
        return None
    busiest = sorted(trends, key=lambda each: -sum(span.labels for span in each.spans))
    names = {each.rater for each in busiest[:_MOST_LINES]}
    spans = trends[0].spans
    groups = _short_dates([date_of(span.begin) for span in spans])
    series = {
        each.rater: {
            group: Figure(span.value, span.low, span.high)
            for group, span in zip(groups, each.spans, strict=True)
        }
        for each in trends
        if each.rater in names
    }
    what = "Dice with the vote of the others"
    measure = what if contents.is_masks else "Chance to be right by the others' labels"
    title = f"{measure}, over time"
    return {
        "measure": measure,
        "title": title,
        "dates": f"{date_of(spans[0].begin)} to {date_of(spans[-1].end)}",
        "chart": group_chart(series, groups, title=title, y=""),
        "rows": [
            (
                each.rater,
                trend_words(each),
                None if math.isnan(each.change) else Figure(each.change, each.low, each.high),
            )
            for each in trends
        ],
        "unknown": UNKNOWN,
    }


SECTIONS = (
    Section("top", "Overview", "overview.html", _overview),
    Section("raters", "Raters", "raters.html", _raters),
    Section("time", "Time", "time.html", _time),
    Section("cases", "Cases", "cases.html", _cases),
    Section("what-next", "Next", "next.html", _next),
    Section("models", "Models", "models.html", _models),
)
"""In the order of the page."""


def _tiles(contents: Contents, n_labels: int) -> list[tuple[str, str]]:
    tiles = [(_word("case", len(contents.cases)), f"{len(contents.cases):,}")]
    tiles.append((_word("rater", len(contents.raters)), str(len(contents.raters))))
    tiles.append((_word("label", n_labels), f"{n_labels:,}"))
    tiles.append(("classes", str(len(contents.classes))))
    value = contents.mean_agreement
    if value is not None:
        shown = f"{value:.2f}" if contents.is_masks else percent(value)
        tiles.append(("Dice of two raters" if contents.is_masks else "two raters agree", shown))
    return tiles


def _rater_terms(contents: Contents, table: RaterTable) -> list[tuple[str, str]]:
    pairs = "Dice" if contents.is_masks else "Cohen kappa"
    terms = [*table.terms, pairs, "reference", "majority vote", "disagreement"]
    terms += ["bias"] if contents.is_masks and contents.agreed is not None else []
    return explained(terms)


def _model_terms(contents: Contents) -> list[tuple[str, str]]:
    kinds = {each.kind for each in contents.measured}
    terms = [*columns_of(contents.measured), "interval", "behind the best"]
    terms += ["fusion"] if "fusion" in kinds else []
    terms += ["network"] if "predictions" in kinds or contents.subject.runs else []
    terms += ["loss"] if contents.subject.runs else []
    groups = {name for each in contents.measured for name, *_ in each.groups}
    terms += ["consensus"] if len(groups) > 1 else []
    terms += ["recurrence"] if any(each.recurrences for each in contents.measured) else []
    return explained(terms)


def _charts(contents: Contents) -> dict[str, Any]:
    measured = contents.measured
    curves = [_curve_chart(run.name, run.curves) for run in contents.subject.runs]
    points = {each.name: each.consensus for each in measured if each.consensus}
    groups = list(dict.fromkeys(g[0] for each in measured for g in each.groups))
    by_group = {each.name: {g[0]: g[3] for g in each.groups} for each in measured}
    ordered = [g for g in ("below", "low", "middle", "high", "above") if g in groups]
    return {
        "curves": [chart for chart in curves if chart],
        "recurrences": [
            (each.name, _recurrence_chart(each)) for each in measured if each.recurrences
        ],
        "steps": step_pictures(contents),
        "consensus": scatter_chart(
            points,
            title="Predicted against real consensus level of each case",
            x="consensus of the raters (mean IoU)",
            y="predicted consensus",
        )
        if points
        else "",
        "groups": group_chart(
            by_group, ordered, title="Dice by consensus group of the cases", y="Dice"
        )
        if len(ordered) > 1
        else "",
    }


def _best(measured: Sequence[Measured]) -> set[tuple[str, str]]:
    """(measure, result) with the best value, among results of one kind on equally many cases."""
    best = set()
    for column in columns_of(measured):
        groups: dict[tuple[str, int], list[Measured]] = {}
        for each in measured:
            if column in each.figures:
                groups.setdefault((each.kind, each.n_cases), []).append(each)
        choose = min if column in LOWER_IS_BETTER else max
        for group in groups.values():
            if len(group) > 1:
                winner = choose(group, key=lambda each: each.figures[column].value)
                best.add((column, winner.name))
    return best


def _word(thing: str, n: int) -> str:
    return thing if n == 1 else f"{thing}s"


def _kinds(kinds: Sequence[ResultKind]) -> str:
    """Say what a report is on, such as *a data set and 2 fusions*."""
    said = []
    for kind, n in Counter(kinds).items():
        many = kind if kind == "predictions" else f"{kind}s"
        one = kind if kind == "predictions" else f"a {kind}"
        said.append(one if n == 1 else f"{n} {many}")
    return listed(said)


def _curve_chart(name: str, curves: Any) -> tuple[str, Markup] | None:
    shown = {"train_nll": "training", "val_nll": "held-out raters' labels"}
    series = {
        word: [
            (float(e) + 1, float(v))
            for e, v in zip(curves["epoch"], curves[column], strict=True)
            if math.isfinite(float(v))
        ]
        for column, word in shown.items()
        if column in getattr(curves, "columns", ())
    }
    series = {word: points for word, points in series.items() if points}
    if not series:
        return None
    title = f"Loss of {name} over epochs"
    return name, line_chart(series, title=title, x="epoch", y="nats per label")


def _recurrence_chart(measured: Measured) -> Markup:
    series = {
        name: [(float(number), value) for number, value in enumerate(values)]
        for name, values in list(measured.recurrences.items())[:_MOST_LINES]
    }
    title = f"Dice of {measured.name} after each recurrence"
    n_steps = max(len(points) for points in series.values())
    ticks = {float(number): str(number) for number in range(n_steps)}
    return line_chart(series, title=title, x="recurrence", y="Dice", ticks_x=ticks)
