import http.client
import json
import urllib.parse

import pytest

from multirater.adjudication.server import MOST_BYTES

TAKE = {"act": "take", "layer": 0, "revision": 0, "who": "eva", "why": ""}


def ask(address, path="", method="GET", content=None, absolute=None, **headers):
    """Ask the server; headers by name, with _ for -; None leaves a header out."""
    url = urllib.parse.urlsplit(address)
    own = {"Host": url.netloc}
    body = None
    if content is not None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        own |= {"Origin": f"http://{url.netloc}", "Content-Type": "application/json"}
        own["Content-Length"] = str(len(body))
    own |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", url.port, timeout=20)
    connection.putrequest(method, absolute or url.path + path, skip_host=True)
    for name, value in own.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.read()
    connection.close()
    return answer, found


def post(address, path, content, **headers):
    answer, found = ask(address, path, "POST", content, **headers)
    return answer.status, json.loads(found) if found.startswith(b"{") else found


def test_page_cases_and_slices_are_served(served):
    with served("masks") as (_, address):
        answer, page = ask(address)
        assert answer.status == 200
        assert b"the last word" in page
        assert answer.getheader("X-Frame-Options") == "DENY"
        assert answer.getheader("Cache-Control") == "no-store"
        case = json.loads(ask(address, "cases/0")[1])
        assert case["raters"] == [0, 1, 2]
        assert sum(case["views"][0]["disputed"]) == 44
        found = json.loads(ask(address, "cases/0/0/0")[1])
        assert (found["height"], found["width"], found["revision"]) == (24, 24, 0)
        assert ask(address, method="HEAD")[1] == b""


def test_a_decision_is_kept_and_told(served):
    with served("masks") as (desk, address):
        status, told = post(address, "cases/0", TAKE)
        assert (status, told["now"]["state"], told["now"]["revision"]) == (200, "decided", 1)
        assert "labels/" not in json.dumps(told), "files are nobody's business"
        asked = {"since": 0, "place": 0, "who": "bert", "browser": "b"}
        _, news = post(address, "news", asked)
        assert [(each["place"], each["now"]["who"]) for each in news["changed"]] == [(0, "eva")]
        _, later = post(address, "news", {**asked, "since": news["count"], "browser": "c"})
        assert later["changed"] == []
        assert later["here"] == [{"who": "bert", "place": 0}]
        assert desk.gold.changed(0)[0] == 1


def test_two_people_do_not_overwrite_one_another(served):
    with served("masks") as (desk, address):
        assert post(address, "cases/0", TAKE)[0] == 200
        status, told = post(address, "cases/0", {**TAKE, "layer": 1, "who": "bert"})
        assert (status, told["now"]["who"]) == (409, "eva")
        assert desk.gold.now("s2").how == "drawing of anna"


@pytest.mark.parametrize(
    "path",
    [
        *("cases/3", "cases/-1", "cases/0/0/1", "cases/0/3/0", "cases/0/0/99", "cases/0/0"),
        *("manifest.csv", "../manifest.csv", "cases/../../decisions.jsonl", "labels/s2.1.png"),
        *("cases/%30", "cases/0?x=1", "cases/999999999", "decisions.jsonl", "//etc/passwd"),
    ],
)
def test_no_file_goes_by_its_name(served, path):
    with served("masks") as (_, address):
        answer, found = ask(address, path)
        assert (answer.status, found) == (404, b"not a part of this\n")


def test_without_the_token_there_is_nothing(served):
    with served("masks") as (desk, address):
        for path in ("/", "/cases/0", f"/{desk.token}x/", f"/{desk.token[:-1]}/", f"/{desk.token}"):
            answer, found = ask(address, absolute=path)
            assert (answer.status, found) == (404, b"not a part of this\n")
        assert len(desk.token) >= 24
        answer, _ = ask(address, absolute="/wrong/cases/0", method="POST", content=TAKE)
        assert answer.status == 404
        assert desk.gold.changed(0)[0] == 0


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": None}, 403),
        ({"Origin": "https://127.0.0.1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content_Length": None}, 411),
        ({"Content_Length": "-1"}, 411),
        ({"Content_Length": str(MOST_BYTES + 1)}, 413),
    ],
)
def test_no_other_page_can_decide(served, headers, status):
    with served("masks") as (desk, address):
        answer, _ = ask(address, "cases/0", "POST", TAKE, **headers)
        assert answer.status == status
        assert desk.gold.changed(0)[0] == 0


def test_pages_elsewhere_cannot_look_either(served):
    with served("masks") as (_, address):
        assert ask(address, "cases/0", Sec_Fetch_Site="cross-site")[0].status == 403
        assert ask(address, "cases/0", Host="evil.example:80")[0].status == 403


@pytest.mark.parametrize("content", [b"{", b"[" * 100_000, b"\xff\xfe", b"", b'{"act": '])
def test_what_is_not_json_is_refused(served, content):
    with served("masks") as (desk, address):
        assert post(address, "cases/0", content)[0] == 400
        assert desk.gold.changed(0)[0] == 0


@pytest.mark.parametrize("content", [[], 1, None, "take", {}, {"act": "take"}])
def test_what_is_no_act_is_said(served, content):
    with served("masks") as (desk, address):
        status, told = post(address, "cases/0", json.dumps(content).encode())
        assert status == 400
        assert told["error"]
        assert post(address, "news", json.dumps(content).encode())[0] in (400, 404)
        assert desk.gold.changed(0)[0] == 0


def test_other_verbs_are_not_there(served):
    with served("masks") as (_, address):
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
            assert ask(address, "cases/0", method)[0].status == 501


def test_the_server_listens_on_this_machine_only(desk_of):
    from multirater.adjudication.server import make_server

    with desk_of("masks") as desk:
        server = make_server(desk)
        assert server.server_address[0] == "127.0.0.1"
        server.server_close()
