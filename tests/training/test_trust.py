import json

import numpy as np

from multirater.fuse.rater_table import rater_table
from multirater.io.results.statements import write_trust
from multirater.training.trust import Evidence, trust_of

CLASSES = ("background", "lesion")


def evidence(**changes):
    """Two good raters of twenty cases, who agree with network and vote."""
    per_case = np.tile([[[900.0, 10.0], [5.0, 85.0]]] * 2, (20, 1, 1, 1)).reshape(20, 2, 2, 2)
    per_case = changes.pop("per_case", per_case)
    raters = changes.pop("raters", ("a", "b"))
    found = {
        "table": rater_table(per_case, raters, CLASSES),
        "counts": per_case.sum(0),
        "disputed": np.array([[200.0, 100.0], [50.0, 300.0]]),
        "votes": 20 * np.array([[905.0, 5.0], [3.0, 87.0]]),
        "changed": np.full(20, 8.0),
        "disputed_share": 0.015,
        "cases": tuple(f"case {n}" for n in range(20)),
        "raters": raters,
        "classes": CLASSES,
        "weights": (0.5, 0.5),
    }
    return Evidence(**{**found, **changes})


def of_three(**changes):
    """The same of three raters: of two who differ, one says otherwise whatever is right."""
    per_case = np.tile([[[900.0, 10.0], [5.0, 85.0]]] * 3, (20, 1, 1, 1)).reshape(20, 3, 2, 2)
    return evidence(per_case=per_case, raters=("a", "b", "c"), **changes)


def texts(trust, level):
    return " ".join(each.text for each in trust.findings if each.level == level)


def test_nothing_speaks_against_good_raters():
    trust = trust_of(evidence())
    assert trust.summary == "Nothing was found that speaks against this network."
    assert {each.level for each in trust.findings} == {"good"}
    assert "smallest margin 0.89" in texts(trust, "good")
    assert "b (50%) and a (50%)" in texts(trust, "good")


def test_a_class_that_raters_miss_more_often_than_not_is_a_problem():
    per_case = np.tile([[[900.0, 10.0], [60.0, 30.0]]] * 2, (20, 1, 1, 1)).reshape(20, 2, 2, 2)
    trust = trust_of(evidence(per_case=per_case))
    assert trust.summary.startswith("Do not rely")
    assert "For lesion raters are, on average, not right" in texts(trust, "problem")
    assert "lesion is mostly called background" in texts(trust, "problem")


def test_a_network_that_is_not_sure_yet_has_swapped_nothing():
    """It gives half a chance of a lesion to all pixels; what it answers is called so."""
    per_case = np.tile([[[460.0, 40.0], [440.0, 60.0]]] * 2, (20, 1, 1, 1)).reshape(20, 2, 2, 2)
    unsure, swapped = (
        trust_of(evidence(per_case=per_case, answered=np.array(answered)))
        for answered in ([[890.0, 20.0], [10.0, 80.0]], [[890.0, 80.0], [20.0, 10.0]])
    )
    assert "swapped" not in texts(unsure, "problem")
    assert "Classes may be swapped: lesion is mostly called background" in texts(swapped, "problem")


def test_a_name_that_belongs_to_another_class_as_much_is_a_problem():
    """Every class is mostly called by its own name, but `lesion` is said of cysts even more."""
    counts = np.array([[[90.0, 5.0, 5.0], [30.0, 40.0, 30.0], [5.0, 45.0, 50.0]]])
    classes = ("background", "lesion", "cyst")
    trust = trust_of(
        evidence(counts=counts, classes=classes, votes=np.eye(3), disputed_share=np.nan)
    )
    assert "The answer lesion is, on average, given to some other class" in texts(trust, "problem")
    assert "For lesion" not in texts(trust, "problem")


def test_a_margin_of_nothing_is_a_problem():
    """As many labels say so as not; probabilities beside the answers leave a millionth over."""
    counts = np.array([[[50.0, 50.0 - 1e-6], [1e-6, 1e-6]]])
    assert "not diagonally dominant" in texts(trust_of(evidence(counts=counts)), "problem")


def test_being_outvoted_where_raters_disagree_is_a_caution():
    trust = trust_of(of_three(disputed=np.array([[200.0, 100.0], [300.0, 50.0]])))
    assert "where the network says lesion, most raters say otherwise" in texts(trust, "caution")
    assert "1.5% of the pixels; there, 38%" in texts(trust, "caution")


def test_of_two_raters_who_differ_one_always_says_otherwise():
    trust = trust_of(evidence(disputed=np.array([[200.0, 200.0], [200.0, 200.0]])))
    assert "say otherwise" not in texts(trust, "caution")


def test_only_methods_that_weigh_raters_are_said_to_follow_some():
    outvoted = np.array([[200.0, 100.0], [300.0, 50.0]])
    weighing, other = (
        texts(trust_of(of_three(disputed=outvoted, weights=weights)), "caution")
        for weights in ((0.4, 0.3, 0.3), ())
    )
    assert "It follows the raters" in weighing
    assert "It follows" not in other
    assert "Look at some of these pixels." in other


def test_matrices_that_have_not_moved_from_their_start_are_a_caution():
    counts = np.array([[[70.0, 30.0], [20.0, 80.0]]])
    text = texts(trust_of(evidence(counts=counts, claimed=0.99)), "caution")
    assert "99% of the labels are right, but 75% agree with its answers" in text
    assert "matrices" not in texts(trust_of(evidence(counts=counts, claimed=0.8)), "caution")


def test_a_class_that_raters_use_and_the_network_lost_is_a_problem():
    """Its row would be dominant, were it asked: four labels of items answered so, sixty say so."""
    counts = np.array([[[900.0, 10.0, 60.0], [5.0, 85.0, 0.0], [0.0, 0.0, 4.0]]])
    classes = ("background", "lesion", "cyst")
    trust = trust_of(
        evidence(counts=counts, classes=classes, votes=np.eye(3), disputed_share=np.nan)
    )
    lost = "hardly ever answers cyst (0.4% of what raters labelled; they say it of 6.0%)"
    assert lost in texts(trust, "problem")
    assert "Identifiable" not in texts(trust, "good")


def test_a_class_that_raters_hardly_ever_use_is_not_lost():
    counts = np.array([[[900.0, 10.0, 6.0], [5.0, 85.0, 0.0], [0.0, 0.0, 0.0]]])
    classes = ("background", "lesion", "typo")
    trust = trust_of(
        evidence(counts=counts, classes=classes, votes=np.eye(3), disputed_share=np.nan)
    )
    assert "hardly ever" not in texts(trust, "problem")


def test_following_one_rater_is_a_caution():
    assert "rests on one rater" in texts(trust_of(evidence(weights=(0.9, 0.1))), "caution")


def test_raters_with_few_labels_are_named():
    per_case = np.tile([[[900.0, 10.0], [5.0, 85.0]]] * 2, (20, 1, 1, 1)).reshape(20, 2, 2, 2)
    per_case[2:, 1] = 0
    assert "b (2)" in texts(trust_of(evidence(per_case=per_case)), "caution")


def test_difference_from_the_vote_is_measured_and_placed():
    votes = np.tile([[905.0, 0.0], [0.0, 90.0]], (20, 1, 1))
    votes[7] = [[905.0, 0.0], [60.0, 30.0]]
    changed = votes.sum((1, 2)) - np.trace(votes, axis1=1, axis2=2)
    found = texts(trust_of(evidence(votes=votes.sum(0), changed=changed)), "good")
    assert "3.3% of the pixels" in found
    assert "the vote says lesion and the network background (100% of them)" in found
    assert "Most in case 7." in found


def test_the_statement_is_written_as_json(tmp_path):
    trust = trust_of(evidence())
    write_trust(tmp_path, trust)
    stored = json.loads((tmp_path / "trust.json").read_text())
    assert stored["summary"] == trust.summary
    assert stored["findings"][0]["level"] == "good"
    assert stored["findings"][0]["text"] == trust.findings[0].text


def test_gravest_findings_come_first():
    per_case = np.tile([[[900.0, 10.0], [60.0, 30.0]]] * 2, (20, 1, 1, 1)).reshape(20, 2, 2, 2)
    trust = trust_of(evidence(weights=(0.9, 0.1), per_case=per_case))
    assert {each.level for each in trust.findings} == {"problem", "caution", "good"}
    order = ["problem", "caution", "good"]
    positions = [order.index(each.level) for each in trust.findings]
    assert positions == sorted(positions)


def test_one_rater_against_vote_and_image_is_a_problem():
    far = {"votes": 20 * np.array([[905.0, 40.0], [30.0, 87.0]]), "weights": (0.9, 0.05, 0.05)}
    problem = trust_of(of_three(**far, borne_out=("b", "c")))
    assert "against the vote of the others" in texts(problem, "problem")
    for changes in ({"borne_out": ("a",)}, {"borne_out": ()}):
        assert "rests on one rater, a" in texts(trust_of(of_three(**far, **changes)), "caution")
    near = of_three(weights=(0.9, 0.05, 0.05), borne_out=("b",))
    assert "rests on one rater, a" in texts(trust_of(near), "caution")


def test_what_nobody_labelled_twice_is_disputed_only_by_what_the_network_expects():
    assert "Raters disagree on 1.5% of the pixels" in texts(trust_of(of_three()), "good")
    said = texts(trust_of(of_three(foreseen=True)), "good")
    assert "Raters disagree" not in said
    assert "No case has labels of two raters; by what the network expects them to draw" in said
    never = of_three(foreseen=True, disputed=np.zeros((2, 2)), disputed_share=0.0)
    assert "expects them to draw, they never disagree" in texts(trust_of(never), "good")
    assert "disagree" not in trust_of(of_three(disputed_share=float("nan"))).as_text()
