import http.client
import socket
import threading

import pytest

from multirater.errors import InputError
from multirater.report.serve import make_server


@pytest.fixture(scope="module")
def server(kinds):
    made = make_server([kinds["truth"]])
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


def ask(server, path, method="GET", host=None):
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_the_page_and_its_cases_are_served(server):
    status, page = ask(server, "/")
    assert status == 200
    assert b"<!doctype html>" in page
    status, case = ask(server, "/cases/7.js")
    assert status == 200
    assert case.startswith(b"multiraterCase(7, {")
    assert ask(server, "/cases/7.js")[1] == case


@pytest.mark.parametrize(
    "path",
    [
        "/cases/8.js",
        "/cases/-1.js",
        "/cases/../../etc/passwd",
        "/../manifest.csv",
        "/manifest.csv",
        "/cases/%2e%2e/manifest.csv",
        "//etc/passwd",
        "/cases/99999999999999999999.js",
        "/cases/7.js?x=1",
    ],
)
def test_nothing_else_is(server, path):
    status, content = ask(server, path)
    assert status == 404
    assert content == b"not a part of this report\n"


def test_only_this_machine_may_ask(server):
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, "/", host="evil.example")[0] == 403
    assert ask(server, "/cases/0.js", host="evil.example:80")[0] == 403


def test_nothing_can_be_changed(server):
    assert ask(server, "/", method="POST")[0] == 501
    status, content = ask(server, "/", method="HEAD")
    assert (status, content) == (200, b"")


def test_a_taken_port_is_named(kinds):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="cannot be used"):
            make_server([kinds["single rater"]], port=taken.getsockname()[1])
