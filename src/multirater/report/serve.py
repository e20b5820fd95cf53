"""Serve a report on this machine, for data too large to put into a page.

Only whoever is on this machine is served, and only the page and its cases, by number: no address
names a file, so that none outside the data set can be asked for.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError
from multirater.progress import say
from multirater.report.contents import gather
from multirater.report.page import Page
from multirater.report.report import make_page

LOOPBACK = "127.0.0.1"
_CACHE_BYTES = 64_000_000
_AT_A_TIME = 2
"""Cases read at the same time: each may take the memory of a volume."""

_SECONDS_TO_ASK = 15
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
    paths: Sequence[str | Path],
    *,
    port: int = 0,
    raters: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    gold: str | Path | None = None,
    seed: int = 0,
    workers: int = 1,
) -> ThreadingHTTPServer:
    """Gather a report and make a server for it that listens on this machine only.

    Args:
        paths: as in `write_report`.
        port: to listen on; any free one when 0.
        raters: as in `write_report`.
        exclude: the same.
        gold: the same.
        seed: of the draws behind intervals.
        workers: number of processes that read.

    Returns:
        The server; `serve_forever()` starts it.
    """
    contents = gather(paths, raters=raters, exclude=exclude, gold=gold, seed=seed, workers=workers)
    page = make_page(contents, cases="all")
    shelf = _Shelf(page, "".join(page.pieces()))
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), _handler(shelf))
    except (OSError, OverflowError) as error:
        raise InputError(
            Fault(f"port {port} cannot be used: {error}", fix="choose another --port, or none")
        ) from None
    server.daemon_threads = True
    return server


def serve_report(
    paths: str | Path | Sequence[str | Path],
    *,
    port: int = 0,
    raters: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    gold: str | Path | None = None,
    seed: int = 0,
    workers: int = 1,
) -> None:
    """Serve a report until interrupted; images are read when they are looked at.

    Args:
        paths: as in `write_report`.
        port: to listen on; any free one when 0.
        raters: as in `write_report`.
        exclude: the same.
        gold: the same.
        seed: of the draws behind intervals.
        workers: number of processes that read.
    """
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    server = make_server(
        listed, port=port, raters=raters, exclude=exclude, gold=gold, seed=seed, workers=workers
    )
    say("the page is served on this machine only; stop it with Ctrl-C")
    print(f"http://{LOOPBACK}:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        say("stopped")
    finally:
        server.server_close()


def _handler(shelf: _Shelf) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _SECONDS_TO_ASK
        server_version = "multirater"
        sys_version = ""

        def do_GET(self) -> None:
            if not self._asks_this_machine():
                self._answer(HTTPStatus.FORBIDDEN, b"only http://127.0.0.1 is served\n")
            elif self.path == "/":
                self._answer(HTTPStatus.OK, shelf.html.encode(), "text/html; charset=utf-8")
            else:
                self._case()

        def do_HEAD(self) -> None:
            self.do_GET()

        def _case(self) -> None:
            match = _CASE.fullmatch(self.path)
            if match is None or int(match[1]) >= len(shelf.page.chosen):
                self._answer(HTTPStatus.NOT_FOUND, b"not a part of this report\n")
                return
            try:
                content = shelf.case(int(match[1]))
            except (InputError, OSError) as error:
                self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, f"{error}\n".encode())
                return
            self._answer(HTTPStatus.OK, content, "text/javascript; charset=utf-8")

        def _asks_this_machine(self) -> bool:
            """Refuse other host names: a page elsewhere could point its own name here."""
            address: Any = self.server.server_address
            host = self.headers.get("Host", "")
            return host in (f"{LOOPBACK}:{address[1]}", f"localhost:{address[1]}")

        def _answer(
            self, status: HTTPStatus, content: bytes, kind: str = "text/plain; charset=utf-8"
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Cross-Origin-Resource-Policy", "same-origin")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing: the user looks at the page, not at the terminal."""

    return Handler
