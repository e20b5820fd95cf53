"""Dates as tables hold them: ISO 8601, a day or a time."""

from __future__ import annotations

from datetime import UTC, datetime

_SECONDS = 86400


def day_of(text: str) -> float:
    """Return a date or time as days since 1970; NaN where it is none. Times without zone are UTC.

    Example:
        >>> day_of("1970-01-03"), day_of("1970-01-03T12:00Z"), day_of("soon")
        (2.0, 2.5, nan)
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        known = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return known.timestamp() / _SECONDS
    except (ValueError, OverflowError):
        return float("nan")


def date_of(day: float) -> str:
    """Return the date of a day since 1970.

    Example:
        >>> date_of(2.5)
        '1970-01-03'
    """
    return datetime.fromtimestamp(day * _SECONDS, UTC).date().isoformat()
