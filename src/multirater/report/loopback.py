"""Serve on this machine only: what every page that is served has in common."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from multirater.errors import Fault, InputError
from multirater.progress import say

LOOPBACK = "127.0.0.1"
_SECONDS_TO_ASK = 15
_TEXT = "text/plain; charset=utf-8"
_ALWAYS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


class LoopbackHandler(BaseHTTPRequestHandler):
    """Answers requests that were made to this machine by its own name."""

    timeout = _SECONDS_TO_ASK
    server_version = "multirater"
    sys_version = ""

    @property
    def own_hosts(self) -> tuple[str, str]:
        """Names by which a browser on this machine knows the server."""
        address: Any = self.server.server_address
        return f"{LOOPBACK}:{address[1]}", f"localhost:{address[1]}"

    def asks_this_machine(self) -> bool:
        """Refuse other host names: a page elsewhere could point its own name here."""
        return self.headers.get("Host", "") in self.own_hosts

    def answer(
        self,
        status: HTTPStatus,
        content: bytes,
        kind: str = _TEXT,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send an answer; to HEAD, all of it but the content."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in {**_ALWAYS, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing: the user looks at the page, not at the terminal."""


class _Server(ThreadingHTTPServer):
    """A server that lets who went away go; whatever else goes wrong is told."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over connections that the other side has closed: the user did so, or a browser."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def loopback_server(port: int, handler: type[LoopbackHandler]) -> ThreadingHTTPServer:
    """Make a server that listens on this machine only.

    Args:
        port: to listen on; any free one when 0.
        handler: of its requests.
    """
    try:
        server = _Server((LOOPBACK, port), handler)
    except (OSError, OverflowError) as error:
        raise InputError(
            Fault(f"port {port} cannot be used: {error}", fix="choose another --port, or none")
        ) from None
    server.daemon_threads = True
    return server


def serve_until_stopped(server: ThreadingHTTPServer, path: str = "/") -> None:
    """Say where the page is, and serve it until interrupted.

    Args:
        server: of the page.
        path: of the page on the server.
    """
    say("the page is served on this machine only; stop it with Ctrl-C")
    print(f"http://{LOOPBACK}:{server.server_address[1]}{path}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        say("stopped")
    finally:
        server.server_close()
