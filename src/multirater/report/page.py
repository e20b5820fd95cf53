"""The page: contents laid out as HTML, everything from the data escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from multirater import __version__
from multirater.io.results.layout import ResultKind
from multirater.report.case_data import CaseEncoder
from multirater.report.charts import group_chart, interval_bar, line_chart, scatter_chart
from multirater.report.contents import Contents
from multirater.report.layers import Layer, rater_layer
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

_SCRIPTS = (
    *("decode.js", "drawing.js", "viewer.js", "panel.js", "stage.js", "case_list.js", "moves.js"),
    "page.js",  # last: it starts everything
)
_HERE = "<!-- cases -->"
_MOST_LINES = 8
"""Colours that lines of a chart can have."""

CaseSource = Literal["inline", "folder"]


@dataclass(frozen=True, eq=False)
class Page:
    """A page, ready to be written piece by piece.

    Attributes:
        contents: what it says.
        encoder: of the cases.
        chosen: positions of the cases on it, in order.
        sampled: whether cases were left out.
        source: cases in the page itself, or each in a file of its own that is read when shown.
    """

    contents: Contents
    encoder: CaseEncoder
    chosen: list[int]
    sampled: bool
    source: CaseSource

    def pieces(self) -> Iterator[str]:
        """Yield the page from first to last, a case at a time, so that memory stays bounded."""
        before, after = self.html().split(_HERE)
        yield before
        if self.source == "inline":
            for place in range(len(self.chosen)):
                text = as_json(self.case(place))
                yield f'<script type="application/json" id="case-{place}">{text}</script>\n'
        yield after

    def case(self, place: int) -> dict[str, Any]:
        """Encode the case at a place among the chosen ones."""
        return self.encoder.encode(self.contents.cases[self.chosen[place]])

    def case_script(self, place: int) -> str:
        """Return the script that hands a case to the page, for a file of its own."""
        return f"multiraterCase({place}, {as_json(self.case(place))});\n"

    def html(self) -> str:
        """Return the page without its cases."""
        script = "\n".join(_static(name) for name in _SCRIPTS)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        return (
            _environment()
            .get_template("page.html")
            .render(
                **self._variables(),
                css=Markup(_static("page.css")),
                script=Markup(script),
                script_hash=digest,
                data=Markup(as_json(self._data())),
                cases_here=Markup(_HERE),
            )
        )

    def _variables(self) -> dict[str, Any]:
        contents = self.contents
        subject = contents.subject
        raters = subject.dataset.raters
        anchors = {name: f"rater-{number + 1}" for number, name in enumerate(raters)}
        worst = [
            contents.cases[i].name for i in contents.order if contents.tallies[i].disagreement > 0
        ]
        n_labels = sum(len(case.labels) for case in contents.cases)
        table = rater_columns(contents)
        return {
            "contents": contents,
            "subject": subject,
            "kinds": _kinds(subject.kinds),
            "headline": headline(subject, n_labels, contents.mean_agreement, contents.standing),
            "steps": next_steps(
                subject, contents.raters, worst, contents.measured, anchors, contents.standing
            ),
            "verdict_words": verdict_words(contents.verdicts, raters),
            "tiles": self._tiles(n_labels),
            "anchors": anchors,
            "styles": [rater_layer(number, name) for number, name in enumerate(raters)],
            "columns": columns_of(contents.measured),
            "lower_is_better": LOWER_IS_BETTER,
            "best": _best(contents.measured),
            "charts": self._charts(),
            "rater_table": table,
            "matrix": lay_out(contents.matrix, [each.labels for each in contents.raters]),
            "groups": group_rows(contents.agreed),
            "sizes": size_rows(contents.agreed),
            "most_sizes": MOST_SIZES,
            "terms": self._terms(table),
            "on_common": len({each.n_cases for each in contents.measured}) <= 1,
            "all_covered": all(each.n_cases == each.n_covered for each in contents.measured),
            "note": self._note(),
            "version": __version__,
            "unknown": UNKNOWN,
            "n_shown": len(self.chosen),
            "place_of": {position: place for place, position in enumerate(self.chosen)},
        }

    def _tiles(self, n_labels: int) -> list[tuple[str, str]]:
        contents = self.contents
        tiles = [(_word("case", len(contents.cases)), f"{len(contents.cases):,}")]
        tiles.append((_word("rater", len(contents.raters)), str(len(contents.raters))))
        tiles.append((_word("label", n_labels), f"{n_labels:,}"))
        tiles.append(("classes", str(len(contents.classes))))
        value = contents.mean_agreement
        if value is not None:
            shown = f"{value:.2f}" if contents.is_masks else percent(value)
            tiles.append(("Dice of two raters" if contents.is_masks else "two raters agree", shown))
        return tiles

    def _terms(self, table: RaterTable) -> dict[str, list[tuple[str, str]]]:
        """What is explained in each section: the terms that occur in it."""
        contents = self.contents
        pairs = "Dice" if contents.is_masks else "Cohen kappa"
        raters = [*table.terms, pairs, "reference", "majority vote", "disagreement"]
        raters += ["bias"] if contents.is_masks and contents.agreed is not None else []
        kinds = {each.kind for each in contents.measured}
        models = [*columns_of(contents.measured), "interval", "behind the best"]
        models += ["fusion"] if "fusion" in kinds else []
        models += ["network"] if "predictions" in kinds or contents.subject.runs else []
        models += ["loss"] if contents.subject.runs else []
        groups = {name for each in contents.measured for name, *_ in each.groups}
        models += ["consensus"] if len(groups) > 1 else []
        models += ["recurrence"] if any(each.recurrences for each in contents.measured) else []
        return {"raters": explained(raters), "models": explained(models)}

    def _charts(self) -> dict[str, Any]:
        measured = self.contents.measured
        curves = [_curve_chart(run.name, run.curves) for run in self.contents.subject.runs]
        points = {each.name: each.consensus for each in measured if each.consensus}
        groups = list(dict.fromkeys(g[0] for each in measured for g in each.groups))
        by_group = {each.name: {g[0]: g[3] for g in each.groups} for each in measured}
        ordered = [g for g in ("below", "low", "middle", "high", "above") if g in groups]
        return {
            "curves": [chart for chart in curves if chart],
            "recurrences": [
                (each.name, _recurrence_chart(each)) for each in measured if each.recurrences
            ],
            "steps": step_pictures(self.contents),
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

    def _note(self) -> str:
        if not self.sampled:
            return ""
        n = len(self.contents.cases)
        return (
            f"{len(self.chosen)} of {counted(n, 'case')} are shown: those with most disagreement, "
            "those with the clearest mistakes, and an even choice of the rest. The option "
            "--cases all writes every case, the verb view shows them without writing."
        )

    def _data(self) -> dict[str, Any]:
        """What the page's script needs to know beside the cases."""
        contents = self.contents
        return {
            "kind": contents.subject.dataset.kind,
            "source": self.source,
            "classes": [
                {"name": item.name, "colour": item.colour} for item in contents.classes.items
            ],
            "layers": [_layer(layer) for layer in self.encoder.layers],
            "reference": _reference_column(contents, self.encoder.layers),
            "referenceName": contents.reference.name,
            "cases": [self._case_entry(position) for position in self.chosen],
        }

    def _case_entry(self, position: int) -> dict[str, Any]:
        case, tally = self.contents.cases[position], self.contents.tallies[position]
        return {
            "name": case.name,
            "split": case.split,
            "raters": len(case.labels),
            "disagreement": tally.disagreement,
            "scores": [float(score) for score in tally.score],
        }


def as_json(content: Any) -> str:
    """Return JSON that is inert inside a script element, whatever the texts hold.

    Example:
        >>> "<" in as_json({"name": "</script>"}), as_json(float("nan"))
        (False, 'null')
    """
    text = json.dumps(_plain(content), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _plain(content: Any) -> Any:
    if isinstance(content, dict):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, float):
        return round(content, 4) if math.isfinite(content) else None
    return content


def _layer(layer: Layer) -> dict[str, Any]:
    return {
        "kind": layer.kind,
        "name": layer.name,
        "colour": layer.colour,
        "dash": list(layer.dash),
        "shown": layer.shown,
        "result": layer.result,
    }


def _reference_column(contents: Contents, layers: Sequence[Layer]) -> int:
    """Position of the layer that raters are measured against, or -1."""
    kinds = {"truth": "truth", "vote": "reference", "fusion": "fusion", "none": ""}
    wanted = kinds[contents.reference.kind]
    return next((i for i, layer in enumerate(layers) if layer.kind == wanted), -1)


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


def _static(name: str) -> str:
    return files("multirater.report").joinpath("static", name).read_text(encoding="utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("multirater.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": _number,
        "signed": _signed,
        "amount": _amount,
        "interval": _interval,
        "bar": interval_bar,
        "percent": percent,
        "listed": listed,
        "heat": _heat,
        "sortable": _sortable,
    }
    return environment


def _number(value: float) -> str:
    return UNKNOWN if math.isnan(value) else f"{value:.2f}"


def _signed(value: float) -> str:
    return UNKNOWN if math.isnan(value) else f"{value:+.2f}".replace("-", "\u2212")


def _amount(value: float) -> str:
    """Say a difference of sizes with its sign, to three digits."""
    if math.isnan(value):
        return UNKNOWN
    text = f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.3g}"
    return text.replace("-", "\u2212")


def _interval(figure: Figure) -> str:
    return "" if math.isnan(figure.low) else f"{figure.low:.2f} to {figure.high:.2f}"


def _heat(value: float) -> str:
    """How much of the heat colour a cell has; no more than its text can be read on."""
    return "0%" if math.isnan(value) else f"{60 * min(max(value, 0), 1):.0f}%"


def _sortable(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"
