import json
import shutil
from dataclasses import replace

import pytest

from multirater import read_dataset
from multirater.errors import InputError
from multirater.fusion.answer_table import fuse_table
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io.results.origin import write_origin
from multirater.report.subject import kind_at, read_subject


@pytest.fixture
def fused(kinds, tmp_path):
    fuse_dataset(read_dataset(kinds["truth"]), tmp_path / "fused", method="majority-vote")
    return tmp_path / "fused"


@pytest.fixture
def run(kinds, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.json").write_text('{"method": "cm"}')
    (folder / "data.json").write_text("{}")
    (folder / "curves.csv").write_text("epoch,train_nll,val_nll\n0,0.5,0.6\n1,0.4,0.5\n")
    write_origin(folder, kinds["truth"])
    return folder


def test_a_data_set_is_itself(kinds):
    found = read_subject([kinds["truth"]])
    assert found.kinds == ("data set",)
    assert len(found.dataset) == 8
    assert not found.results


def test_a_fusion_knows_its_data_set_and_its_findings(fused, kinds):
    found = read_subject([fused])
    assert found.dataset.raters == read_dataset(kinds["truth"]).raters
    assert [(each.name, each.kind) for each in found.results] == [("majority-vote", "fusion")]
    findings = json.loads((fused / "fusion.json").read_text())["findings"]
    assert [each.text for each in found.results[0].findings] == [each["text"] for each in findings]


def test_results_of_some_cases_are_reported_on_these(kinds, tmp_path):
    data = read_dataset(kinds["truth"])
    some = replace(data, cases=data.cases[:3])
    fuse_dataset(some, tmp_path / "fused", method="majority-vote")
    assert len(read_subject([tmp_path / "fused"]).dataset) == 3
    assert len(read_subject([kinds["truth"], tmp_path / "fused"]).dataset) == 8


def test_a_run_brings_its_curves_and_its_trust(run):
    (run / "trust.json").write_text('{"summary": "fine", "findings": []}')
    (found,) = read_subject([run]).runs
    assert found.name == "network cm"
    assert found.curves["val_nll"].tolist() == [0.6, 0.5]
    assert found.trust.summary == "fine"


def test_two_results_of_one_method_have_names_of_their_own(fused, kinds):
    names = [each.name for each in read_subject([kinds["truth"], fused, fused]).results]
    assert names == ["majority-vote", "majority-vote #2"]


def test_predictions_without_data_are_cases_of_their_own(kinds, tmp_path):
    from multirater import dataset_from_arrays, write_dataset

    labels = read_dataset(kinds["truth"])["train-0000"].read_labels(["good"]).array
    network = dataset_from_arrays(labels[None], raters=["network"])
    write_dataset(network, tmp_path / "predicted")
    assert kind_at(tmp_path / "predicted") == "predictions"
    found = read_subject([tmp_path / "predicted"])
    assert found.dataset.raters == ()
    assert len(found.results) == 1


def test_a_table_of_answers_is_a_data_set(tmp_path):
    (tmp_path / "answers.csv").write_text("task,worker,label\n1,a,cat\n1,b,dog\n")
    found = read_subject([tmp_path / "answers.csv"])
    assert found.dataset.kind == "classes"
    assert found.title == "answers"


def test_fused_answers_know_their_table(tmp_path):
    table = tmp_path / "answers.csv"
    table.write_text("task,worker,label\n1,a,cat\n1,b,dog\n1,c,dog\n2,a,cat\n2,b,cat\n")
    fuse_table(table, tmp_path / "crowd", method="majority-vote")
    found = read_subject([tmp_path / "crowd"])
    assert found.dataset.raters == ("a", "b", "c")
    (result,) = found.results
    assert result.dataset["1"].read_label("majority-vote").array == 1


def test_a_fusion_whose_data_are_gone_asks_for_them(fused):
    (fused / "origin.json").unlink()
    with pytest.raises(InputError, match="name the data set too"):
        read_subject([fused])
    (fused / "origin.json").write_text('{"data": "../gone"}')
    with pytest.raises(InputError, match="not there any more"):
        read_subject([fused])


def test_an_unfinished_fusion_is_named(fused):
    (fused / "manifest.csv").unlink()
    with pytest.raises(InputError, match="not finished"):
        read_subject([fused])


def test_two_data_sets_are_refused(kinds):
    with pytest.raises(InputError, match="second data set"):
        read_subject([kinds["truth"], kinds["no truth"]])


def test_what_is_not_there_is_said_not_to_be(kinds, tmp_path):
    with pytest.raises(InputError, match="no-such-run: does not exist"):
        read_subject([kinds["truth"], tmp_path / "no-such-run"])


@pytest.mark.parametrize("text", ["{", "[]"])
def test_broken_settings_are_named(fused, text):
    (fused / "fusion.json").write_text(text)
    with pytest.raises(InputError, match="JSON"):
        read_subject([fused])


def test_it_is_said_which_data_set_of_this_machine_is_shown(fused, kinds, monkeypatch):
    """Somebody else's `origin.json` may name any."""
    said = []
    monkeypatch.setattr("multirater.report.subject.say", said.append)
    read_subject([fused])
    assert said == [f"{fused} says that its data set is {kinds['truth'].resolve()}, which is shown"]
    write_origin(fused, fused.parent / "study")
    shutil.copytree(kinds["truth"], fused.parent / "study")
    read_subject([fused])
    assert len(said) == 1


@pytest.mark.parametrize("value", ["5", "[1]", "null", '"x"', '{"a": 1}'])
def test_a_fusion_with_values_of_another_kind_is_read_as_far_as_it_goes(fused, value):
    settings = json.loads((fused / "fusion.json").read_text())
    settings |= dict.fromkeys(("options", "notes", "findings", "why"), json.loads(value))
    (fused / "fusion.json").write_text(json.dumps(settings))
    (found,) = read_subject([fused]).results
    assert found.kind == "fusion"


@pytest.mark.parametrize("name", ["fusion.json", "origin.json"])
def test_json_that_is_nested_without_end_is_refused(fused, name):
    (fused / name).write_text("[" * 100_000)
    with pytest.raises(InputError, match=name):
        read_subject([fused])


def test_an_origin_whose_name_is_too_long_is_not_there(fused):
    (fused / "origin.json").write_text(json.dumps({"data": "x" * 5000}))
    with pytest.raises(InputError, match="not there any more"):
        read_subject([fused])
