"""`--raters` and `--exclude` on every verb that reads a study."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from multirater.cli.app import app
from multirater.io import dataset_from_arrays, read_dataset, write_dataset


def run(*words):
    found = CliRunner().invoke(app, [*map(str, words), "-q"])
    return found.exit_code, found.stdout, found.stderr


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(0)
    truth = np.zeros((4, 16, 16), dtype=int)
    truth[:, 4:11, 5:12] = 1
    labels = np.where(rng.random((4, 3, 16, 16)) < 0.05, 1 - truth[:, None], truth[:, None])
    images = (truth * 200).astype(np.uint8)
    data = dataset_from_arrays(labels, images=images, truths=truth, raters=["anna", "bert", "carl"])
    write_dataset(data, folder / "data")
    (folder / "data" / "raters.csv").write_text(
        "rater,group\nanna,expert\nbert,expert\ncarl,tool\n"
    )
    rows = [
        {"task": t, "worker": w, "label": "yes" if (t + w) % 3 else "no"}
        for t in range(6)
        for w in (1, 2, 3)
    ]
    pd.DataFrame(rows).to_csv(folder / "answers.csv", index=False)
    return folder


def test_info_and_agreement(study):
    found = json.loads(run("info", study / "data", "--exclude", "carl", "--json")[1])
    assert [row["rater"] for row in found["raters"]] == ["anna", "bert"]
    words = ("agreement", study / "data", "--raters", "carl,anna", "--json", "--resamples", 5)
    pairs = json.loads(run(*words)[1])["pairs"]
    assert [(row["rater a"], row["rater b"]) for row in pairs] == [("anna", "carl")]


def test_fuse_and_what_is_made_of_it(study, tmp_path):
    words = ("--method", "majority-vote", "-o", tmp_path / "fused", "-j", 1)
    assert run("fuse", study / "data", "--exclude", "group=tool", *words)[0] == 0
    raters = pd.read_csv(tmp_path / "fused" / "raters.csv")["rater"]
    assert list(raters) == ["anna", "bert"]
    # A report on the fusion alone is about those whose labels it was made of.
    assert run("report", tmp_path / "fused", "-o", tmp_path / "page.html", "-j", 1)[0] == 0
    page = (tmp_path / "page.html").read_text()
    assert "bert" in page
    assert "carl" not in page


def test_fuse_a_table_of_answers(study, tmp_path):
    words = ("fuse", study / "answers.csv", "--method", "majority-vote", "-o", tmp_path / "out")
    assert run(*words, "--exclude", "2")[0] == 0
    assert list(pd.read_csv(tmp_path / "out" / "raters.csv").iloc[:, 0]) == [1, 3]


def test_evaluate(study, tmp_path):
    words = ("--method", "majority-vote", "-o", tmp_path / "vote", "-j", 1)
    run("fuse", study / "data", *words)
    evaluate = ("evaluate", tmp_path / "vote", "--json", "-j", 1, "--resamples", 5)
    status, output, _ = run(*evaluate, "--reference", study / "data", "--raters", "bert")
    assert status == 0
    assert {row["rater"] for row in json.loads(output)["raters"]} == {"bert"}
    status, _, errors = run(*evaluate, "--exclude", "bert")
    assert status == 2
    assert "--reference" in errors


def test_report_and_convert(study, tmp_path):
    words = ("--exclude", "anna", "--exclude", "bert")
    assert run("report", study / "data", "-o", tmp_path / "page.html", "-j", 1, *words)[0] == 0
    page = (tmp_path / "page.html").read_text()
    assert "Left out of this report: anna and bert." in page
    assert page.count("bert") == 1
    assert run("convert", study / "data", "-o", tmp_path / "copy", *words)[0] == 0
    assert read_dataset(tmp_path / "copy").raters == ("carl",)
    image = study / "data" / "images" / "0.png"
    status, _, errors = run("convert", image, "-o", tmp_path / "a.tif", *words)
    assert status == 2
    assert "data sets" in errors


@pytest.mark.parametrize(
    "verb", ["info", "agreement", "fuse", "train", "report", "view", "convert"]
)
def test_unknown_names_end_every_verb_at_once(study, tmp_path, verb):
    target = ("-o", tmp_path / "new.html") if verb in ("fuse", "train", "report", "convert") else ()
    status, _, errors = run(verb, study / "data", "--exclude", "cal", *target)
    assert status == 2
    assert "--exclude cal: no rater of this name; did you mean carl?" in errors
    assert not (tmp_path / "new.html").exists()
