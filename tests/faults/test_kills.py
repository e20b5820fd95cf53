"""Killed at every write, and on a full disk: nothing is lost, and the end is the same."""

import os
from functools import partial

import numpy as np
import pytest
from killing import digests, killed_at_write, with_small_disk

from multirater.acquisition.writing import write_next_labels
from multirater.errors import InputError
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import dataset_from_arrays, read_dataset, write_dataset
from multirater.io.exporters.exporting import export_dataset
from multirater.io.importers.files import import_files
from multirater.io.own_files import FILE_NAME
from multirater.report import write_report
from multirater.simulate import simulate_dataset
from multirater.training.plan_files import write_plan
from multirater.training.planning import plan
from multirater.verbs.convert import convert
from multirater.verbs.next_labels import next_labels

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Three cases of three raters, with a truth."""
    random = np.random.default_rng(0)
    truth = (random.random((3, 8, 9)) > 0.5).astype(int)
    labels = np.where(random.random((3, 3, 8, 9)) < 0.8, truth[:, None], 1 - truth[:, None])
    folder = tmp_path_factory.mktemp("faults") / "study"
    images = random.integers(0, 255, (3, 8, 9), dtype=np.uint8)
    write_dataset(dataset_from_arrays(labels, images=images, truths=truth), folder)
    return folder


def fuse(study, out, **options):
    fuse_dataset(read_dataset(study), out, method="staple", resume=True, **options)


def simulate(study, out):
    write_dataset(simulate_dataset(read_dataset(study), seed=1), out, overwrite=True)


def to_nifti(study, out):
    convert(study, out, suffix=".nii.gz", overwrite=True)


def report(study, out):
    write_report(study, out / "report.html", overwrite=True)


VERBS = {"fuse": fuse, "simulate": simulate, "convert": to_nifti, "report": report}


def export_folder(study, out):
    if not out.exists():  # which this verb never replaces
        export_dataset(read_dataset(study), "nnunet", out)


def export_file(study, out):
    export_dataset(read_dataset(study), "coco", out / "labels.json", overwrite=True)


def import_table(study, out):
    pattern = "raters/{rater}/{case}.png"
    import_files(study, out / "manifest.csv", label=pattern, overwrite=True)


def plan_file(study, out):
    write_plan(plan(read_dataset(study), memory="6GB"), out / "plan.json", overwrite=True)


def ask(study, out):
    write_next_labels(next_labels(study, budget=2), out / "next.csv", images={}, overwrite=True)


FILES = {"export": export_file, "import": import_table, "plan": plan_file, "next": ask}


@pytest.mark.parametrize("verb", FILES)
def test_verbs_of_one_file_killed_and_without_room(study, tmp_path, verb):
    """Nothing, or the old file, is there until the new one is whole."""
    act, out = FILES[verb], tmp_path / "out"
    assert killed_at_write(partial(act, study, out), 1)
    assert not [name for name in digests(out) if not name.startswith(".")]
    act(study, out)
    before = comparable(digests(out))
    assert len(before) == 1
    assert killed_at_write(partial(act, study, out), 1)
    assert comparable(digests(out)) == before
    assert with_small_disk(partial(_told, act, study, out), 20) == 0
    assert comparable(digests(out)) == before


def _told(act, study, out):
    with pytest.raises(InputError, match="cannot be written"):
        act(study, out)


def test_an_export_of_a_folder_that_was_killed(study, tmp_path):
    export_folder(study, tmp_path / "whole")
    number = 1
    while killed_at_write(partial(export_folder, study, tmp_path / "out"), number):
        assert not (tmp_path / "out").exists()
        number += 1
        assert number < 100
    assert number > 1
    assert comparable(digests(tmp_path / "out")) == comparable(digests(tmp_path / "whole"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "whole"]


@pytest.mark.parametrize("verb", VERBS)
def test_killed_at_every_write(study, tmp_path, verb):
    act = VERBS[verb]
    act(study, tmp_path / "whole")
    expected = digests(tmp_path / "whole")
    number, kills = 1, 0
    while killed_at_write(partial(act, study, tmp_path / "out"), number):
        kills += 1
        if verb != "report":  # which writes one page, into a folder of its reader
            assert not (tmp_path / "out").exists(), "half a result in its place"
        number += 1
        assert number < 100
    assert kills >= 1
    assert comparable(digests(tmp_path / "out")) == comparable(expected)
    if verb != "report":
        assert [path.name for path in tmp_path.iterdir() if path.name != "whole"] == ["out"]


def comparable(found):
    """Leave out what holds a time: gzip headers do."""
    return {
        name: text
        for name, text in found.items()
        if not name.endswith(".nii.gz") and not (name.startswith(".") and name != FILE_NAME)
    }


@pytest.mark.parametrize("verb", ["fuse", "simulate", "convert"])
def test_an_old_result_outlives_kills_while_it_is_replaced(study, tmp_path, verb):
    act = VERBS[verb]
    act(study, tmp_path / "out")
    before = comparable(digests(tmp_path / "out"))
    for number in (1, 4):
        assert killed_at_write(partial(act, study, tmp_path / "out"), number)
        assert comparable(digests(tmp_path / "out")) == before
    act(study, tmp_path / "out")
    assert comparable(digests(tmp_path / "out")) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("verb", VERBS)
def test_a_full_disk_ends_in_a_sentence_and_leaves_the_old(study, tmp_path, verb):
    act = VERBS[verb]
    act(study, tmp_path / "out")
    before = comparable(digests(tmp_path / "out"))
    said = tmp_path / "said"

    def told():
        try:
            act(study, tmp_path / "out")
        except InputError:
            said.touch()

    assert with_small_disk(told, 60) == 0
    assert said.exists()
    assert comparable(digests(tmp_path / "out")) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_place_that_may_not_be_written_is_told(study, tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match="cannot be written"):
            simulate(study, tmp_path / "out")
    finally:
        tmp_path.chmod(0o700)
