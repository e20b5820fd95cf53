"""What holds for every section of the page."""

import re
from html.parser import HTMLParser

import pytest

from multirater.report.contents import gather
from multirater.report.report import make_page
from multirater.report.sections import SECTIONS

KINDS = ("truth", "single rater", "classes")
VOID = {"meta", "link", "input", "img", "br", "wbr", "hr"}


class Balanced(HTMLParser):
    """Headings and elements; fails where elements are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


@pytest.fixture(scope="module", params=KINDS)
def laid_out(request, kinds):
    """The HTML of each section that is shown, by its anchor, and the whole page."""
    page = make_page(gather([kinds[request.param]]), cases=500)
    return {section.anchor: str(html) for section, html in page._sections()}, page.html()


@pytest.mark.parametrize("section", SECTIONS, ids=lambda each: each.anchor)
class TestSection:
    def test_it_is_one_element_that_says_what_it_is(self, section, laid_out):
        html = laid_out[0].get(section.anchor)
        if html is None:
            return
        outline = Balanced(html)
        first, attributes = outline.elements[0]
        assert (first, attributes["id"]) == ("section", section.anchor)
        heading = attributes["aria-labelledby"]
        assert [tag for tag, its in outline.elements if its.get("id") == heading] in (
            ["h1"],
            ["h2"],
        )

    def test_it_is_in_the_navigation_if_and_only_if_it_is_shown(self, section, laid_out):
        shown, page = laid_out
        navigation = page.split("<nav")[1].split("</nav>")[0]
        is_linked = f'href="#{section.anchor}">{section.title}<' in navigation
        assert is_linked == (section.anchor in shown) == (f'<section id="{section.anchor}"' in page)

    def test_it_runs_and_fetches_nothing_of_its_own(self, section, laid_out):
        html = laid_out[0].get(section.anchor, "")
        assert "<script" not in html
        assert not re.search(r"""(src|href)=["']?(https?:|//)|\son\w+=""", html)


def test_sections_have_distinct_places_and_titles():
    for names in zip(*((each.anchor, each.title, each.template) for each in SECTIONS), strict=True):
        assert len(set(names)) == len(SECTIONS)
