"""Who looks at which case: told by browsers every few seconds, and forgotten soon after."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

_SECONDS = 15.0
_MOST_BROWSERS = 100


@dataclass(eq=False)
class Presence:
    """Browsers that were heard of lately: name of the person, place of the case, and when."""

    _seen: dict[str, tuple[str, int, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def meet(
        self, browser: str, who: str, place: int, now: float | None = None
    ) -> list[tuple[str, int]]:
        """Note where a browser is, and return who else is where.

        Args:
            browser: tells two browsers of one person apart.
            who: looks.
            place: of the case they look at.
            now: in seconds; the clock's when not given.

        Example:
            >>> people = Presence()
            >>> people.meet("b1", "eva", 3, now=0), people.meet("b2", "bert", 3, now=1)
            ([], [('eva', 3)])
            >>> people.meet("b2", "bert", 4, now=60)
            []
        """
        moment = time.monotonic() if now is None else now
        with self._lock:
            self._seen[browser] = (who, place, moment)
            kept = [each for each in self._seen.items() if moment - each[1][2] < _SECONDS]
            self._seen = dict(kept[-_MOST_BROWSERS:])
            return [(w, p) for key, (w, p, _) in self._seen.items() if key != browser]
