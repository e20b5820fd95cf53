import json
from collections import Counter
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from multirater import read_dataset, write_dataset
from multirater.errors import InputError
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io.formats.images import write_image
from multirater.io.formats.labels import write_label
from multirater.report import write_report
from multirater.types import Geometry, Image, LabelMap


def test_one_file_and_nothing_beside_it(kinds, tmp_path):
    target = tmp_path / "out" / "report.html"
    assert write_report(kinds["truth"], target) == target
    assert [path.name for path in target.parent.iterdir()] == ["report.html"]


def test_the_same_data_give_the_same_page(kinds, tmp_path):
    first, second = (
        write_report(kinds["no truth"], tmp_path / f"{i}.html").read_bytes() for i in range(2)
    )
    assert first == second


def test_every_case_in_a_folder(kinds, tmp_path):
    page = write_report(kinds["truth"], tmp_path / "report.html", cases="all")
    assert page == tmp_path / "report" / "index.html"
    files = sorted(path.name for path in (page.parent / "cases").iterdir())
    assert files == [f"{place}.js" for place in range(8)]
    text = (page.parent / "cases" / "3.js").read_text()
    assert text.startswith("multiraterCase(3, {")
    json.loads(text.removeprefix("multiraterCase(3, ").rstrip().removesuffix(");"))
    assert 'type="application/json" id="case-' not in page.read_text()


def test_methods_are_compared(kinds, tmp_path):
    for method in ("majority-vote", "staple"):
        fuse_dataset(read_dataset(kinds["truth"]), tmp_path / method, method=method)
    paths = [kinds["truth"], tmp_path / "majority-vote", tmp_path / "staple"]
    text = write_report(paths, tmp_path / "report.html").read_text()
    table = text[
        text.index('id="method-table"') : text.index("</table>", text.index("method-table"))
    ]
    assert "majority-vote" in table
    assert "staple" in table
    assert "Dice by how far raters agree" not in text  # they agree alike on all cases


def test_methods_are_compared_by_how_far_raters_agree(kinds, tmp_path):
    data = read_dataset(kinds["truth"])
    settled = [replace(c, labels=dict.fromkeys(c.labels, c.truth)) for c in data.cases[::2]]
    write_dataset(replace(data, cases=(*settled, *data.cases[1::2])), tmp_path / "study")
    fuse_dataset(read_dataset(tmp_path / "study"), tmp_path / "vote", method="majority-vote")
    text = write_report([tmp_path / "study", tmp_path / "vote"], tmp_path / "r.html").read_text()
    assert "Dice by how far raters agree" in text


def test_figures_come_with_it(kinds, tmp_path):
    write_report(kinds["truth"], tmp_path / "r.html", figures=tmp_path / "figures")
    suffixes = {path.suffix for path in (tmp_path / "figures").iterdir()}
    assert suffixes == {".png", ".svg"}


@pytest.mark.parametrize("place", [".", "raters/anna"])
def test_figures_go_into_no_study(tmp_path, place):
    study = tmp_path / "study"
    (study / "raters").mkdir(parents=True)
    for rater in ("anna", "bert"):
        label = LabelMap(np.eye(4, dtype=np.int16), Geometry.default(2))
        (study / "raters" / rater).mkdir()
        write_label(label, study / "raters" / rater / "a.png")
    (study / "images").mkdir()
    write_image(Image(np.zeros((1, 4, 4), np.uint8), label.geometry), study / "images/a.png")
    before = sorted(study.rglob("*"))
    with pytest.raises(InputError, match="no figures are written there"):
        write_report(study, tmp_path / "r.html", figures=study / place)
    assert sorted(study.rglob("*")) == before
    assert not (tmp_path / "r.html").exists()


def test_figures_go_into_no_other_study(kinds, tmp_path):
    (tmp_path / "manifest.csv").write_text("case,image\n")
    with pytest.raises(InputError, match="holds a data set or a result"):
        write_report(kinds["truth"], tmp_path / "r.html", figures=tmp_path)


def test_figures_that_cannot_be_written_leave_no_page(kinds, tmp_path):
    write_report(kinds["truth"], tmp_path / "r.html", figures=tmp_path / "figures")
    with pytest.raises(InputError, match="exists"):
        write_report(kinds["truth"], tmp_path / "second.html", figures=tmp_path / "figures")
    assert not (tmp_path / "second.html").exists()


def test_an_earlier_report_is_kept_unless_told_otherwise(kinds, tmp_path):
    target = tmp_path / "report.html"
    target.write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        write_report(kinds["truth"], target)
    assert target.read_text() == "mine"
    write_report(kinds["truth"], target, overwrite=True)
    assert "multirater" in target.read_text()


def test_a_folder_of_cases_never_takes_the_place_of_a_study(kinds, tmp_path):
    """The folder is named after the page: `report study -o study.html --cases all`."""
    write_dataset(read_dataset(kinds["truth"]), tmp_path / "study")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="is no report"):
        write_report(tmp_path / "study", tmp_path / "study.html", cases="all", overwrite=True)
    (tmp_path / "study/index.html").write_text("mine")
    with pytest.raises(InputError, match="so it is not replaced"):
        write_report(tmp_path / "study", tmp_path / "study.html", cases="all", overwrite=True)
    (tmp_path / "study/index.html").unlink()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_page_that_appears_meanwhile_is_not_replaced(kinds, tmp_path, monkeypatch):
    module = import_module("multirater.report.report")
    target, make_page = tmp_path / "report.html", module.make_page

    def slow(*words, **options):
        target.write_text("mine")
        return make_page(*words, **options)

    monkeypatch.setattr(module, "make_page", slow)
    with pytest.raises(InputError, match="already exists"):
        write_report(kinds["truth"], target)
    assert target.read_text() == "mine"


@pytest.mark.parametrize(
    ("output", "cases", "message"),
    [("report.pdf", 5, "cannot be written as .pdf"), ("r.html", 0, "--cases 0")],
)
def test_what_cannot_be_done_is_refused_before_the_work(kinds, tmp_path, output, cases, message):
    with pytest.raises(InputError, match=message):
        write_report(kinds["truth"], tmp_path / output, cases=cases)
    with pytest.raises(InputError, match="nothing to report on"):
        write_report([], tmp_path / "r.html")


def test_label_files_are_read_once_whatever_is_made_of_them(kinds, tmp_path, monkeypatch):
    paths = [kinds["truth"]]
    for method in ("majority-vote", "staple"):
        fuse_dataset(read_dataset(kinds["truth"]), tmp_path / method, method=method)
        paths.append(tmp_path / method)
    labels = import_module("multirater.io.formats.labels")
    reads, read = Counter(), labels._read_array

    def counted(path, *rest, **options):
        reads[path] += 1
        return read(path, *rest, **options)

    monkeypatch.setattr(labels, "_read_array", counted)
    write_report(paths, tmp_path / "report.html", figures=tmp_path / "figures")
    sources = [
        source
        for path in paths
        for case in read_dataset(path)
        for source in (*case.labels.values(), *([case.truth] if case.truth else []))
    ]
    assert reads == Counter({file.resolve() for source in sources for file in source.paths})
