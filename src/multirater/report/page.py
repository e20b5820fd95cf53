"""The page: contents laid out as HTML, everything from the data escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from multirater import __version__
from multirater.report.case_data import CaseEncoder
from multirater.report.charts import interval_bar
from multirater.report.contents import Contents
from multirater.report.layers import Layer
from multirater.report.raters import Figure
from multirater.report.sections import SECTIONS, Section, Shown
from multirater.words import UNKNOWN, listed, percent

_SCRIPTS = (
    *(
        "runs.js",
        "decode.js",
        "drawing.js",
        "viewer.js",
        "panel.js",
        "zoom.js",
        "stage.js",
        "case_list.js",
        "moves.js",
    ),
    "page.js",  # last: it starts everything
)
_HERE = "<!-- cases -->"

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
        return self._environment.get_template("page.html").render(
            title=self.contents.subject.title,
            version=__version__,
            sections=self._sections(),
            css=Markup(_static("page.css")),
            script=Markup(script),
            script_hash=digest,
            data=Markup(as_json(self._data())),
            cases_here=Markup(_HERE),
        )

    @cached_property
    def _environment(self) -> Environment:
        return _environment()

    def _sections(self) -> list[tuple[Section, Markup]]:
        """Return the sections that have something to say, laid out."""
        shown = Shown(self.contents, self.chosen, self.sampled)
        found = []
        for section in SECTIONS:
            said = section.says(shown)
            if said is not None:
                template = self._environment.get_template(section.template)
                found.append((section, Markup(template.render(contents=self.contents, **said))))
        return found

    def _data(self) -> dict[str, Any]:
        """What the page's script needs to know beside the cases."""
        contents = self.contents
        return {
            "kind": contents.subject.dataset.kind,
            "source": self.source,
            "classes": [
                {"name": item.name, "colour": item.colour} for item in contents.classes.items
            ],
            "layers": [layer_json(layer) for layer in self.encoder.layers],
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


def layer_json(layer: Layer) -> dict[str, Any]:
    """Return an outline's line as plain data."""
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
