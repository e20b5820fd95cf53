"""JSON of results whose values are not what they should be, though it is JSON: a sentence, or it
does without.

Damaged bytes rarely are JSON still; somebody else's file, or one that was edited, is.
"""

import json
import shutil
from contextlib import contextmanager
from copy import deepcopy

import numpy as np
import pytest
from damage import TRIES, tried
from hostile_json import hostile

from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import dataset_from_arrays, read_dataset, write_dataset
from multirater.report import write_report
from multirater.training import TrainConfig, predict, resume, train
from multirater.training.memory import at_most
from multirater.training.module import RaterModule
from multirater.training.plan_files import read_plan, write_plan
from multirater.training.planning import plan
from multirater.training.posterior import fuse_by_network


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A study, a fusion of it, a run, and a plan."""
    folder = tmp_path_factory.mktemp("json")
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, (8, 2))
    data = dataset_from_arrays(labels, images=random.normal(size=(8, 3)).astype(np.float32))
    write_dataset(data, folder / "study")
    study = read_dataset(folder / "study")
    fuse_dataset(study, folder / "fused", method="majority-vote")
    config = TrainConfig(
        method="cm", epochs=1, batch_size=8, n_features=2, backbone_options={"hidden": [2]}
    )
    train(study, folder / "run", config)
    write_plan(plan(study), folder / "plan.json")
    return folder


def attacked(results, tmp_path, name, act, times=1):
    """Act on copies of the results with one hostile file."""
    text = (results / name).read_text()
    random = np.random.default_rng([len(name), len(text)])
    for number in range(times * min(max(TRIES // 3, 4), 40)):  # a report takes its time
        copied = tmp_path / f"copy{number}"
        shutil.copytree(results, copied)
        (copied / name).write_text(hostile(text, random))
        tried(f"hostile {name}", lambda: act(copied), lambda found: True)  # noqa: B023
        shutil.rmtree(copied)


@pytest.mark.parametrize(
    "name", ["fused/fusion.json", "fused/origin.json", "run/trust.json", "run/origin.json"]
)
def test_hostile_results_in_a_report(results, tmp_path, name):
    def act(folder):
        return write_report(folder / name.split("/", maxsplit=1)[0], folder / "report.html")

    attacked(results, tmp_path, name, act)


@pytest.mark.parametrize("name", ["run/config.json", "run/data.json"])
def test_hostile_runs(results, tmp_path, name):
    def act(folder):
        return predict(folder / "run", read_dataset(folder / "study"), folder / "predictions")

    attacked(results, tmp_path, name, act, times=3)


VALUES = [None, True, -1, 0, 1, 2, 7, 2.5, 1e-308, 1e308, 10**9, 10**30, "", "nan", "auto", "cm"]
VALUES += [[], [0, 0], [-1], [1, 2, 3], [3000] * 3, [4] * 2000, [[0, 0], [0, 0]], [[2, 2], [2, 2]]]
VALUES += [[[999, 999]] * 3, [[[]]], {}, {"hidden": [0]}, {"hidden": "x"}, {"dropout": 9}, "NaN"]
VALUES += [{"kind": "study", "mean": [0, 0, 0], "deviation": [1]}, json.loads("[" * 99 + "]" * 99)]


def run_of(kind):
    """A study of a kind and a run on it, by arrays: (data, settings)."""
    random = np.random.default_rng(0)
    if kind == "classes":
        images = random.normal(size=(8, 3)).astype(np.float32)
        labels, more = random.integers(0, 2, (8, 2)), {"backbone_options": {"hidden": [2]}}
    else:
        images = random.integers(0, 255, (4, 8, 8), dtype=np.uint8)
        labels, more = random.integers(0, 2, (4, 2, 8, 8)), {"channels": (2, 4)}
    config = TrainConfig(method="cm", epochs=1, batch_size=4, n_features=2, **more)
    return dataset_from_arrays(labels, images=images), config


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder by kind of labels, with a study and a run."""
    found = {}
    for kind in ("classes", "masks"):
        folder = found[kind] = tmp_path_factory.mktemp(kind)
        data, config = run_of(kind)
        write_dataset(data, folder / "study")
        train(read_dataset(folder / "study"), folder / "run", config)
    return found


class LearnsError(Exception):
    """A run that has come to its steps."""


def go_on(folder, study):
    try:
        resume(study, folder / "run")
    except LearnsError:
        return


def begin_again(folder, study):
    shutil.rmtree(folder / "run/checkpoints")
    (folder / "run/data.json").unlink()
    go_on(folder, study)


OF_SETTINGS = {
    "predict": lambda folder, study: predict(folder / "run", study, folder / "out"),
    "resume": go_on,
    "resume from the start": begin_again,
    "fuse": lambda folder, study: fuse_by_network(folder / "run", study, folder / "out"),
    "report": lambda folder, _: write_report(folder / "run", folder / "report.html"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["classes", "masks"])
@pytest.mark.parametrize("verb", OF_SETTINGS)
def test_every_setting_of_a_run_with_every_odd_value(trained, tmp_path, monkeypatch, verb, kind):
    """Whatever a line of config.json says: a sentence, or a run as if somebody had asked for it."""
    steps = []

    def few(self, batch, number):
        if len(steps) >= 3:
            raise LearnsError
        steps.append(number)
        return step(self, batch, number)

    step = RaterModule.training_step
    monkeypatch.setattr(RaterModule, "training_step", few)
    study = read_dataset(trained[kind] / "study")
    settings = json.loads((trained[kind] / "run/config.json").read_text())
    inner = [("normalisation", name) for name in settings["normalisation"]]
    ways = [*((name,) for name in settings), *inner]
    # A run on two devices would start this test once more.
    tries = [
        (way, odd) for way in ways for odd in VALUES if way != ("devices",) or odd not in (2, 7)
    ]
    random = np.random.default_rng(len(verb) + len(kind))
    for number in random.permutation(len(tries))[: 3 * TRIES]:
        (*way, last), odd = tries[number]
        changed = deepcopy(settings)
        (changed[way[0]] if way else changed)[last] = odd
        shutil.copytree(trained[kind], tmp_path / "copy")
        (tmp_path / "copy/run/config.json").write_text(json.dumps(changed))
        steps.clear()
        with memory_guarded():
            tried(
                f"settings of {kind}: {verb}",
                lambda: OF_SETTINGS[verb](tmp_path / "copy", study),
                lambda _: True,
            )
        shutil.rmtree(tmp_path / "copy")


@contextmanager
def memory_guarded():
    """Let a try take no more than a gigabyte beyond what is there."""
    with at_most(2**30):
        yield


def test_hostile_plans(results, tmp_path):
    attacked(results, tmp_path, "plan.json", lambda folder: read_plan(folder / "plan.json"), 9)
