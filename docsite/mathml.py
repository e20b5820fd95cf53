"""Equations as MathML, which browsers draw by themselves: no script, no font, no network."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

_INLINE = re.compile(r"\$`([^`]+)`\$")


def fence(source: str, language: str, css_class: str, *_: Any, **__: Any) -> str:
    """Return a block of LaTeX (a fence of language `math`) as MathML."""
    # Wide equations scroll, and what scrolls has to be reachable by keyboard.
    equation = convert(" ".join(source.split()), display="block")
    return f'<div class="math" role="group" aria-label="equation" tabindex="0">{equation}</div>'


def inline(markdown: str) -> str:
    """Replace $`LaTeX`$ by MathML."""
    # Within a span: Markdown takes <math> at the start of a line for a block of its own.
    return _INLINE.sub(lambda found: f"<span>{convert(found[1])}</span>", markdown)
