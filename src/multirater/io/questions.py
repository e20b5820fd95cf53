"""Several questions about one image, as a case each: `eye [drusen]`, and how they come together."""

from __future__ import annotations

import re

YES, NO = "yes", "no"
"""Answers where the question is whether an option was among those chosen."""

_QUESTION = re.compile(r"(?s)(.+) \[(.+)\]")


def question_name(image: str, asked: str) -> str:
    """Name the case of one question about an image.

    Example:
        >>> question_name("eye", "drusen")
        'eye [drusen]'
    """
    return f"{image} [{asked}]"


def question_of(case: str) -> tuple[str, str] | None:
    """Return the image and the question that a case is named after; None for other cases.

    Example:
        >>> question_of("eye [drusen]"), question_of("eye")
        (('eye', 'drusen'), None)
    """
    match = _QUESTION.fullmatch(case)
    return None if match is None else (match[1], match[2])
