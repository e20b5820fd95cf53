"""Examples of docstrings as code: the reader of docstrings knows the section only in the plural."""

from __future__ import annotations

import re
from typing import Any

import griffe


class ExampleSections(griffe.Extension):
    """Read `Example:` as `Examples:`."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Look at the docstring of every object."""
        if obj.docstring:
            text = obj.docstring.value
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", text, flags=re.MULTILINE)
