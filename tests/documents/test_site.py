"""The site: no warning, every link leads somewhere, nothing is fetched, all can read it.

`MULTIRATER_ALL_PAGES=1` looks at every page in the browser instead of a few.
"""

import os
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
from browser import headless_chromium

ROOT = Path(__file__).parents[2]
LOOKED_AT = ("index.html", "tutorials/masks.html", "methods.html", "api/fuse.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    if not find_spec("mkdocs") or not find_spec("material"):
        pytest.skip("no mkdocs: make setup")
    target = tmp_path_factory.mktemp("site")
    words = ["mkdocs", "build", "--strict", "--site-dir", target]
    built = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-3000:]
    return target


class Links(HTMLParser):
    """What a page links to, what it loads, and the places in it."""

    def __init__(self):
        super().__init__()
        self.links, self.loaded, self.places = [], [], set()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if found.get("id"):
            self.places.add(found["id"])
        if tag == "a" and found.get("name"):
            self.places.add(found["name"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag in ("img", "script") and found.get("src"):
            self.loaded.append(found["src"])
        elif tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(found["href"])


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Links]:
    found = {}
    for path in site.rglob("*.html"):
        found[path] = Links()
        found[path].feed(path.read_text(encoding="utf-8"))
    return found


def test_every_link_leads_somewhere(site, pages):
    broken = []
    for page, content in pages.items():
        if page.name == "404.html":  # has the addresses of a server's root
            continue
        for link in [*content.links, *content.loaded]:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            lost = parts.fragment and target in pages and _is_lost(parts.fragment, pages[target])
            if not target.is_file() or lost:
                broken.append((page.relative_to(site).as_posix(), link))
    assert broken == []


def _is_lost(fragment, content):
    return unquote(fragment) not in content.places and not fragment.startswith("__")


def test_nothing_is_loaded_from_elsewhere(pages):
    foreign = {each for page in pages.values() for each in page.loaded if urlsplit(each).netloc}
    assert foreign == set()


def test_every_name_of_the_package_is_in_the_reference(site):
    import multirater

    text = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    names = [name for name in multirater.__all__ if name.islower() or name[0].isupper()]
    assert [name for name in names if name not in text] == []
    for each in ("staple", "dice_score", "GlobalConfusion", "TrainConfig"):
        assert f".{each}" in text or f">{each}<" in text


def test_spelling():
    if not find_spec("codespell_lib"):
        pytest.skip("no codespell: make setup")
    done = subprocess.run(
        [sys.executable, "-m", "codespell_lib"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == ""


@pytest.fixture(scope="module")
def address(site):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    with headless_chromium() as found:
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_phones_and_desks_and_axe_finds_nothing(site, address, browser, scheme):
    from axe_playwright_python.sync_playwright import Axe

    every = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    chosen = every if os.environ.get("MULTIRATER_ALL_PAGES") else LOOKED_AT
    found = []
    for width in (360, 1440):
        window = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
        tab = browser.new_context(**window).new_page()
        asked = []
        tab.on("request", lambda request, asked=asked: asked.append(request.url))
        for name in chosen:
            tab.goto(f"{address}/{name}")
            shown = tab.evaluate("document.body.dataset.mdColorScheme")
            assert shown == {"light": "default", "dark": "slate"}[scheme]
            wide = tab.evaluate("document.documentElement.scrollWidth")
            broken = [each["id"] for each in Axe().run(tab).response["violations"]]
            if wide > width or broken:
                found.append((name, width, wide, broken))
        assert [each for each in asked if not each.startswith((address, "data:"))] == []
    assert found == []


def test_links_to_elsewhere_are_whole_addresses(pages):
    """They are not followed: nothing of the suite needs a network."""
    foreign = {each for page in pages.values() for each in page.links if urlsplit(each).scheme}
    wrong = [
        each
        for each in foreign
        if urlsplit(each).scheme not in ("https", "mailto")
        or (urlsplit(each).scheme == "https" and "." not in urlsplit(each).netloc)
        or " " in each
    ]
    assert wrong == []


def test_the_search_finds_a_method(address, browser):
    tab = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    tab.goto(f"{address}/index.html")
    tab.click("input[name=query]")
    tab.keyboard.type("Spatial STAPLE")
    result = tab.wait_for_selector(".md-search-result__link", timeout=60_000)
    assert result.get_attribute("href")
