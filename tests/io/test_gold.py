import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image as Pillow

import multirater
from multirater import dataset_from_arrays, read_dataset, with_gold, write_dataset
from multirater.errors import InputError
from multirater.fusion.answer_table import fuse_table
from multirater.io.gold import DECISIONS, Decision, gold_names, read_decisions
from multirater.io.survey import survey


def squares(n=6, n_raters=3):
    """Raters draw a square, the last of them a larger one; images are blank."""
    labels = np.zeros((n, n_raters, 12, 12), dtype=np.int16)
    labels[:, :, 3:8, 3:8] = 1
    labels[:, -1, 2:9, 2:9] = 1
    return dataset_from_arrays(
        labels,
        images=np.full((n, 1, 12, 12), 100, dtype=np.uint8),
        raters=["anna", "bert", "cleo"][:n_raters],
        cases=[f"c{number}" for number in range(n)],
    )


def one_rater(labels, cases, rater="eva"):
    return dataset_from_arrays(np.asarray(labels)[:, None], raters=[rater], cases=cases)


def written(folder, study, gold):
    write_dataset(study, folder / "study")
    write_dataset(gold, folder / "gold")
    return read_dataset(folder / "study"), folder / "gold"


@pytest.fixture
def decided(tmp_path):
    """A study whose case c1 an expert decided to show nothing but one pixel."""
    gold = np.zeros((1, 12, 12), dtype=np.int16)
    gold[0, 0, 0] = 1
    return written(tmp_path, squares(), one_rater(gold, ["c1"]))


def test_a_data_set_of_one_rater_is_gold(decided):
    data = with_gold(*decided)
    assert [case.name for case in data if case.gold is not None] == ["c1"]
    assert int(data["c1"].read_gold().array.sum()) == 1
    assert data["c0"].read_gold() is None


@pytest.mark.parametrize("method", [None, "majority-vote", "staple", "spatial-staple", "mean"])
@pytest.mark.parametrize("pooled", [False, True])
def test_what_is_decided_stands_in_every_fusion(decided, tmp_path, method, pooled):
    if pooled and method == "spatial-staple":
        pytest.skip("cannot be pooled")
    fused = multirater.fuse_dataset(
        with_gold(*decided), tmp_path / "fused", method=method, pooled=pooled, probability=True
    )
    found = read_dataset(fused.folder)
    (rater,) = found.raters
    label = found["c1"].read_label(rater).array
    assert np.argwhere(label).tolist() == [[0, 0]]
    assert found["c0"].read_label(rater).array.sum() > 20
    assert json.loads((fused.folder / "fusion.json").read_text())["gold"] == 1


def test_raters_are_judged_by_what_is_decided(tmp_path):
    """Two share an error and outvote the third, until an expert decides for the third."""
    study = squares(8)
    larger = np.zeros((4, 12, 12), dtype=np.int16)
    larger[:, 2:9, 2:9] = 1
    data, gold = written(tmp_path, study, one_rater(larger, ["c0", "c1", "c2", "c3"]))

    before = multirater.fuse.weighted_vote(
        [case.read_labels() for case in data], 2, pooled=True
    ).weight
    known = [case.read_gold() for case in with_gold(data, gold)]
    none = np.full((12, 12), -1)
    after = multirater.fuse.weighted_vote(
        [case.read_labels() for case in data],
        2,
        pooled=True,
        gold=[none if each is None else each.array for each in known],
    ).weight
    assert after[2] > before[2]


def test_class_labels_and_tables_are_held_to_gold(tmp_path):
    rows = [
        (f"t{t:02}", rater, "cat" if t < 10 else "dog")
        for t in range(20)
        for rater in ("anna", "bert", "cleo")
    ]
    answers = tmp_path / "answers.csv"
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv(answers, index=False)
    gold = tmp_path / "gold.csv"
    gold.write_text("task,worker,label\nt02,eva,dog\nt99,eva,cat\n")
    assert gold_names(gold) == {"t02": "dog", "t99": "cat"}
    from_table = fuse_table(answers, tmp_path / "fused", gold=gold)
    data = with_gold(read_dataset(answers), gold)
    from_cases = multirater.fuse_dataset(data, tmp_path / "as cases", method="dawid-skene")
    for done in (from_table, from_cases):
        assert done.cases.loc["t02"].idxmax() == "dog"
        assert done.cases.loc["t01"].idxmax() == "cat"
    gold.write_text("task,worker,label\nt99,eva,cat\n")
    with pytest.raises(InputError, match="none of the tasks"):
        fuse_table(answers, tmp_path / "again", gold=gold)


def test_classes_go_by_their_names(tmp_path):
    study = {"case": list("aabb"), "rater": ["r", "s"] * 2, "label": ["cat", "dog", "dog", "owl"]}
    gold = {"case": ["b"], "rater": ["eva"], "label": ["owl"]}
    data = with_gold(read_dataset(pd.DataFrame(study)), pd.DataFrame(gold))
    assert data.classes.names[int(data["b"].read_gold().array)] == "owl"
    with pytest.raises(InputError, match="class 'cow'"):
        with_gold(read_dataset(pd.DataFrame(study)), pd.DataFrame({**gold, "label": ["cow"]}))


def test_what_cannot_be_gold_is_named(decided, tmp_path):
    data, _ = decided
    write_dataset(squares(2), tmp_path / "two")
    with pytest.raises(InputError, match="gold labels of 3 raters"):
        with_gold(data, tmp_path / "two")
    write_dataset(one_rater(np.zeros((1, 12, 12), int), ["elsewhere"]), tmp_path / "other")
    with pytest.raises(InputError, match="gold labels of other cases: elsewhere"):
        with_gold(data, tmp_path / "other")
    with pytest.raises(InputError, match="does not exist"):
        with_gold(data, tmp_path / "nowhere")
    write_dataset(one_rater(np.zeros((1, 5, 5), int), ["c1"]), tmp_path / "small")
    with pytest.raises(InputError, match="5 x 5"):
        survey(with_gold(data, tmp_path / "small"))


def test_the_log_of_decisions_counts_and_a_cut_line_does_not(decided, tmp_path):
    data, gold = decided
    file = next((gold / "raters" / "eva").iterdir()).relative_to(gold).as_posix()
    acts = [
        Decision("c1", 1, "take", "decided", file, file, "drawing of anna", "eva", "now"),
        Decision("c2", 1, "skip", "skipped", why="blurred"),
        Decision("c3", 1, "paint", "draft", file),
    ]
    folder = tmp_path / "log"
    (folder / file).parent.mkdir(parents=True)
    (folder / file).write_bytes((gold / file).read_bytes())
    text = "".join(each.as_line() for each in acts)
    (folder / DECISIONS).write_text(text + '{"case": "c0", "revi')
    assert read_decisions(folder)["c2"][0].why == "blurred"
    found = with_gold(data, folder)
    assert [case.name for case in found if case.gold is not None] == ["c1"]
    (folder / DECISIONS).write_text(acts[1].as_line())
    assert with_gold(data, folder) is data
    (folder / DECISIONS).write_text('{"case": "c0", "odd": 1}\n')
    with pytest.raises(InputError, match="log of decisions"):
        with_gold(data, folder)


def test_a_changed_gold_label_is_a_changed_study(decided):
    data, gold = decided
    plain, held = survey(data).digest, survey(with_gold(data, gold)).digest
    assert plain != held
    label = replace(with_gold(data, gold)["c1"].read_gold(), array=np.ones((12, 12), np.int16))
    source = replace(data["c1"].truth or data["c1"].labels["anna"], read=partial(_same, label))
    cases = tuple(
        replace(case, gold=source) if case.name == "c1" else case for case in with_gold(data, gold)
    )
    assert survey(replace(data, cases=cases)).digest != held


def _same(label):
    return label


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"gold": "../elsewhere.png"}, "outside of this folder"),
        ({"gold": "/etc/hostname"}, "outside of this folder"),
        ({"state": "lol"}, "state 'lol'"),
        ({"state": "skipped"}, "which is skipped"),
        ({"revision": "x"}, "revision 'x'"),
        ({"revision": -2}, "has revision -2"),
        ({"before": 99}, "before 99"),
        ({"before": -1}, "before -1"),
        ({"label": "../elsewhere.png"}, "outside of this folder"),
        ({"case": 3}, "case 3"),
    ],
)
def test_a_log_that_was_tampered_with_is_refused(decided, tmp_path, changed, told):
    study, *_ = decided
    case = study.cases[0].name
    line = {"case": case, "revision": 1, "act": "take", "state": "decided", "gold": "labels/a.png"}
    (tmp_path / "tampered").mkdir()
    (tmp_path / "tampered" / DECISIONS).write_text(json.dumps({**line, **changed}) + "\n")
    with pytest.raises(InputError, match=told):
        with_gold(study, tmp_path / "tampered")


def test_gold_masks_have_the_values_of_their_study(tmp_path):
    """Copied from a rater, without classes.csv, of a study in which 255 is the background."""
    write_dataset(squares(), tmp_path / "study")
    for file in (tmp_path / "study" / "raters").rglob("*.png"):
        drawn = np.asarray(Pillow.open(file)) > 0
        Pillow.fromarray(np.where(drawn, 0, 255).astype(np.uint8)).save(file)
    told = "index,name,value\n0,background,255\n1,vessel,0\n"
    (tmp_path / "study" / "classes.csv").write_text(told)
    study = read_dataset(tmp_path / "study")
    assert 0 < study["c0"].read_label("anna").array.mean() < 0.5
    gold = tmp_path / "gold" / "raters" / "eva"
    gold.mkdir(parents=True)
    for name in ("c0", "c1"):
        file = Path(study[name].labels["anna"].files[0])
        (gold / file.name).write_bytes(file.read_bytes())
    found = with_gold(study, tmp_path / "gold")
    for name in ("c0", "c1"):
        expected = study[name].read_label("anna").array
        np.testing.assert_array_equal(found[name].read_gold().array, expected)
    with pytest.raises(InputError, match=r"no classes\.csv, where background is 255"):
        multirater.evaluate(replace(study, raters=("anna",)), tmp_path / "gold")
