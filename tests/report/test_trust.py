import itertools
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from multirater import read_dataset
from multirater.io.survey import survey
from multirater.report.contents import gather
from multirater.report.models import Measured
from multirater.report.next_steps import next_steps
from multirater.report.raters import Figure
from multirater.report.subject import Result, Subject, TrainedRun
from multirater.report.trust import assess_trust, doubtful_fusions
from multirater.words import counted

FOLLOWS = "the estimated truth follows rater over: it coincides with their labels"


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
    subject = subject_with(kinds, staple=[f"{FOLLOWS} (6 cases)"], vote=[])
    trust = assessed(subject, contents)
    assert trust.level == "problem"
    assert doubtful_fusions(subject) == ["staple"]
    assert "Do not rely on staple" in trust.summary
    assert "vote" in trust.summary
    assert "6 of 8 cases" in trust.findings[0].text


def test_a_grave_note_about_few_cases_is_a_caution(kinds, contents):
    trust = assessed(subject_with(kinds, staple=[f"{FOLLOWS} (1 case)"]), contents)
    assert trust.level == "caution"


def test_notes_that_differ_in_numbers_are_counted_together(kinds, contents):
    few = "{} estimates rest on fewer than 10 labels (2 cases)"
    trust = assessed(subject_with(kinds, staple=[few.format(3), few.format(4)]), contents)
    (finding,) = [each for each in trust.findings if "estimates rest" in each.text]
    assert "4 of 8 cases" in finding.text


def test_the_same_of_several_fusions_is_said_once(kinds, contents):
    trust = assessed(
        subject_with(kinds, a=[f"{FOLLOWS} (8 cases)"], b=[f"{FOLLOWS} (8 cases)"]), contents
    )
    (finding,) = [each for each in trust.findings if "follows" in each.text]
    assert finding.text.startswith("a and b: ")


def test_what_training_wrote_is_shown(kinds, contents):
    written = {
        "summary": "Trust it with care.",
        "findings": [{"level": "problem", "text": "classes are swapped"}, {"level": "odd"}, 3],
    }
    run = TrainedRun("network auto", Path("run"), pd.DataFrame(), written)
    trust = assessed(replace(subject_with(kinds), runs=(run,)), contents)
    assert trust.summary == "Trust it with care."
    assert trust.findings[0].text == "network auto: classes are swapped"


def test_a_single_rater_cannot_be_checked(kinds):
    found = gather([kinds["single rater"]])
    assert found.trust.level == "problem"
    steps = next_steps(found.subject, found.raters, [], [], {}, found.quality)
    assert any("second rater" in step.text for step in steps)


def test_steps_name_whom_to_talk_to(contents):
    anchors = {each.name: each.name for each in contents.raters}
    steps = next_steps(contents.subject, contents.raters, ["p1"], [], anchors, contents.quality)
    assert steps[0].link == "cases"
    assert any(step.link == "blank" and "drew nothing" in step.text for step in steps)
    assert not any("good" in step.text for step in steps)


def measured(name, dice):
    figures = {} if dice is None else {"Dice": Figure(dice)}
    return Measured(name, "fusion", 8, figures, (), ())


def run_of(level):
    finding = {"level": level, "text": "it was looked at"}
    trust = {"summary": f"A {level} network.", "findings": [finding]}
    return TrainedRun("network auto", Path("run"), pd.DataFrame(), trust)


@pytest.mark.parametrize("scores", [(None, None), (0.95, 0.8), (0.8, 0.95), (0.9, 0.9)])
@pytest.mark.parametrize("level", [None, "good", "caution", "problem"])
@pytest.mark.parametrize("grave", list(itertools.product([0, 1, 8], repeat=2)))
def test_what_is_warned_of_is_never_advised(kinds, contents, scores, level, grave):
    """Over all combinations of notes, of what the truth says, and of networks beside."""
    names = ("staple", "vote")
    notes = {
        name: [f"{FOLLOWS} ({counted(n, 'case')})"] if n else []
        for name, n in zip(names, grave, strict=True)
    }
    subject = subject_with(kinds, **notes)
    subject = replace(subject, runs=(run_of(level),) if level else ())
    known = [measured(name, dice) for name, dice in zip(names, scores, strict=True)]
    found = survey(subject.dataset)
    trust = assess_trust(subject, found, contents.reference, None, None, known, contents.quality)
    anchors = {each.name: each.name for each in contents.raters}
    steps = next_steps(subject, contents.raters, [], known, anchors, contents.quality)
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
    followed = {
        "level": "caution",
        "text": "Followed most: blank.",
        "code": "followed",
        "raters": ["blank"],
    }
    run = TrainedRun("network auto", Path("run"), pd.DataFrame(), {"findings": [followed]})
    subject = replace(contents.subject, runs=(run,))
    found = survey(subject.dataset)
    said = assess_trust(subject, found, contents.reference, None, None, [], contents.quality)
    (finding,) = [each for each in said.findings if each.code == "followed"]
    assert "follows blank most" in finding.text
    best = str(contents.quality["quality"].idxmax())
    assert f"{best} is better" in finding.text
    followed["raters"] = [best]
    said = assess_trust(subject, found, contents.reference, None, None, [], contents.quality)
    assert not [each for each in said.findings if each.code == "followed"]
