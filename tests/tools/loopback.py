"""Servers of labelling tools on loopback, for the scripts beside this file."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib import request
from urllib.error import HTTPError, URLError

HOST = "127.0.0.1"
_WAIT_SECONDS = 3000
"""Until a server answers: the first start of some makes their whole data base."""


class Server:
    """The API of a server that runs.

    Args:
        address: such as `http://127.0.0.1:8080`.
        headers: of every request.
    """

    def __init__(self, address: str, headers: Mapping[str, str] | None = None) -> None:
        self.address = address
        self.headers = dict(headers or {})

    def call(self, method: str, path: str, content: Any = None) -> Any:
        """Send JSON, or nothing, and return the answer, as JSON if it is."""
        body = None if content is None else json.dumps(content).encode()
        return self._send(method, path, body, "application/json")

    def upload(
        self,
        method: str,
        path: str,
        files: Sequence[tuple[str, Path]],
        fields: Mapping[str, str] | None = None,
    ) -> Any:
        """Send files, each under a name, and fields beside them, as a browser does."""
        border = uuid.uuid4().hex
        said = "Content-Disposition: form-data; name"
        body = b""
        for name, text in (fields or {}).items():
            body += f'--{border}\r\n{said}="{name}"\r\n\r\n{text}\r\n'.encode()
        for name, file in files:
            body += f'--{border}\r\n{said}="{name}"; filename="{file.name}"\r\n'.encode()
            body += b"Content-Type: application/octet-stream\r\n\r\n" + file.read_bytes() + b"\r\n"
        body += f"--{border}--\r\n".encode()
        return self._send(method, path, body, f"multipart/form-data; boundary={border}")

    def _send(self, method: str, path: str, body: bytes | None, kind: str) -> Any:
        headers = {"Content-Type": kind, **self.headers}
        asked = request.Request(f"{self.address}{path}", body, headers, method=method)
        try:
            with request.urlopen(asked, timeout=300) as answer:
                content = answer.read()
        except HTTPError as error:
            sys.exit(f"{method} {path}: {error.code} {error.read()[:500]!r}")
        try:
            return json.loads(content) if content else None
        except ValueError:
            return content


@contextlib.contextmanager
def started(
    words: Sequence[str],
    log: Path,
    port: int,
    *,
    health: str,
    headers: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """Start a server, wait until it answers, and end it at last.

    Args:
        words: its command.
        log: what it prints.
        port: where it listens.
        health: a path that answers when it is ready.
        headers: of every request.
        environment: variables beside those there are.
    """
    address = f"http://{HOST}:{port}"
    with log.open("w") as stream:
        process = subprocess.Popen(
            words, stdout=stream, stderr=stream, env={**os.environ, **(environment or {})}
        )
    try:
        for _ in range(_WAIT_SECONDS):
            with contextlib.suppress(URLError, OSError):
                request.urlopen(f"{address}{health}", timeout=5)
                break
            if process.poll() is not None:
                sys.exit(f"the server ended by itself: see {log}")
            time.sleep(1)
        else:
            sys.exit("the server did not answer")
        yield Server(address, headers)
    finally:
        process.terminate()
        process.wait(timeout=60)


def run(*words: object) -> None:
    """Run multirater as a user would."""
    print("$ multirater", *words, flush=True)
    subprocess.run([sys.executable, "-m", "multirater", *map(str, words)], check=True)
