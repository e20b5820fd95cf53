"""Serve adjudication on this machine only.

Every address begins with a token that only the terminal shows. No address names a file: cases go by
their number. Nothing is changed but by JSON from the page itself: another origin, host name or kind
of content is refused, and so is more than a stroke of the brush can hold.
"""

from __future__ import annotations

import getpass
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from multirater.adjudication.acts import BadActError, act
from multirater.adjudication.content import case_json, decision_json, slice_json, study_json
from multirater.adjudication.disputed_study import DisputedStudy, disputed_study
from multirater.adjudication.gold_folder import GoldFolder, StaleError, gold_folder
from multirater.adjudication.page import page_html
from multirater.adjudication.presence import Presence
from multirater.errors import InputError
from multirater.progress import say
from multirater.report.loopback import LoopbackHandler, loopback_server, serve_until_stopped
from multirater.report.page import as_json
from multirater.types import Dataset
from multirater.words import counted

MOST_BYTES = 4_000_000
"""Of what a page may send at once."""

_JSON = "application/json"
_ADDRESS = re.compile(r"/([\w-]{1,64})/(.*)", re.ASCII)
_CASE = re.compile(r"cases/(\d{1,9})", re.ASCII)
_SLICE = re.compile(r"cases/(\d{1,9})/([012])/(\d{1,6})", re.ASCII)
_HTML_HEADERS = {"X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin"}


@dataclass(eq=False)
class Desk:
    """Everything a request may ask for."""

    study: DisputedStudy
    gold: GoldFolder
    title: str
    who: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    people: Presence = field(default_factory=Presence)

    def __post_init__(self) -> None:
        self.place_of = {self.study.case(i).name: i for i in range(len(self.study.order))}

    def page(self) -> bytes:
        """Return the page, as the study stands now."""
        return page_html(study_json(self.study, self.gold, self.title, self.who)).encode()

    def news(self, asked: Any) -> dict[str, Any]:
        """Say what changed since the page last asked, and who else is here."""
        since, place = asked.get("since"), asked.get("place")
        if not isinstance(since, int) or not isinstance(place, int):
            raise BadActError("since and place must be numbers")
        browser, who = str(asked.get("browser", ""))[:40], str(asked.get("who", ""))[:80]
        others = self.people.meet(browser, who, place)
        count, changed = self.gold.changed(since)
        return {
            "count": count,
            "changed": [
                {"place": self.place_of[each.case], "now": decision_json(each)}
                for each in changed
                if each.case in self.place_of
            ],
            "here": [{"who": who, "place": where} for who, where in others],
        }


@contextmanager
def make_desk(dataset: Dataset, folder: str | Path, *, workers: int = 1) -> Iterator[Desk]:
    """Survey a study and open the folder of its decisions, until the block ends.

    Args:
        dataset: the study.
        folder: of the decisions.
        workers: number of processes that read.
    """
    study = disputed_study(dataset, workers=workers)
    with gold_folder(folder, study.found) as gold:
        title = "study" if dataset.folder is None else dataset.folder.resolve().name
        yield Desk(study, gold, title, _login())


def make_server(desk: Desk, *, port: int = 0) -> ThreadingHTTPServer:
    """Make a server for a desk that listens on this machine only; `serve_forever()` starts it."""
    return loopback_server(port, _handler(desk))


def serve_adjudication(
    dataset: Dataset, folder: str | Path, *, port: int = 0, workers: int = 1
) -> None:
    """Let experts decide the disputed cases of a study in the browser, until interrupted.

    Args:
        dataset: the study.
        folder: where decisions are kept, each at once; one that was begun is gone on with.
        port: to listen on; any free one when 0.
        workers: number of processes that read.
    """
    with make_desk(dataset, folder, workers=workers) as desk:
        server = make_server(desk, port=port)
        say(f"{counted(len(desk.study.order), 'disputed case')}; decisions go to {folder}")
        say("who has the address may decide: give it to nobody else")
        serve_until_stopped(server, f"/{desk.token}/")


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user
        return ""


class _RefusedError(Exception):
    """A request that is not answered: the status and words to say so."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.status = status


def _handler(desk: Desk) -> type[LoopbackHandler]:
    class Handler(LoopbackHandler):
        def do_GET(self) -> None:  # noqa: N802
            self._answered(self._get)

        def do_HEAD(self) -> None:  # noqa: N802
            self._answered(self._get)

        def do_POST(self) -> None:  # noqa: N802
            self._answered(self._post)

        def _answered(self, respond: Callable[[str], None]) -> None:
            try:
                respond(self._asked_for())
            except _RefusedError as error:
                self.close_connection = True
                self.answer(error.status, f"{error}\n".encode())
            except BadActError as error:
                self._say(HTTPStatus.BAD_REQUEST, {"error": str(error)})
            except StaleError as error:
                self._say(HTTPStatus.CONFLICT, {"now": decision_json(error.now)})
            except (InputError, OSError) as error:
                if isinstance(error, ConnectionError | TimeoutError):
                    raise
                self._say(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": str(error)})

        def _asked_for(self) -> str:
            """Return the address after the token, if host, token and origin are right."""
            if not self.asks_this_machine():
                raise _RefusedError(HTTPStatus.FORBIDDEN, "only http://127.0.0.1 is served")
            if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
                raise _RefusedError(HTTPStatus.FORBIDDEN, "asked for by another page")
            match = _ADDRESS.fullmatch(self.path)
            if match is None or not hmac.compare_digest(match[1], desk.token):
                raise _RefusedError(HTTPStatus.NOT_FOUND, "not a part of this")
            return match[2]

        def _get(self, asked: str) -> None:
            if not asked:
                kind = "text/html; charset=utf-8"
                self.answer(HTTPStatus.OK, desk.page(), kind, _HTML_HEADERS)
                return
            found = None
            if match := _SLICE.fullmatch(asked):
                place, view, number = map(int, match.groups())
                if place < len(desk.study.order):
                    found = slice_json(desk.study, desk.gold, place, view, number)
            elif (match := _CASE.fullmatch(asked)) and int(match[1]) < len(desk.study.order):
                found = case_json(desk.study, desk.gold, int(match[1]))
            if found is None:
                raise _RefusedError(HTTPStatus.NOT_FOUND, "not a part of this")
            self._say(HTTPStatus.OK, found)

        def _post(self, asked: str) -> None:
            sent = self._sent()
            if asked == "news" and isinstance(sent, dict):
                self._say(HTTPStatus.OK, desk.news(sent))
                return
            match = _CASE.fullmatch(asked)
            if match is None or int(match[1]) >= len(desk.study.order):
                raise _RefusedError(HTTPStatus.NOT_FOUND, "not a part of this")
            after = act(desk.study, desk.gold, int(match[1]), sent)
            self._say(HTTPStatus.OK, {"now": decision_json(after)})

        def _sent(self) -> Any:
            """Read JSON that the page itself sent, and not too much of it."""
            origins = [f"http://{host}" for host in self.own_hosts]
            if self.headers.get("Origin") not in origins:
                raise _RefusedError(HTTPStatus.FORBIDDEN, "sent by another page")
            if self.headers.get_content_type() != _JSON:
                raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send JSON")
            length = self.headers.get("Content-Length", "")
            if not re.fullmatch(r"\d{1,12}", length, re.ASCII):
                raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "say how much is sent")
            if int(length) > MOST_BYTES:
                raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too much at once")
            try:
                return json.loads(self.rfile.read(int(length)))
            except (ValueError, RecursionError):
                raise _RefusedError(HTTPStatus.BAD_REQUEST, "that is not JSON") from None

        def _say(self, status: HTTPStatus, content: Any) -> None:
            self.answer(status, as_json(content).encode(), _JSON)

    return Handler
