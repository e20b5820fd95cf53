import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import multirater
from multirater.errors import InputError
from multirater.io import dataset_from_arrays, read_dataset, write_dataset
from multirater.simulate import hammer_spammer_cm, simulate_class_labels
from multirater.verbs.next_labels import next_labels


def crowd(n=120, seed=0):
    """An expert, two novices and a guesser; of the last twenty cases nobody has said anything."""
    truth = np.random.default_rng(seed).integers(0, 3, n)
    cm = np.stack([hammer_spammer_cm(3, s, seed=i) for i, s in enumerate((0.97, 0.7, 0.7, 0.34))])
    labels = simulate_class_labels(truth, cm, seed=seed).T.copy()
    labels[60:100, 0] = -1
    labels[100:] = -1
    return labels


@pytest.fixture
def few(digits_folder):
    """Drawings of which nobody made some, and only some raters others."""
    dataset = read_dataset(digits_folder)
    kept = [{}, {}, *({r: c.labels[r] for r in list(c.labels)[:3]} for c in dataset.cases[2:])]
    cases = [replace(c, labels=labels) for c, labels in zip(dataset, kept, strict=True)]
    return replace(dataset, cases=tuple(cases))


@pytest.fixture
def study():
    return dataset_from_arrays(crowd(), raters=["expert", "novice", "beginner", "guesser"])


def test_unlabelled_and_disputed_cases_come_first_and_go_to_the_expert(study):
    found = next_labels(study, budget=30)
    assert len(found.labels) == 30
    assert (found.labels["rater"] == "expert").mean() > 0.7
    asked = found.labels["case"].tolist()
    assert sum(name in asked for name in [case.name for case in study][100:]) >= 15
    assert set(found.labels["reason"]) <= {"unlabelled", "disputed", "unsure", "try-out"}
    assert found.raters["skill"].idxmax() == "expert"
    assert not found.cases.loc[asked[:10], "settled"].any()


def test_the_list_says_what_it_is_worth_and_why(study):
    found = next_labels(study, budget=10)
    assert found.labels["gain"].between(0, 1).all()
    total = found.cases["uncertainty"].sum()
    assert found.labels["share"].to_numpy() == pytest.approx(found.labels["gain"] / total)
    assert all(rater in why for rater, why in found.labels[["rater", "why"]].to_numpy())
    curve = found.curve["uncertainty"]
    assert curve[0] - curve[10] == pytest.approx(found.labels["gain"].sum() / len(study))
    assert (np.diff(curve) <= 1e-12).all()
    assert found.outlook.everybody < found.outlook.now
    assert len(found.advice) == 3


def test_costs_and_who_may_be_asked_are_heeded(study):
    dear = next_labels(study, budget=6, cost={"expert": 3, "novice": 100})
    assert dear.labels["cost"].sum() <= 6
    assert "novice" not in dear.labels["rater"].tolist()
    only = next_labels(study, budget=5, ask=["novice"])
    assert set(only.labels["rater"]) == {"novice"}


def test_a_table_of_answers_gives_the_same_as_its_data_set(study, tmp_path):
    frame = pd.DataFrame(
        [(c.name, r, f"class {int(c.read_label(r).array)}") for c in study for r in c.labels],
        columns=["task", "worker", "label"],
    )
    frame.to_csv(tmp_path / "answers.csv", index=False)
    by_table = next_labels(tmp_path / "answers.csv", budget=8)
    by_data = next_labels(read_dataset(tmp_path / "answers.csv"), budget=8)
    pd.testing.assert_frame_equal(by_table.labels, by_data.labels)


def test_raters_who_have_labelled_nothing_yet_are_asked_when_the_study_names_them(tmp_path):
    frame = pd.DataFrame(
        {"case": list("aabbcc"), "rater": ["anna", "bert"] * 3, "label": ["x", "y"] * 3}
    )
    frame.to_csv(tmp_path / "manifest.csv", index=False)
    (tmp_path / "raters.csv").write_text("rater,group\nanna,old\nbert,old\ncleo,new\n")
    found = next_labels(read_dataset(tmp_path), budget=3)
    assert set(found.labels["rater"]) == {"cleo"}


def test_drawings_that_nobody_made_come_first(few):
    found = next_labels(few, budget=4)
    assert len(found.labels) == 4
    assert set(found.labels["case"][:2]) == {case.name for case in few.cases[:2]}
    assert "nobody has labelled it" in found.labels["why"].iloc[0]
    assert "label" not in found.cases


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"budget": 0}, "budget of 0"),
        ({"cost": {"exprt": 2}}, "did you mean expert"),
        ({"cost": {"expert": 0}}, "above 0"),
        ({"ask": ["nobody"]}, "--ask nobody: no rater of this name"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(study, options, said):
    with pytest.raises(InputError, match=said):
        next_labels(study, **options)


def test_a_study_without_labels_is_refused(few):
    bare = replace(few, cases=few.cases[:2], raters=())
    with pytest.raises(InputError, match="no case has a label"):
        next_labels(bare)


def test_from_the_shell_as_table_as_tasks_and_as_json(run, few, tmp_path):
    folder = write_dataset(few, tmp_path / "study")
    status, output, _ = run("next", folder, "--budget", 3, "-o", tmp_path / "next.csv")
    assert status == 0
    assert "The next labels are expected to lower it" in output
    table = pd.read_csv(tmp_path / "next.csv")
    assert table.columns.tolist()[:3] == ["rank", "case", "rater"]
    assert len(table) == 3
    tasks = tmp_path / "next.json"
    status, output, _ = run("next", folder, "--budget", 3, "-o", tasks, "--json")
    assert [line["case"] for line in json.loads(output)["labels"]] == table["case"].astype(
        str
    ).tolist()
    first = json.loads(tasks.read_text())[0]
    assert first["data"]["image"].startswith("/data/local-files/?d=")
    assert first["data"]["rater"] == table["rater"][0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cost", "good"), "--cost good"),
        (("--cost", "good=x"), "--cost good=x"),
        (("-o", "next.xls"), ".csv"),
        (("--budget", "nan"), "finite"),
    ],
)
def test_wrong_words_are_refused_in_a_line(run, digits_folder, words, said):
    status, output, errors = run("next", digits_folder, *words)
    assert (status, output) == (2, "")
    assert said in errors


def test_it_is_public():
    assert multirater.next_labels is next_labels
