"""The page as people use it: opened from disk in a browser."""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path

import pytest

from multirater.demo import run_demo
from multirater.report import write_report
from multirater.report.serve import make_server

_spec = importlib.util.spec_from_file_location("browser", Path(__file__).with_name("browser.py"))
browser_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(browser_module)

KINDS = ("no truth", "no images", "single rater", "forty raters", "volumes", "classes", "wicked")
WIDTHS = (360, 1440)
STUDIES = ("2 raters", "15 raters", "60 raters", "volumes", "classes")

OVERFLOWING = """() => {
  const width = document.documentElement.clientWidth;
  const clipped = (e) => {
    for (let p = e.parentElement; p; p = p.parentElement)
      if (getComputedStyle(p).overflowX !== 'visible') return true;
    return false;
  };
  return [...document.querySelectorAll('body *')]
    .filter((e) => e.getBoundingClientRect().right > width + 1 && !clipped(e))
    .map((e) => `${e.tagName}.${e.className}`).slice(0, 5);
}"""


@pytest.fixture(scope="module")
def chromium():
    with browser_module.headless_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def demo_page(tmp_path_factory, chromium):
    """The demo's page; the browser is looked for first, since a demo takes its time."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    for _ in run_demo(folder, n_cases=12, epochs=1):
        pass
    return folder / "report.html"


@pytest.fixture(scope="module")
def pages(kinds, tmp_path_factory, chromium):
    """Pages of every kind of data set."""
    folder = tmp_path_factory.mktemp("pages")
    return {
        kind: write_report(kinds[kind], folder / f"{number}.html")
        for number, kind in enumerate(dict.fromkeys((*KINDS, *STUDIES)))
    }


@pytest.fixture
def visit(chromium):
    """Open pages from disk; at the end nothing may have gone wrong in any of them."""
    opened, troubles = [], []

    def open_page(path, *, width=1440, scheme="light"):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        page.on("console", lambda m: m.type == "error" and troubles.append(m.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request",
            lambda r: (
                r.url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:"))
                or troubles.append(r.url)
            ),
        )
        address = path if str(path).startswith("http") else Path(path).as_uri()
        page.goto(address)
        page.evaluate("show(0)")
        opened.append(context)
        return page

    yield open_page
    for context in opened:
        context.close()
    assert troubles == []


def drawn(page):
    """What is on the stage, once it is drawn."""
    return page.evaluate("draw().then(() => document.getElementById('canvas').toDataURL())")


def n_colours(page, selector):
    """How many colours a canvas has: one, when nothing was drawn."""
    return page.evaluate(
        """(selector) => {
          const canvas = document.querySelector(selector);
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(data.buffer)).size;
        }""",
        selector,
    )


def case_name(page):
    return page.evaluate("document.getElementById('case-name').firstChild.textContent")


def scroll_through(page):
    page.evaluate(
        """async () => {
          for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
            window.scrollTo(0, y);
            await new Promise((done) => setTimeout(done, 30));
          }
        }"""
    )


def test_toggles_change_what_is_drawn(demo_page, visit):
    page = visit(demo_page)
    before = drawn(page)
    page.get_by_role("checkbox", name="over", exact=False).first.uncheck()
    without = drawn(page)
    assert without != before
    page.get_by_role("checkbox", name="over", exact=False).first.check()
    assert drawn(page) == before
    page.locator("#stage").focus()
    page.keyboard.press("2")
    assert drawn(page) == without


def test_overlays_have_an_opacity(demo_page, visit):
    page = visit(demo_page)
    page.evaluate("show(report.cases.findIndex((each) => each.split === 'test'))")
    plain = drawn(page)
    options = page.locator("#overlay option").all_text_contents()
    assert "disagreement among raters" in options
    assert "mistakes of blank" in options
    assert any(option.startswith("entropy of network auto") for option in options)
    assert any(option.startswith("good: draws background for digit") for option in options)
    maps = [option for option in options if "network auto" in option]
    for option in (*options[1:3], *maps[:2]):
        page.select_option("#overlay", label=option)
        strong = drawn(page)
        page.locator("#opacity").fill("10")
        assert drawn(page) != strong
        page.locator("#opacity").fill("60")
    assert strong != plain


def test_arrow_keys_move_between_cases(demo_page, visit):
    page = visit(demo_page)
    names = page.evaluate("report.cases.map((each) => each.name)")
    page.locator("#stage").focus()
    assert case_name(page) == names[0]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert case_name(page) == names[2]
    page.keyboard.press("ArrowLeft")
    assert case_name(page) == names[1]
    page.locator("#opacity").focus()
    page.keyboard.press("ArrowRight")
    assert case_name(page) == names[1], "a slider keeps its own arrow keys"
    page.get_by_role("button", name="Previous case").click()
    assert case_name(page) == names[0]
    page.keyboard.press("ArrowLeft")
    assert case_name(page) == names[0]


def test_the_worst_case_comes_first_and_cases_are_found_by_name(demo_page, visit):
    page = visit(demo_page)
    values = page.evaluate("report.cases.map((each) => each.disagreement)")
    assert values == sorted(values, reverse=True)
    page.get_by_label("Find a case by name").fill("test-0001")
    page.locator("#case-list button").click()
    assert case_name(page) == "test-0001"


def test_zoom_and_pan(demo_page, visit):
    page = visit(demo_page)
    whole = drawn(page)
    page.get_by_role("button", name="Zoom in").click()
    zoomed = drawn(page)
    box = page.locator("#stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30)
    page.mouse.up()
    assert len({whole, zoomed, drawn(page)}) == 3
    page.get_by_role("button", name="Show the whole image").click()
    assert drawn(page) == whole


def test_tables_sort(demo_page, visit):
    page = visit(demo_page)
    head = page.locator("#rater-table thead th").nth(2)

    def skills():
        cells = page.locator("#rater-table tbody tr td:nth-child(3)")
        return [float(cell.get_attribute("data-value")) for cell in cells.all()]

    head.get_by_role("button").click()
    assert skills() == sorted(skills(), reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    head.get_by_role("button").click()
    assert skills() == sorted(skills())
    assert head.get_attribute("aria-sort") == "ascending"
    page.locator("#rater-table thead button").first.click()
    names = page.locator("#rater-table tbody th").all_text_contents()
    assert names == sorted(names)


def test_mistakes_are_drawn_and_lead_to_the_viewer(demo_page, visit):
    page = visit(demo_page)
    scroll_through(page)
    page.evaluate("drawMistake(document.querySelector('.mistake[data-rater=\"1\"]'))")
    assert n_colours(page, '.mistake[data-rater="1"] canvas') > 3
    mistake = page.locator('.mistake[data-rater="1"]').first
    name = mistake.locator(".name").text_content()
    mistake.click()
    page.locator("#case-name", has_text=name).wait_for()
    assert page.locator("#overlay").input_value() == "error 1"
    assert page.locator("#layer-1").is_checked()
    assert not page.locator("#layer-0").is_checked()


def test_one_section_can_be_printed_alone(demo_page, visit):
    page = visit(demo_page)
    page.evaluate("window.print = () => {}")
    buttons = page.locator(".print-one")
    chosen, other = (f"#{buttons.nth(n).get_attribute('data-section')}" for n in (1, 0))
    buttons.nth(1).click()
    page.locator("body.one-section").wait_for()
    page.emulate_media(media="print")
    assert page.locator(chosen).is_visible()
    assert not page.locator(other).is_visible()
    assert not page.locator("#viewer").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1440, "dark")])
def test_nothing_overflows_and_axe_finds_nothing(demo_page, visit, width, scheme):
    page = visit(demo_page, width=width, scheme=scheme)
    scroll_through(page)
    assert page.evaluate(OVERFLOWING) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:120]) for each in found]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("study", STUDIES)
def test_studies_fit_phones_and_desks_and_axe_finds_nothing(pages, visit, study, width):
    page = visit(pages[study], width=width)
    scroll_through(page)
    assert page.evaluate(OVERFLOWING) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    for summary in page.locator("details.terms > summary, details.more > summary").all():
        summary.click()
    assert page.evaluate(OVERFLOWING) == []
    assert page.evaluate(EMPTY) == []


EMPTY = """() => [...document.querySelectorAll('td, th, dd, li, p, h2, h3, figcaption')]
  .filter((e) => e.offsetParent && !e.textContent.trim() && !e.querySelector('canvas, img, svg')
    && !e.matches('.self, .matrix thead td, .cm thead td, #stage-note, [aria-live]'))
  .map((e) => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize(("study", "numbers"), [("2 raters", 2), ("15 raters", 210)])
def test_numbers_of_pairs_are_seen_where_they_fit(pages, visit, study, numbers):
    page = visit(pages[study])
    cells = page.locator(".matrix tbody td:not(.self) span")
    assert cells.count() == numbers
    assert cells.first.bounding_box()["width"] > 10
    assert page.locator(".matrix").evaluate(
        "(matrix) => [...matrix.querySelectorAll('td span')]"
        ".every((each) => each.offsetWidth <= each.parentNode.clientWidth)"
    )


def test_sixty_raters_are_colours_with_their_numbers_at_hand(pages, visit):
    page = visit(pages["60 raters"])
    box = page.locator(".matrix").bounding_box()
    assert box["x"] + box["width"] <= 1440  # whole on a desk
    cell = page.locator(".matrix tbody td:not(.self)").first
    assert ": 0." in cell.get_attribute("title")
    colours = page.evaluate(
        "() => new Set([...document.querySelectorAll('.matrix tbody td')]"
        ".map((e) => getComputedStyle(e).backgroundColor)).size"
    )
    assert colours > 10
    assert page.locator(".scale").is_visible()


def test_tables_become_lists_on_a_phone(pages, visit):
    page = visit(pages["15 raters"], width=360)
    assert not page.locator("#rater-table thead").is_visible()
    row = page.locator("#rater-table tbody tr").first
    assert row.bounding_box()["width"] <= 360
    label = row.locator("td").first.evaluate("(e) => getComputedStyle(e, '::before').content")
    assert label == '"Rank"'


def test_three_views_of_volumes(pages, visit):
    page = visit(pages["volumes"])
    seen = {}
    for view, depth in {"axial": 10, "coronal": 32, "sagittal": 40}.items():
        page.select_option("#view", label=view)
        page.wait_for_function("(v) => state.content && state.content.view === v", arg=view)
        seen[view] = drawn(page)
        assert page.locator("#slice-number").text_content().endswith(f"/ {depth}")
        assert n_colours(page, "#canvas") > 3
        assert view in page.locator("#canvas").get_attribute("aria-label")
    assert len(set(seen.values())) == 3
    page.get_by_role("button", name="Next case").click()
    assert page.locator("#view").input_value() == "sagittal", "the view stays from case to case"
    page.locator(".mistake").first.click()
    page.wait_for_function("() => state.content && state.content.view === 'axial'")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data_renders(pages, visit, kind):
    page = visit(pages[kind])
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        scroll_through(page)
        assert page.evaluate(OVERFLOWING) == []
        drawn(page)
        assert n_colours(page, "#canvas") > 2
        assert page.evaluate("window.owned") is None
    if kind in ("volumes", "classes"):
        assert violations(page) == []


def test_slices_of_volumes(pages, visit):
    page = visit(pages["volumes"])
    first, number = drawn(page), page.locator("#slice-number").text_content()
    assert number.endswith("/ 10")
    page.locator("#stage").focus()
    page.keyboard.press("ArrowUp")
    assert drawn(page) != first
    assert page.locator("#slice-number").text_content() != number
    page.locator("#slice").fill("0")
    drawn(page)
    assert page.locator("#slice").input_value() == "0"
    page.select_option("#class", label="core")
    assert drawn(page) != first


def test_answers_of_classification(pages, visit):
    page = visit(pages["classes"])
    scroll_through(page)
    page.locator("#case-list img").first.wait_for()
    assert page.locator(".answers tr").count() == 5
    assert page.locator(".votes li").count() >= 2
    assert not page.locator("#overlay").is_visible()


def test_a_folder_with_every_case_opens_from_disk(kinds, visit, tmp_path):
    page = visit(write_report(kinds["truth"], tmp_path / "report.html", cases="all"))
    assert n_colours(page, "#canvas") > 2
    first = case_name(page)
    page.get_by_role("button", name="Next case").click()
    assert case_name(page) != first


def test_a_missing_case_file_is_named(kinds, chromium, tmp_path):
    path = write_report(kinds["truth"], tmp_path / "report.html", cases="all")
    (path.parent / "cases" / "0.js").unlink()
    page = chromium.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("#stage-note:not([hidden])")
    assert "cannot be read" in page.locator("#stage-note").text_content()
    page.close()


def test_the_served_page_reads_cases_when_looked_at(kinds, visit):
    server = make_server([kinds["truth"]])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page = visit(f"http://127.0.0.1:{server.server_address[1]}/")
        drawn(page)
        assert n_colours(page, "#canvas") > 2
        page.wait_for_load_state("networkidle")  # cases that are fetched ahead have come
    finally:
        server.shutdown()
        server.server_close()
