import json
import re
from html.parser import HTMLParser

import pytest

from multirater.report.contents import gather
from multirater.report.page import as_json
from multirater.report.report import make_page

KINDS = (
    *("truth", "no truth", "no images", "single rater", "forty raters", "volumes", "classes"),
    "wicked",
)
VOID = {"meta", "link", "input", "img", "br"}


class Outline(HTMLParser):
    """Elements, attributes and texts; fails when elements are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.ids, self.texts = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module", params=KINDS)
def page(request, kinds):
    return make_page(gather([kinds[request.param]]), cases=500)


def test_the_page_is_whole_and_stands_alone(page):
    text = "".join(page.pieces())
    outline = Outline(text)
    assert len(outline.ids) == len(set(outline.ids))
    links = [a["href"][1:] for tag, a in outline.elements if tag == "a"]
    assert set(links) <= set(outline.ids)
    assert not re.search(r"""(src|href)=["']?(https?:|//)""", text)
    assert len([i for i in outline.ids if i.startswith("case-")]) >= len(page.chosen)


def test_what_the_script_reads_is_json(page):
    text = "".join(page.pieces())
    stored = re.findall(r'<script type="application/json" id="([^"]+)">(.*?)</script>', text, re.S)
    content = {name: json.loads(body) for name, body in stored}
    assert len(content) == 1 + len(page.chosen)
    assert len(content["report-data"]["cases"]) == len(page.chosen)


def test_names_do_nothing(kinds):
    text = "".join(make_page(gather([kinds["wicked"]]), cases=500).pieces())
    scripts = [a for tag, a in Outline(text).elements if tag == "script"]
    assert len(scripts) == 24 + 2
    assert "<script>window.owned" not in text
    assert not [a for tag, a in Outline(text).elements if tag == "img"]


@pytest.mark.parametrize("text", ["</script>", "<!--", "a & b", "\u2028"])
def test_json_is_inert_and_true(text):
    made = as_json({"name": text})
    assert json.loads(made) == {"name": text}
    assert not re.search("[<>&\u2028]", made)


def test_a_page_holds_as_many_cases_as_asked_for_and_says_so(kinds):
    page = make_page(gather([kinds["truth"]]), cases=3)
    text = "".join(page.pieces())
    assert "3 of 8 cases are shown" in text
    assert text.count('type="application/json" id="case-') == 3
