import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import killing
import numpy as np
import pytest

import multirater
from multirater import dataset_from_arrays, read_dataset, with_gold, write_dataset
from multirater.adjudication.acts import act
from multirater.adjudication.server import make_desk
from multirater.errors import InputError
from multirater.io.gold import DECISIONS, read_decisions


def take(desk, place, layer, who="eva"):
    name = desk.study.case(place).name
    asked = {"act": "take", "layer": layer, "who": who, "revision": desk.gold.now(name).revision}
    return act(desk.study, desk.gold, place, asked)


def test_decisions_are_gone_on_with(desk_of, studies):
    with desk_of("masks") as desk:
        first = take(desk, 0, 1)
    with desk_of("masks") as desk:
        assert desk.gold.now(first.case) == first
        assert take(desk, 0, 0).revision == 2
    assert [each.how for each in read_decisions(desk.gold.folder)[first.case]] == [
        "drawing of bert",
        "drawing of anna",
    ]


def test_the_folder_is_a_data_set_of_the_study(desk_of, studies):
    with desk_of("masks") as desk:
        take(desk, 0, 1)
        found = read_dataset(desk.gold.folder)
        name = desk.study.case(0).name
        assert (found.raters, [case.name for case in found]) == (("gold",), [name])
        assert found[name].read_image() is not None
        assert np.array_equal(
            found[name].read_label("gold").array, desk.study.open(0).labels.array[1]
        )
    assert multirater.info(found).summary


@pytest.mark.parametrize("number", range(1, 6))
def test_a_kill_at_any_moment_keeps_what_was_kept(desk_of, studies, number):
    """Files of one act are flushed one by one; it is killed after each of them."""
    with desk_of("masks") as desk:
        kept = take(desk, 0, 1)
        folder = desk.gold.folder

        def second():
            take(desk, 0, 2)
            take(desk, 1, 0)

        was_killed = killing.killed_at_write(second, number)
    gold = with_gold(read_dataset(studies["masks"]), folder)[kept.case].read_gold().array
    with desk_of("masks") as desk:
        labels = desk.study.open(0).labels.array
        assert desk.gold.now(kept.case).revision in (1, 2)
        expected = labels[2] if desk.gold.now(kept.case).revision == 2 else labels[1]
        assert np.array_equal(gold, expected)
        named = {each.label for acts in desk.gold.acts.values() for each in acts}
        files = {f"labels/{file.name}" for file in (folder / "labels").iterdir()}
        assert files == named, "nothing is left over"
        assert read_dataset(folder)[kept.case].read_label("gold").array.tolist() == gold.tolist()
        assert take(desk, 2, 0).revision == 1
    assert was_killed


def test_a_line_that_was_cut_off_is_left_out(desk_of):
    with desk_of("masks") as desk:
        first = take(desk, 0, 1)
    log = desk.gold.folder / DECISIONS
    log.write_bytes(log.read_bytes() + b'{"case": "s1", "rev')
    with desk_of("masks") as desk:
        assert [each.case for each in desk.gold.changed(0)[1]] == [first.case]
        take(desk, 1, 0)
    assert all(json.loads(line) for line in log.read_text().splitlines())


def test_files_that_others_put_beside_the_labels_stay(desk_of):
    with desk_of("masks") as desk:
        take(desk, 0, 1)
    labels = desk.gold.folder / "labels"
    for name in ("notes.txt", "s0.png", "s0.draft.png", "other.7.png"):
        (labels / name).write_text("mine")
    (labels / "s0.8.png").write_text("mine")
    (labels / "s0.9.png").write_text("left by a killed server")
    (labels / ".s0.9.png.unnamed").touch()
    with desk_of("masks"):
        pass
    left = {file.name for file in labels.iterdir() if file.read_bytes() == b"mine"}
    assert left == {"notes.txt", "s0.png", "s0.draft.png", "other.7.png", "s0.8.png"}
    assert not list(labels.glob("*s0.9.png*"))


def test_labels_stay_where_an_older_log_is_put_back(desk_of):
    with desk_of("masks") as desk:
        take(desk, 0, 1)
        folder = desk.gold.folder
        older = (folder / DECISIONS).read_bytes()
        take(desk, 0, 2)
    files = set((folder / "labels").iterdir())
    (folder / DECISIONS).write_bytes(older)
    with desk_of("masks") as desk:
        assert set((folder / "labels").iterdir()) == files
        take(desk, 0, 0)
    assert set((folder / "labels").iterdir()) > files


@pytest.mark.parametrize("where", ["../outside.png", "/etc/hostname"])
def test_a_label_elsewhere_is_not_shown(desk_of, where):
    with desk_of("masks") as desk:
        first = take(desk, 0, 1)
    draft = replace(first, revision=2, act="paint", state="draft", gold="", label=where)
    with (desk.gold.folder / DECISIONS).open("a") as log:
        log.write(draft.as_line())
    with pytest.raises(InputError, match="outside of this folder"), desk_of("masks"):
        pass


@pytest.mark.parametrize("name", ["labels", DECISIONS])
def test_nothing_is_removed_or_written_through_a_link(desk_of, tmp_path, name):
    """Somebody else's folder could else have files of this machine removed."""
    with desk_of("masks") as desk:
        take(desk, 0, 1)
    victim = tmp_path / "victim"
    (desk.gold.folder / name).rename(victim)
    (desk.gold.folder / name).symlink_to(victim)
    if name == "labels":
        (victim / "s0.9.png").write_text("mine")
    with pytest.raises(InputError, match=f"{name} is a link"), desk_of("masks"):
        pass
    assert name != "labels" or (victim / "s0.9.png").read_text() == "mine"


def test_one_server_at_a_time(desk_of):
    with desk_of("masks"), pytest.raises(InputError, match="another process"), desk_of("masks"):
        pass


def test_other_folders_are_left_alone(studies, tmp_path):
    data = read_dataset(studies["masks"])
    other = tmp_path / "precious"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds no decisions"), make_desk(data, other):
        pass
    assert [file.name for file in other.iterdir()] == ["notes.txt"]


def test_decisions_on_another_study_are_not_mixed(desk_of, studies, tmp_path):
    with desk_of("masks") as desk:
        take(desk, 0, 0)
    data = read_dataset(studies["volumes"])
    with (
        pytest.raises(InputError, match="decisions on other cases"),
        make_desk(data, desk.gold.folder),
    ):
        pass


def test_what_nobody_disputes_is_refused(tmp_path):
    same = dataset_from_arrays(np.ones((2, 2, 4, 4), dtype=int))
    with pytest.raises(InputError, match="no case is disputed"), make_desk(same, tmp_path / "g"):
        pass
    assert not (tmp_path / "g").exists()


def test_names_of_cases_may_be_anything(tmp_path):
    labels = np.zeros((2, 2, 6, 6), dtype=int)
    labels[:, 0, 2:4, 2:4] = 1
    data = dataset_from_arrays(labels, cases=["../../evil", "a/b"])
    write_dataset(data, tmp_path / "study")
    with make_desk(read_dataset(tmp_path / "study"), tmp_path / "gold") as desk:
        for place in range(2):
            take(desk, place, 0)
    held = with_gold(read_dataset(tmp_path / "study"), tmp_path / "gold")
    assert all(case.read_gold().array.sum() == 4 for case in held)
    assert {path.parent.name for path in tmp_path.rglob("*.[12].png")} == {"labels"}


def test_pixels_that_a_rater_left_open_stay_open(tmp_path):
    labels = np.zeros((1, 2, 6, 6), dtype=int)
    labels[0, 0, 2:4, 2:4] = 1
    labels[0, 0, 0] = -1
    data = dataset_from_arrays(labels, cases=["c"])
    with make_desk(data, tmp_path / "gold") as desk:
        take(desk, 0, 0)
    gold = with_gold(data, tmp_path / "gold")["c"].read_gold().array
    assert (gold[0] == -1).all()
    assert gold[1:].tolist() == labels[0, 0, 1:].tolist()


def test_a_full_disk_keeps_the_log_whole(desk_of, monkeypatch):
    with desk_of("masks") as desk:
        take(desk, 0, 1)
        log = desk.gold.folder / DECISIONS
        before = log.read_bytes()

        flush, is_full = os.fsync, [True]

        def no_room(descriptor):
            if is_full[0] and Path(f"/proc/self/fd/{descriptor}").resolve() == log.resolve():
                raise OSError(errno.ENOSPC, "no room")
            flush(descriptor)

        monkeypatch.setattr(os, "fsync", no_room)
        with pytest.raises(OSError, match="no room"):
            take(desk, 1, 0)
        assert log.read_bytes() == before
        assert desk.gold.now("s1").revision == 0
        is_full[0] = False
        assert take(desk, 1, 0).revision == 1
    assert set(read_decisions(desk.gold.folder)) == {"s2", "s1"}
