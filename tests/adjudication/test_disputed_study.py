import numpy as np

from multirater.adjudication.disputed_study import entropy_of


def test_the_most_disputed_case_comes_first_and_agreed_ones_do_not_come(desk_of):
    with desk_of("masks") as desk:
        assert [desk.study.case(place).name for place in range(3)] == ["s2", "s1", "s0"]
        assert desk.study.disagreement == sorted(desk.study.disagreement, reverse=True)
        assert len(desk.study.order) == 3
    with desk_of("classes") as desk:
        assert {desk.study.case(i).name for i in range(4)} == {"a0", "a1", "a2", "a3"}
        assert desk.study.case(0).name == "a2", "three answers"


def test_the_fused_label_and_how_unsure_it_is(desk_of):
    with desk_of("masks") as desk:
        opened = desk.study.open(0)
        disputed = opened.labels.array.max(0) != opened.labels.array.min(0)
        assert (opened.uncertainty[disputed] > 0).all()
        assert (opened.uncertainty[~disputed] == 0).all()
        assert opened.fused[8:16, 8:16].all()
        assert desk.study.open(0) is opened, "kept as it was read"
    with desk_of("classes") as desk:
        opened = desk.study.open(0)
        assert abs(sum(opened.probability) - 1) < 1e-6


def test_entropy_is_one_where_all_classes_are_as_likely():
    assert entropy_of(np.full((3, 2), 1 / 3)).tolist() == [1.0, 1.0]
