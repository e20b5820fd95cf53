import pytest

from multirater import read_dataset
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.report import write_report
from multirater.report.contents import gather
from multirater.report.raters import Figure
from multirater.report.verdicts import OTHERS, Verdict, verdict_words

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")


def _verdict(name, *values):
    return Verdict(name, [Figure(value) for value in values])


def test_with_a_truth_raters_are_judged_by_both(kinds):
    found = gather([kinds["truth"]])
    assert [each.name for each in found.verdicts] == ["the truth", OTHERS]
    assert found.verdicts[0].values == [each.score.value for each in found.raters]


def test_what_references_say_differently_is_said():
    raters = ["a", "b", "c"]
    first = _verdict("the truth", 0.9, 0.7, 0.5)
    assert "agree" in verdict_words([first, _verdict("x", 0.8, 0.81, 0.1)], raters)
    said = verdict_words([first, _verdict("x", 0.2, 0.81, 0.1)], raters)
    assert said == "They differ: best is a by the truth, b by x."
    assert verdict_words([first], raters) == ""


def test_a_page_on_a_fusion_says_what_the_fusion_said(kinds, tmp_path):
    """Sensitivity, matrix and quality are those of raters.csv, whatever is read from the labels."""
    data = read_dataset(kinds["no truth"])
    done = fuse_dataset(data, tmp_path / "fused", method="staple")
    found = gather([kinds["no truth"], tmp_path / "fused"])
    for rater in found.raters:
        row = done.raters.loc[rater.name]
        assert rater.recalls[1].value == pytest.approx(row["sensitivity"])
        assert rater.specificity.value == pytest.approx(row["specificity"])
        assert rater.skill.value == pytest.approx(row["skill"])
        assert found.quality.loc[rater.name, "quality"] == pytest.approx(row["quality"])


def test_the_page_shows_verdicts_side_by_side(kinds, tmp_path):
    write_report(kinds["truth"], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "By whom they are judged" in text
    assert "By the truth" in text
