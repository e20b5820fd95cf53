"""Serve a report on this machine, for data too large to put into a page.

Only whoever is on this machine is served, and only the page and its cases, by number: no address
names a file, so that none outside the data set can be asked for.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Unpack

from multirater.errors import InputError
from multirater.report.contents import Choices, gather
from multirater.report.loopback import LoopbackHandler, loopback_server, serve_until_stopped
from multirater.report.page import Page
from multirater.report.report import make_page

_CACHE_BYTES = 64_000_000
_AT_A_TIME = 2
"""Cases read at the same time: each may take the memory of a volume."""

_CASE = re.compile(r"/cases/(\d{1,9})\.js")


@dataclass(eq=False)
class _Shelf:
    """Answers to requests: the page, and cases as they are asked for, the last ones kept."""

    page: Page
    html: str
    stored: OrderedDict[int, bytes] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    reading: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(_AT_A_TIME))

    def case(self, place: int) -> bytes:
        with self.lock:
            if place in self.stored:
                self.stored.move_to_end(place)
                return self.stored[place]
        with self.reading:
            content = self.page.case_script(place).encode()
        with self.lock:
            self.stored[place] = content
            while sum(map(len, self.stored.values())) > _CACHE_BYTES and len(self.stored) > 1:
                self.stored.popitem(last=False)
        return content


def make_server(
    paths: Sequence[str | Path], *, port: int = 0, **choices: Unpack[Choices]
) -> ThreadingHTTPServer:
    """Gather a report and make a server for it that listens on this machine only.

    Args:
        paths: as in `write_report`.
        port: to listen on; any free one when 0.
        choices: see `Choices`.

    Returns:
        The server; `serve_forever()` starts it.
    """
    page = make_page(gather(paths, **choices), cases="all")
    shelf = _Shelf(page, "".join(page.pieces()))
    return loopback_server(port, _handler(shelf))


def serve_report(
    paths: str | Path | Sequence[str | Path], *, port: int = 0, **choices: Unpack[Choices]
) -> None:
    """Serve a report until interrupted; images are read when they are looked at."""
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    serve_until_stopped(make_server(listed, port=port, **choices))


def _handler(shelf: _Shelf) -> type[LoopbackHandler]:
    class Handler(LoopbackHandler):
        def do_GET(self) -> None:  # noqa: N802
            if not self.asks_this_machine():
                self.answer(HTTPStatus.FORBIDDEN, b"only http://127.0.0.1 is served\n")
            elif self.path == "/":
                self.answer(HTTPStatus.OK, shelf.html.encode(), "text/html; charset=utf-8")
            else:
                self._case()

        def do_HEAD(self) -> None:  # noqa: N802
            self.do_GET()

        def _case(self) -> None:
            match = _CASE.fullmatch(self.path)
            if match is None or int(match[1]) >= len(shelf.page.chosen):
                self.answer(HTTPStatus.NOT_FOUND, b"not a part of this report\n")
                return
            try:
                content = shelf.case(int(match[1]))
            except (InputError, OSError) as error:
                self.answer(HTTPStatus.INTERNAL_SERVER_ERROR, f"{error}\n".encode())
                return
            self.answer(HTTPStatus.OK, content, "text/javascript; charset=utf-8")

    return Handler
