import numpy as np
import pytest

from multirater import read_dataset, with_gold
from multirater.adjudication.acts import BadActError, act
from multirater.adjudication.content import current_label
from multirater.adjudication.gold_folder import StaleError


def do(desk, place, what, revision=None, **more):
    name = desk.study.case(place).name
    seen = desk.gold.now(name).revision if revision is None else revision
    asked = {"act": what, "who": "eva", "why": "", "revision": seen, **more}
    return act(desk.study, desk.gold, place, asked)


def gold_of(desk, studies, kind):
    found = with_gold(read_dataset(studies[kind]), desk.gold.folder)
    return {case.name: case.read_gold().array for case in found if case.gold is not None}


def test_a_taken_drawing_is_the_gold_label_at_once(desk_of, studies):
    with desk_of("masks") as desk:
        bert = desk.study.open(0).labels.array[1]
        now = do(desk, 0, "take", layer=1, why="the rim belongs to it")
        assert (now.state, now.how, now.who, now.why) == (
            *("decided", "drawing of bert"),
            *("eva", "the rim belongs to it"),
        )
        assert now.when.endswith("+00:00")
        (found,) = gold_of(desk, studies, "masks").values()
        assert np.array_equal(found, bert)


def test_the_fused_label_can_be_taken(desk_of, studies):
    with desk_of("masks") as desk:
        do(desk, 1, "take", layer="fused")
        (found,) = gold_of(desk, studies, "masks").values()
        assert np.array_equal(found, desk.study.open(1).fused)


def test_painting_begins_with_what_was_fused_and_counts_when_accepted(desk_of, studies):
    with desk_of("masks") as desk:
        fused = desk.study.open(0).fused
        now = do(desk, 0, "paint", view=0, slice=0, **{"class": 1}, runs=[[0, 3], [24, 2]])
        assert now.state == "draft"
        assert gold_of(desk, studies, "masks") == {}
        now = do(desk, 0, "paint", view=0, slice=0, **{"class": 0}, runs=[[0, 1]])
        now = do(desk, 0, "accept")
        assert (now.state, now.how) == ("decided", "painted on what was fused")
        (found,) = gold_of(desk, studies, "masks").values()
        expected = fused.copy()
        expected[0, 1:3] = expected[1, :2] = 1
        assert np.array_equal(found, expected)


def test_an_earlier_decision_stands_while_it_is_painted_over(desk_of, studies):
    with desk_of("masks") as desk:
        do(desk, 0, "take", layer=0)
        before = gold_of(desk, studies, "masks")
        do(desk, 0, "paint", view=0, slice=0, **{"class": 1}, runs=[[0, 5]])
        after = gold_of(desk, studies, "masks")
        assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_skipped_case_has_no_gold_label_and_a_reason(desk_of, studies):
    with desk_of("masks") as desk:
        do(desk, 0, "take", layer=0)
        with pytest.raises(BadActError, match="reason"):
            do(desk, 0, "skip")
        assert do(desk, 0, "skip", why="too blurred").state == "skipped"
        assert gold_of(desk, studies, "masks") == {}


def test_everything_can_be_undone_step_by_step(desk_of, studies):
    with desk_of("masks") as desk:
        do(desk, 0, "take", layer=0)
        do(desk, 0, "paint", view=0, slice=0, **{"class": 1}, runs=[[0, 5]])
        do(desk, 0, "accept")
        do(desk, 0, "skip", why="hm")
        assert do(desk, 0, "undo").state == "decided"
        assert do(desk, 0, "undo").state == "draft"
        now = do(desk, 0, "undo")
        assert (now.state, now.how) == ("decided", "drawing of anna")
        assert np.array_equal(current_label(desk.study, desk.gold, 0)[1][0, :5], [0] * 5)
        assert do(desk, 0, "undo").state == "open"
        with pytest.raises(BadActError, match="nothing to undo"):
            do(desk, 0, "undo")
        assert do(desk, 0, "take", layer=2).state == "decided"
        assert do(desk, 0, "undo").state == "open"
        assert gold_of(desk, studies, "masks") == {}


@pytest.mark.parametrize("view", [0, 1, 2])
def test_volumes_are_painted_in_every_view(desk_of, view):
    with desk_of("volumes") as desk:
        opened = desk.study.open(0)
        shown = opened.turned(opened.fused, view)
        number, width = 2, shown.shape[2]
        runs = [[width * 3 + 1, 4]]
        do(desk, 0, "paint", view=view, slice=number, **{"class": 2}, runs=runs)
        label = current_label(desk.study, desk.gold, 0)[1]
        changed = opened.turned(label, view)
        assert (changed[number, 3, 1:5] == 2).all()
        changed[number, 3, 1:5] = shown[number, 3, 1:5]
        assert np.array_equal(label, opened.fused)


def test_classes_are_decided_by_name(desk_of, studies):
    with desk_of("classes") as desk:
        names = desk.study.found.classes.names
        do(desk, 0, "class", **{"class": names.index("owl")})
        now = do(desk, 1, "take", layer=0)
        assert now.how == "answer of anna"
        found = gold_of(desk, studies, "classes")
        assert len(found) == 2
        assert names[int(found[desk.study.case(0).name])] == "owl"
        with pytest.raises(BadActError, match="classes"):
            do(desk, 0, "paint", view=0, slice=0, **{"class": 1}, runs=[[0, 1]])


def test_whoever_has_not_seen_the_last_act_overwrites_nothing(desk_of):
    with desk_of("masks") as desk:
        do(desk, 0, "take", layer=0)
        with pytest.raises(StaleError) as error:
            do(desk, 0, "take", revision=0, layer=1)
        assert error.value.now.how == "drawing of anna"
        assert do(desk, 1, "take", revision=0, layer=1).revision == 1, "other cases are free"


@pytest.mark.parametrize(
    "asked",
    [
        {"act": "take", "layer": 9},
        {"act": "take", "layer": -1},
        {"act": "take", "layer": True},
        {"act": "take"},
        {"act": "explode"},
        {"act": ["take"]},
        {"act": "take", "layer": 0, "who": "  \n"},
        {"act": "take", "layer": 0, "who": 7},
        {"act": "take", "layer": 0, "revision": "0"},
        {"act": "accept"},
        {"act": "class", "class": 1},
        {"act": "paint", "view": 0, "slice": 0, "class": 1, "runs": []},
        {"act": "paint", "view": 0, "slice": 0, "class": 1, "runs": [[0]]},
        {"act": "paint", "view": 0, "slice": 0, "class": 1, "runs": [["a", 1]]},
        {"act": "paint", "view": 0, "slice": 0, "class": 1, "runs": [[1.5, 1]]},
        {"act": "paint", "view": 0, "slice": 0, "class": 1, "runs": [[0, 5], [2**63 - 1, 1]]},
        {"act": "paint", "view": 0, "slice": 0, "class": 1, "runs": [[0, 5], [2**80, 1]]},
        {"act": "paint", "view": 0, "slice": 0, "class": 1, "runs": [[0, 577]]},
        {"act": "paint", "view": 0, "slice": 0, "class": 1, "runs": [[-1, 2]]},
        {"act": "paint", "view": 0, "slice": 0, "class": 1, "runs": [[0, 2**62]]},
        {"act": "paint", "view": 0, "slice": 0, "class": 1, "runs": [[0, 400], [0, 400]]},
        {"act": "paint", "view": 1, "slice": 0, "class": 1, "runs": [[0, 1]]},
        {"act": "paint", "view": 0, "slice": 1, "class": 1, "runs": [[0, 1]]},
        {"act": "paint", "view": 0, "slice": 0, "class": 2, "runs": [[0, 1]]},
    ],
)
def test_what_is_no_act_changes_nothing(desk_of, asked):
    with desk_of("masks") as desk:
        with pytest.raises(BadActError):
            act(desk.study, desk.gold, 0, {"revision": 0, "who": "eva", **asked})
        assert desk.gold.changed(0) == (0, [])


def test_names_and_reasons_are_one_line_of_some_length(desk_of):
    with desk_of("masks") as desk:
        now = do(desk, 0, "take", layer=0, who="e\nva\x00" + "a" * 200, why="x" * 5000)
        assert now.who == "e va " + "a" * 75
        assert len(now.why) == 1000
