import json

import numpy as np
import pytest
from typer.testing import CliRunner

from multirater import progress
from multirater.cli.app import app
from multirater.io import dataset_from_arrays, write_dataset


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    rng = np.random.default_rng(0)
    labels = (rng.random((4, 2, 40, 48)) < 0.2).astype(int)
    folder = tmp_path_factory.mktemp("study") / "data"
    write_dataset(dataset_from_arrays(labels, images=rng.normal(size=(4, 40, 48))), folder)
    return folder


def run(*words):
    try:
        return CliRunner().invoke(app, [str(word) for word in words])
    finally:
        progress.show_progress(False)


def test_a_plan_is_said_with_its_reasons(study):
    result = run("plan", study)
    assert result.exit_code == 0
    for word in ("view: 2d", "patch: whole images", "length:", "augmentation: mirror"):
        assert word in result.output


def test_a_plan_as_a_file_and_as_json(study, tmp_path):
    result = run("plan", study, "-o", tmp_path / "plan.json", "--json", "-q")
    assert json.loads(result.stdout) == json.loads((tmp_path / "plan.json").read_text())
    assert run("plan", study, "-o", tmp_path / "plan.json").exit_code == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--memory", "10MB"), "a budget of 10 MB is too small for a patch"),
        (("--memory", "much"), "memory 'much'"),
        (("--time", "soon"), "time 'soon'"),
        (("--patch", "96,96"), "a patch of 96 x 96"),
        (("--plan", "nowhere.json"), "No such file"),
        (("--folds", "9"), "9 folds of 4 cases"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(study, tmp_path, options, said):
    result = run("train", study, "-o", tmp_path / "run", *options)
    assert result.exit_code == 2
    errors = [line for line in result.output.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert said in errors[0]
    assert not (tmp_path / "run").exists()


def test_nonsense_in_a_plan_that_was_edited(study, tmp_path):
    run("plan", study, "-o", tmp_path / "plan.json", "-q")
    text = (tmp_path / "plan.json").read_text().replace('"epochs": 20', '"epochs": "many"')
    (tmp_path / "plan.json").write_text(text)
    result = run("train", study, "--plan", tmp_path / "plan.json", "-o", tmp_path / "run")
    assert result.exit_code == 2
    assert "epochs is 'many'" in result.output
    assert not (tmp_path / "run").exists()
