"""JSON of results whose values are not what they should be, though it is JSON: a sentence, or it
does without.

Damaged bytes rarely are JSON still; somebody else's file, or one that was edited, is.
"""

import json
import shutil

import numpy as np
import pytest
from damage import TRIES, tried

from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import dataset_from_arrays, read_dataset, write_dataset
from multirater.report import write_report
from multirater.training import TrainConfig, predict, train
from multirater.training.plan_files import read_plan, write_plan
from multirater.training.planning import plan

ODD = [None, True, -1, 0, 2.5, 1e308, 10**40, "", "nan", "\x1b[2J", "../..", "a\0b", [], [None]]
ODD += [{}, {"": []}, [[1], "x"], {"level": "problem"}, ["=1+1"], "/etc/passwd", "x" * 5000]
DEEP = "[" * 100_000


def places(content, at=()):
    """Yield the paths to all values inside of some JSON."""
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield (*at, key)
            yield from places(value, (*at, key))


def hostile(text, random):
    """Return JSON with one value replaced, taken away or added; at times nested without end."""
    content = json.loads(text)
    ways = list(places(content))
    *way, last = ways[int(random.integers(len(ways)))]
    inside = content
    for key in way:
        inside = inside[key]
    odd, kind = ODD[int(random.integers(len(ODD)))], random.integers(10)
    if kind == 0:
        del inside[last]
    elif kind == 1 and isinstance(inside, dict):
        inside["surprise"] = odd
    elif kind == 2:
        return f'{{"deep": {DEEP}'
    else:
        inside[last] = odd
    return json.dumps(content)


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


def test_hostile_plans(results, tmp_path):
    attacked(results, tmp_path, "plan.json", lambda folder: read_plan(folder / "plan.json"), 9)
