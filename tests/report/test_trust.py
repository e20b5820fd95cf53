import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from multirater import dataset_from_arrays, read_dataset, write_dataset
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io.survey import survey
from multirater.report import write_report
from multirater.report.contents import gather
from multirater.report.models import Measured
from multirater.report.next_steps import next_steps
from multirater.report.raters import Figure
from multirater.report.subject import Result, Subject, TrainedRun, read_subject
from multirater.report.trust import assess_trust, doubtful_fusions
from multirater.trust import Finding, Trust, findings_from_json, trust_from_json


def follows(n):
    """A fusion says of n cases that it follows a rater."""
    text = "the estimated truth follows rater over: it coincides with their labels"
    cases = tuple(f"c{i}" for i in range(n))
    return [Finding("problem", text, "follows", cases=cases, raters=("over",))] if n else []


@pytest.fixture(scope="module")
def contents(kinds):
    return gather([kinds["truth"]])


def subject_with(kinds, **notes):
    data = read_dataset(kinds["truth"])
    results = [Result(name, "fusion", data, tuple(each)) for name, each in notes.items()]
    return Subject("s", ("data set", "fusion"), data, tuple(results))


def assessed(subject, contents):
    return assess_trust(subject, survey(subject.dataset), contents.reference, None, None)


def test_a_grave_note_about_many_cases_is_a_problem(kinds, contents):
    subject = subject_with(kinds, staple=follows(6), vote=[])
    trust = assessed(subject, contents)
    assert trust.level == "problem"
    assert doubtful_fusions(subject) == ["staple"]
    assert "Do not rely on staple" in trust.summary
    assert "vote" in trust.summary
    assert "6 of 8 cases" in trust.findings[0].text


def test_a_grave_note_about_few_cases_is_a_caution(kinds, contents):
    trust = assessed(subject_with(kinds, staple=follows(1)), contents)
    assert trust.level == "caution"


def test_sentences_of_fusions_made_before_findings_are_cautions(kinds, tmp_path):
    fused = tmp_path / "fused"
    done = fuse_dataset(read_dataset(kinds["truth"]), fused, method="staple")
    content = json.loads((fused / "fusion.json").read_text())
    stored = {"method": "staple", "notes": ["nobody knows"]}
    (fused / "fusion.json").write_text(json.dumps(stored))
    (result,) = read_subject([kinds["truth"], fused]).results
    assert [(each.level, each.text) for each in result.findings] == [("caution", "nobody knows")]
    assert findings_from_json(content["findings"]) == done.findings


def test_the_same_of_several_fusions_is_said_once(kinds, contents):
    trust = assessed(subject_with(kinds, a=follows(8), b=follows(8)), contents)
    (finding,) = [each for each in trust.findings if "follows" in each.text]
    assert finding.text.startswith("a and b: ")


def test_what_training_wrote_is_shown(kinds, contents):
    written = trust_from_json(
        {
            "summary": "Trust it with care.",
            "findings": [{"level": "problem", "text": "classes are swapped"}, {"level": "odd"}, 3],
        }
    )
    run = TrainedRun("network auto", Path("run"), pd.DataFrame(), written)
    trust = assessed(replace(subject_with(kinds), runs=(run,)), contents)
    assert trust.summary == "Trust it with care."
    assert trust.findings[0].text == "network auto: classes are swapped"


def test_a_single_rater_cannot_be_checked(kinds):
    found = gather([kinds["single rater"]])
    assert found.trust.level == "problem"
    steps = next_steps(found.subject, found.raters, [], [], {}, found.standing)
    assert any("second rater" in step.text for step in steps)


def test_of_two_raters_nobody_is_said_to_err(tmp_path):
    drawn = np.zeros((3, 2, 20, 20), dtype=int)
    drawn[:, 0, 4:12, 4:12] = drawn[:, 1, 4:14, 4:14] = 1
    study = write_dataset(dataset_from_arrays(drawn, raters=["a", "b"]), tmp_path / "study").parent
    page = write_report(study, tmp_path / "two.html").read_text()
    assert "not who is wrong" in page
    assert "a third rater" in page
    assert "clearest examples" not in page
    known = dataset_from_arrays(drawn, truths=drawn[:, 1], raters=["a", "b"])
    study = write_dataset(known, tmp_path / "known").parent
    page = write_report(study, tmp_path / "known.html").read_text()
    assert "not who is wrong" not in page
    assert "a third rater" not in page
    assert "clearest examples" in page


def test_steps_name_whom_to_talk_to(contents):
    anchors = {each.name: each.name for each in contents.raters}
    steps = next_steps(contents.subject, contents.raters, ["p1"], [], anchors, contents.standing)
    assert steps[0].link == "cases"
    assert any(step.link == "blank" and "drew nothing" in step.text for step in steps)
    assert not any("good" in step.text for step in steps)


def measured(name, dice):
    figures = {} if dice is None else {"Dice": Figure(dice)}
    return Measured(name, "fusion", 8, figures, (), ())


def run_of(level):
    trust = Trust(f"A {level} network.", (Finding(level, "it was looked at"),))
    return TrainedRun("network auto", Path("run"), pd.DataFrame(), trust)


@pytest.mark.parametrize("scores", [(None, None), (0.95, 0.8), (0.8, 0.95), (0.9, 0.9)])
@pytest.mark.parametrize("level", [None, "good", "caution", "problem"])
@pytest.mark.parametrize("grave", list(itertools.product([0, 1, 8], repeat=2)))
def test_what_is_warned_of_is_never_advised(kinds, contents, scores, level, grave):
    """Over all combinations of notes, of what the truth says, and of networks beside."""
    names = ("staple", "vote")
    notes = {name: follows(n) for name, n in zip(names, grave, strict=True)}
    subject = subject_with(kinds, **notes)
    subject = replace(subject, runs=(run_of(level),) if level else ())
    known = [measured(name, dice) for name, dice in zip(names, scores, strict=True)]
    found = survey(subject.dataset)
    trust = assess_trust(subject, found, contents.reference, None, None, known, contents.standing)
    anchors = {each.name: each.name for each in contents.raters}
    steps = next_steps(subject, contents.raters, [], known, anchors, contents.standing)
    warned = [
        name
        for name in names
        if name in trust.summary.split(" here")[0] and "Do not rely" in trust.summary
    ]
    advised = [name for name in names for step in steps if f"use {name}:" in step.text]
    doubtful = doubtful_fusions(subject, known)
    assert not set(advised) & set(doubtful)
    assert set(doubtful) <= set(warned)
    assert (trust.level == "problem") == (bool(doubtful) or level == "problem")
    if None not in scores:
        best = max(scores)
        assert not [n for n, s in zip(names, scores, strict=True) if s == best and n in doubtful]
        assert advised


def test_a_network_that_follows_a_clearly_worse_rater_is_pointed_at(contents):
    followed = Finding("caution", "Followed most: blank.", "followed", raters=("blank",))
    run = TrainedRun("network auto", Path("run"), pd.DataFrame(), Trust("", (followed,)))
    subject = replace(contents.subject, runs=(run,))
    found = survey(subject.dataset)
    said = assess_trust(subject, found, contents.reference, None, None, [], contents.standing)
    (finding,) = [each for each in said.findings if each.code == "followed"]
    assert "follows blank most" in finding.text
    best = str(contents.standing.table["quality"].idxmax())
    assert f"{best} is better" in finding.text
    run = replace(run, trust=Trust("", (replace(followed, raters=(best,)),)))
    subject = replace(contents.subject, runs=(run,))
    said = assess_trust(subject, found, contents.reference, None, None, [], contents.standing)
    assert not [each for each in said.findings if each.code == "followed"]
