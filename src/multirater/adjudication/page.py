"""The page: one file with its scripts and what is known of the study."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from multirater import __version__
from multirater.report.page import as_json

_OF_REPORT = ("runs.js", "drawing.js", "panel.js", "zoom.js")
_OWN = ("desk.js", "talk.js", "canvas.js", "regions.js", "tools.js", "choices.js", "keys.js")
_LAST = "start.js"


def page_html(study: dict[str, Any]) -> str:
    """Return the page.

    Args:
        study: what it is told, see `content.study_json`.
    """
    own = "multirater.adjudication"
    scripts = [_static("multirater.report", name) for name in _OF_REPORT]
    scripts += [_static(own, name) for name in (*_OWN, _LAST)]
    script = "\n".join(scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = Environment(
        loader=PackageLoader(own),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    css = _static("multirater.report", "page.css") + _static(own, "adjudicate.css")
    return environment.get_template("adjudicate.html").render(
        study=study,
        css=Markup(css),
        script=Markup(script),
        script_hash=digest,
        data=Markup(as_json(study)),
        version=__version__,
    )


def _static(package: str, name: str) -> str:
    return files(package).joinpath("static", name).read_text(encoding="utf-8")
