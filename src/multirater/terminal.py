"""Text from files, safe to show: names of strangers must not steer a terminal."""

from __future__ import annotations

import re

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tab and the end of a line, and those that turn the direction of text."""


def harmless(text: str) -> str:
    r"""Return a text that a terminal only shows: what would steer it is spelt out.

    Example:
        >>> harmless("case \x1b[2Jp07")
        'case \\x1b[2Jp07'
    """
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def harmless_json(text: str) -> str:
    r"""Return JSON that says the same and that a terminal only shows.

    Example:
        >>> harmless_json('{"case": "\x9b2J"}')
        '{"case": "\\u009b2J"}'
    """
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
