import json
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest

from multirater import dataset_from_arrays, info, read_dataset, write_dataset
from multirater.fusion.fused_dataset import fuse_dataset
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


def texts(paths, **options):
    return "".join(make_page(gather(paths, **options), cases=500).pieces())


def test_raters_stand_best_first_with_ranks(kinds):
    page = make_page(gather([kinds["truth"]]), cases=500)
    text = "".join(page.pieces())
    names = re.findall(r'<a class="rater-name"[^>]*>.*?</svg>([^<]+)</a>', text)
    standing = page.contents.standing.table["quality"]
    assert names == list(standing.sort_values(ascending=False, kind="stable").index)
    assert "Raters of the same rank are level" in text


def test_quality_is_said_alike_by_page_info_and_fusion(kinds, tmp_path):
    data = read_dataset(kinds["no truth"])
    fused = fuse_dataset(data, tmp_path / "fused", method="majority-vote").raters
    said = info(data).raters
    shown = gather([kinds["no truth"]]).quality
    for name in ("quality", "quality_low", "quality_high", "rank"):
        assert said[name].tolist() == fused[name].tolist() == shown[name].tolist()


def test_the_trust_box_leads_with_three_points_and_folds_the_rest(kinds):
    page = make_page(gather([kinds["forty raters"]]), cases=500)
    box = page.html().split('id="trust-title"')[1].split("</section>")[0]
    points = page.contents.trust.findings
    first = box.split("<details")[0]
    assert first.count("<li>") == min(len(points), 3)
    assert box.count("<li>") == len(points)


def test_terms_are_explained_where_they_occur(page):
    text = page.html()
    for name, body in re.findall(r'<section id="(raters|models)".*?(<dl>.*?</dl>)', text, re.S):
        assert name
        assert all(line.strip() for line in re.findall("<dd>(.*?)</dd>", body))
    heads = re.findall(r'<th scope="col" aria-sort="none"><button[^>]*>([^<]+)<', text)
    explained = {term.lower() for term in re.findall("<dt>(.*?)</dt>", text)}
    plain = {"rater", "labels", "most frequent confusion", "method", "cases"}
    for head in heads:
        word = head.lower().removesuffix(" ↓").strip()
        assert word in explained | plain or word.startswith("recall of"), head


def test_findings_about_the_study_are_on_the_page(kinds, tmp_path):
    drawn = np.ones((4, 2, 12, 12), dtype=int)
    drawn[:, :, 3:8, 4:9] = 0
    drawn[:, 1, 8, 4] = 0
    write_dataset(dataset_from_arrays(drawn), tmp_path / "study")
    assert "masks look reversed" in texts([tmp_path / "study"])
    assert "What is odd about the study" not in texts([kinds["volumes"]])


def test_groups_are_on_the_page(kinds, tmp_path):
    study = tmp_path / "study"
    shutil.copytree(kinds["no truth"], study)
    raters = gather([study]).subject.dataset.raters
    lines = [f"{name},{'expert' if i < 2 else 'crowd'}" for i, name in enumerate(raters)]
    (study / "raters.csv").write_text("\n".join(["rater,group", *lines]))
    text = texts([study])
    assert "between crowd and expert" in text
    assert "within expert" in text
    assert "within crowd" not in texts([study], exclude=["group=crowd"])


def test_raters_who_are_left_out_are_named(kinds):
    text = texts([kinds["truth"]], exclude=["over"])
    assert "Left out of this report: over." in text
    assert "Left out" not in texts([kinds["truth"]])


def test_sizes_are_on_the_page_against_the_truth_or_every_two(kinds):
    assert "over against truth" in texts([kinds["truth"]])
    text = texts([kinds["no truth"]])
    assert "over against" in text
    assert "against truth" not in text
    assert "How much more one draws" not in texts([kinds["classes"]])
