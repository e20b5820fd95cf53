"""Adjudication as people do it: with clicks, strokes and keys in a browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from browser import headless_chromium

from multirater import read_dataset, with_gold
from multirater.io.gold import read_decisions

WIDTHS = (360, 1440)
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
POINT = """([x, y]) => {
  const stage = document.getElementById('stage');
  stage.scrollIntoView({ block: 'center' });
  const at = frame(state.content, stage.clientWidth, stage.clientHeight);
  const box = stage.getBoundingClientRect();
  return [box.left + at.left + (x + 0.5) * at.scaleX, box.top + at.top + (y + 0.5) * at.scaleY];
}"""


@pytest.fixture(scope="module")
def chromium():
    with headless_chromium() as browser:
        yield browser


@pytest.fixture
def visit(chromium):
    """Open pages, each in a browser of its own; nothing may go wrong in any of them."""
    opened, troubles = [], []

    def open_page(address, *, who="eva", width=1440, strict=True, scheme="light"):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        if strict:
            page.on("console", lambda m: is_trouble(m) and troubles.append(m.text))
            page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(address)
        page.wait_for_function("() => state.content")
        page.fill("#who", who)
        page.locator("#stage").focus()
        opened.append(context)
        return page

    yield open_page
    for context in opened:
        context.close()
    assert troubles == []


def is_trouble(message):
    """An error, unless a page asks for news when the test is over and the server gone."""
    return message.type == "error" and "ERR_CONNECTION" not in message.text


def wait_for(page, place, state, revision=None):
    page.wait_for_function(
        "([p, s, r]) => nowOf(p).state === s && (r === null || nowOf(p).revision === r)",
        arg=[place, state, revision],
    )


def point_of(page, x, y):
    return page.evaluate(POINT, [x, y])


def gold_of(folder, study):
    found = with_gold(read_dataset(study), folder)
    return {case.name: case.read_gold().array for case in found if case.gold is not None}


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:120]) for each in found]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_case_is_decided_by_keys_and_clicks(served, visit, studies, width):
    with served("masks") as (desk, address):
        page = visit(address, width=width)
        page.keyboard.press("2")
        wait_for(page, 0, "decided")
        assert "drawing of bert" in page.locator("#standing").text_content()
        page.get_by_role("button", name="Take the drawing of anna").click()
        wait_for(page, 0, "decided", 2)
        page.get_by_role("button", name="Undo").click()
        wait_for(page, 0, "decided", 3)
        assert "drawing of bert" in page.locator("#standing").text_content()
        page.locator("#stage").focus()
        page.keyboard.press("f")
        wait_for(page, 0, "decided", 4)
        labels = desk.study.open(0)
        assert np.array_equal(gold_of(desk.gold.folder, studies["masks"])["s2"], labels.fused)
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => state.place === 1 && state.whole.name === 's1'")
        page.keyboard.press("s")
        assert page.evaluate("document.activeElement.id") == "why"
        page.keyboard.type("cannot be seen")
        page.keyboard.press("Enter")
        wait_for(page, 1, "skipped")
        page.wait_for_function("() => state.place === 2")
        assert read_decisions(desk.gold.folder)["s1"][0].why == "cannot be seen"
        assert (
            "1 of 3 disputed cases decided, 1 skipped" in page.locator("#progress").text_content()
        )


@pytest.mark.parametrize("width", WIDTHS)
def test_regions_are_painted_by_a_click_and_the_rest_by_a_brush(served, visit, studies, width):
    with served("masks") as (desk, address):
        page = visit(address, width=width)
        fused = desk.study.open(0).fused
        assert not fused[10, 18], "what bert adds is not in the vote"
        page.get_by_role("radio", name="Paint region").check()
        page.mouse.click(*point_of(page, 18, 10))
        wait_for(page, 0, "draft", 1)
        page.get_by_role("radio", name="Brush").check()
        page.locator("#reach").fill("1")
        start, end = point_of(page, 1, 20), point_of(page, 6, 20)
        page.mouse.move(*start)
        page.mouse.down()
        page.mouse.move(*end, steps=5)
        page.mouse.up()
        wait_for(page, 0, "draft", 2)
        page.get_by_role("radio", name="Eraser").check()
        page.mouse.click(*point_of(page, 3, 20))
        wait_for(page, 0, "draft", 3)
        assert gold_of(desk.gold.folder, studies["masks"]) == {}, "a draft is no gold label"
        page.locator("#stage").focus()
        page.keyboard.press("Enter")
        wait_for(page, 0, "decided")
        page.wait_for_function("() => state.place === 1")
        expected = fused.copy()
        expected[8:16, 16:21] = 1
        expected[20, 1:7] = 1
        expected[20, 3] = 0
        assert np.array_equal(gold_of(desk.gold.folder, studies["masks"])["s2"], expected)


def test_keys_alone_paint(served, visit, studies):
    with served("masks") as (desk, address):
        page = visit(address)
        page.keyboard.press("p")
        page.keyboard.press("d")
        assert "by bert" in page.locator("#said").text_content()
        page.keyboard.press("Space")
        wait_for(page, 0, "draft", 1)
        page.keyboard.press("b")
        page.keyboard.press("[")
        page.keyboard.press("[")
        for _ in range(30):
            page.keyboard.press("Shift+ArrowLeft")
            page.keyboard.press("Shift+ArrowUp")
        page.keyboard.press("Space")
        wait_for(page, 0, "draft", 2)
        page.keyboard.press("Enter")
        wait_for(page, 0, "decided")
        gold = gold_of(desk.gold.folder, studies["masks"])["s2"]
        assert gold[0, 0] == 1
        assert gold[8:16, 16:21].all()
        page.evaluate("show(0)")
        page.wait_for_function("() => state.place === 0 && state.content.label")
        page.keyboard.press("Space")
        assert page.locator("#said").text_content() == "Nothing to change there."


@pytest.mark.parametrize("width", WIDTHS)
def test_volumes_are_painted_slice_by_slice(served, visit, studies, width):
    with served("volumes") as (desk, address):
        page = visit(address, width=width)
        before = desk.study.open(0).fused.copy()
        number = page.evaluate("state.slice")
        page.keyboard.press("ArrowUp")
        page.wait_for_function("(n) => state.content.slice === n + 1", arg=number)
        page.keyboard.press("c")
        page.keyboard.press("b")
        page.mouse.click(*point_of(page, 2, 2))
        wait_for(page, 0, "draft", 1)
        page.locator("#stage").focus()
        page.keyboard.press("Enter")
        wait_for(page, 0, "decided")
        gold = gold_of(desk.gold.folder, studies["volumes"])[desk.study.case(0).name]
        changed = np.argwhere(gold != before)
        assert set(changed[:, 0]) == {number + 1}
        assert gold[number + 1, 2, 2] == 2, "the second class was in hand"
        page.select_option("#view", label="coronal")
        page.wait_for_function("() => state.content.view === 1")
        assert page.locator("#slice-number").text_content().endswith("/ 16")


@pytest.mark.parametrize("width", WIDTHS)
def test_classes_are_decided_by_number_and_it_goes_on(served, visit, studies, width):
    with served("classes") as (desk, address):
        page = visit(address, width=width)
        page.keyboard.press("2")
        page.wait_for_function("() => state.place === 1 && state.whole.name !== 'a2'")
        page.get_by_role("button", name="owl").click()
        page.wait_for_function("() => state.place === 2")
        names = desk.study.found.classes.names
        found = gold_of(desk.gold.folder, studies["classes"])
        said = {name: names[int(label)] for name, label in found.items()}
        assert said == {"a2": "dog", desk.study.case(1).name: "owl"}


def test_two_browsers_do_not_overwrite_one_another(served, visit):
    with served("masks") as (desk, address):
        eva = visit(address)
        bert = visit(address, who="bert", strict=False)  # Chromium calls a conflict an error
        eva.keyboard.press("1")
        wait_for(eva, 0, "decided")
        bert.evaluate("state.count = 1e9")  # bert has heard no news yet
        bert.keyboard.press("2")
        bert.wait_for_function("() => nowOf(0).revision === 1")
        bert.wait_for_function("() => document.getElementById('said').textContent.includes('eva')")
        assert "Not kept" in bert.locator("#said").text_content()
        assert desk.gold.now("s2").how == "drawing of anna"
        bert.evaluate("show(1)")
        bert.wait_for_function("() => state.whole.name === 's1'")
        bert.evaluate("news()")
        eva.evaluate("news()")
        assert "bert is at s1" in eva.locator("#people").text_content()
        assert eva.evaluate("nextOpen()") == 2, "where bert is, eva is not sent"
        bert.keyboard.press("3")
        wait_for(bert, 1, "decided")
        eva.evaluate("news()")
        wait_for(eva, 1, "decided")
        who = {name: acts[-1].who for name, acts in read_decisions(desk.gold.folder).items()}
        assert who == {"s2": "eva", "s1": "bert"}


def start(study, gold):
    server = subprocess.Popen(
        [sys.executable, "-m", "multirater", "view", study, "--adjudicate", gold, "-q", "-j", "1"],
        stdout=subprocess.PIPE,
        text=True,
    )
    return server, server.stdout.readline().strip()


def test_a_killed_server_loses_nothing(chromium, visit, studies, tmp_path):
    server, address = start(studies["masks"], tmp_path / "gold")
    try:
        page = visit(address, strict=False)
        page.keyboard.press("2")
        wait_for(page, 0, "decided")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => state.place === 1 && state.content.place === 1")
        page.keyboard.press("p")
        page.mouse.click(*point_of(page, 17, 10))
        wait_for(page, 1, "draft", 1)
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        page.keyboard.press("1")
        page.locator("#alert", has_text="NOT kept").wait_for()
    finally:
        server.kill()
    assert gold_of(tmp_path / "gold", studies["masks"])["s2"][10, 18] == 1
    server, again = start(studies["masks"], tmp_path / "gold")
    try:
        assert again.split("/")[3] != address.split("/")[3], "another token"
        page = visit(again)
        assert page.evaluate("nowOf(0).state") == "decided"
        page.wait_for_function("() => state.place === 1 && state.content.place === 1")
        assert page.evaluate("nowOf(1).state") == "draft"
        assert page.evaluate("state.content.label[10 * 24 + 17]") == 2, "the stroke is there"
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("kind", ["masks", "volumes", "classes"])
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1440, "dark")])
def test_nothing_overflows_and_axe_finds_nothing(served, visit, kind, width, scheme):
    with served(kind) as (_, address):
        page = visit(address, width=width, scheme=scheme)
        page.keyboard.press("1")
        page.wait_for_function("() => nowOf(0).state === 'decided'")
        page.locator("summary", has_text="Keys").click()
        assert page.evaluate(OVERFLOWING) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == []


def test_a_reason_goes_with_the_next_decision_and_skips_nothing(served, visit):
    with served("masks") as (desk, address):
        page = visit(address)
        page.locator("#why").fill("the rim is fat")
        page.locator("#why").press("Enter")
        page.keyboard.press("2")
        wait_for(page, 0, "decided")
        (act,) = read_decisions(desk.gold.folder)["s2"]
        assert (act.act, act.why) == ("take", "the rim is fat")
        assert page.locator("#why").input_value() == ""


def test_channels_and_outlines_can_be_chosen(served, visit, studies):
    study = studies["masks"]
    for file in (study / "images").iterdir():
        file.unlink()
    images = [(f"s{n}", np.random.default_rng(n).integers(0, 9, (2, 24, 24))) for n in range(4)]
    for name, image in images:
        np.save(study / "images" / f"{name}.npy", image.astype(np.int16))
    table = study / "manifest.csv"
    table.write_text(re.sub(r"images/(s\d)\.\w+", r"images/\1.npy", table.read_text()))
    with served("masks") as (_, address):
        page = visit(address)

        def drawn():
            return page.evaluate("document.getElementById('canvas').toDataURL()")

        first = drawn()
        page.select_option("#channel", label="2")
        second = drawn()
        page.locator("#layer-1").uncheck()
        third = drawn()
        page.locator("#show-uncertainty").check()
        assert len({first, second, third, drawn()}) == 4
