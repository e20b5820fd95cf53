"""The verb evaluate, in this process."""

import json

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from multirater.cli import evaluating
from multirater.cli.verb import verb
from multirater.evaluation.scoring import evaluate
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import read_dataset


@pytest.fixture(scope="module")
def fused(digits_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fused")
    for method in ("mean", "staple"):
        fuse_dataset(read_dataset(digits_folder), folder / method, method=method)
    return folder


def run(*words):
    app = typer.Typer()
    app.command()(verb(evaluating.evaluate))
    done = CliRunner().invoke(app, [*map(str, words), "--workers", "1", "--resamples", "10", "-q"])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


def test_tables_for_people(digits_folder, fused):
    done = run(fused / "staple", "--reference", digits_folder)
    assert done.exit_code == 0
    for words in ("Means over cases, with 95% intervals", "Each rater", "By consensus level"):
        assert words in done.stdout
    blank = next(line for line in done.stdout.splitlines() if line.strip().startswith("blank"))
    assert blank.split()[:3] == ["blank", "0.000", "0.000"]


def test_csv_and_json_hold_the_same_scores(digits_folder, fused):
    expected = evaluate(fused / "staple", digits_folder, n_resamples=10)
    text = run(fused / "staple", "--reference", digits_folder, "--csv").stdout
    assert text.splitlines()[0] == "measure,class,value,low,high,n_cases,n_empty"
    assert text == expected.scores.to_csv()
    content = json.loads(run(fused / "staple", "--reference", digits_folder, "--json").stdout)
    assert content["scores"][0]["value"] == expected.scores["value"].iloc[0]
    assert len(content["cases"]) == 12
    assert content["notes"] == []


def test_a_split_with_and_without_reference(digits_folder, fused):
    for words in (["--reference", digits_folder], []):
        content = json.loads(run(fused / "mean", *words, "--split", "test", "--json").stdout)
        assert [case["split"] for case in content["cases"]] == ["test"] * 4
    assert run(fused / "mean", "--split", "night").exit_code == 2


def test_results_go_to_a_file_once(digits_folder, fused, tmp_path):
    file = tmp_path / "scores.csv"
    words = (fused / "mean", "--reference", digits_folder, "-o", file)
    assert "Means over cases" in run(*words).stdout
    assert set(pd.read_csv(file)["measure"]) >= {"Dice", "IoU", "consensus"}
    again = run(*words)
    assert again.exit_code == 2
    assert "already exists" in again.stderr
    assert run(*words, "--overwrite").exit_code == 0
    run(fused / "mean", "-o", tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text())["level"] == 0.95


def test_a_file_of_another_kind_is_refused(fused, tmp_path):
    done = run(fused / "mean", "-o", tmp_path / "scores.xlsx")
    assert done.exit_code == 2
    assert ".json" in done.stderr


def test_several_seeds_give_mean_and_deviation(digits_folder, fused):
    folders = [fused / "mean", fused / "staple"]
    done = run(*folders, "--reference", digits_folder, "--json")
    row = json.loads(done.stdout)["scores"][0]
    found = [evaluate(each, digits_folder, n_resamples=1).scores for each in folders]
    dice = [scores.loc[("Dice", "all"), "value"] for scores in found]
    assert row["mean"] == pytest.approx(sum(dice) / 2)
    assert row["std"] == pytest.approx(abs(dice[0] - dice[1]) / 2**0.5)
    text = run(*folders).stdout
    assert "over 2 predictions" in text
    assert "Paired differences on common cases, with 95% intervals" in text
    row = json.loads(done.stdout)["differences"][0]
    assert (row["method a"], row["method b"]) == tuple(folder.name for folder in folders[:2])
    assert row["difference"] == pytest.approx(dice[0] - dice[1])


def test_faults_are_told_without_traceback(digits_folder, fused):
    done = run(digits_folder, "--reference", digits_folder)
    assert done.exit_code == 2
    assert "predictions by 5 raters" in done.stderr
