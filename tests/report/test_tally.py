import math

import numpy as np
import pytest

from multirater import dataset_from_arrays, read_dataset
from multirater.io.survey import survey
from multirater.metrics import dice_score
from multirater.report.raters import count_raters, describe_raters
from multirater.report.reference import choose_reference
from multirater.report.subject import Subject, read_subject
from multirater.report.tally import tally_cases
from multirater.types import Case, Dataset, Geometry, LabelMap, Source


def square(side, size=20):
    label = np.zeros((size, size), int)
    label[4 : 4 + side, 4 : 4 + side] = 1
    return label


def measured(labels, truths=None, **names):
    data = dataset_from_arrays(np.array(labels), truths=truths, **names)
    found = survey(data)
    reference = choose_reference(Subject("s", ("data set",), found.dataset), len(found.classes))
    tallies = tally_cases(found, reference)
    return reference, tallies, described(found.dataset, tallies)


def described(dataset, tallies):
    return describe_raters(dataset, tallies, count_raters(dataset, tallies))


def test_against_the_truth():
    truths = np.stack([square(8), square(6)])
    labels = [[truth, np.roll(truth, 1, 0), truth * 0] for truth in truths]
    reference, tallies, raters = measured(labels, truths, raters=["a", "b", "c"])
    assert reference.kind == "truth"
    assert tallies[0].score.tolist() == [1.0, dice_score(truths[0], labels[0][1]), 0.0]
    perfect, _, blank = raters
    assert perfect.skill.value == perfect.score.value == 1.0
    assert perfect.confusion == "none"
    assert (blank.missed, blank.judged, blank.skill.value) == (2, 2, 0.5)
    assert blank.tends == "nothing drawn in 2 of 2 cases"


def test_over_and_under_drawing_in_pixels():
    true = square(8)
    larger = np.zeros_like(true)
    larger[3:13, 3:13] = 1
    smaller = np.zeros_like(true)
    smaller[5:11, 5:11] = 1
    _, _, raters = measured([[larger, smaller]] * 3, np.stack([true] * 3))
    assert [each.tends for each in raters] == ["over-draws by 1.0 px", "under-draws by 1.0 px"]


def test_something_where_nothing_is():
    _, _, (rater, _) = measured([[square(3), square(3) * 0]], np.array([square(3) * 0]))
    assert (rater.invented, rater.missed) == (1, 0)


def test_without_truth_the_majority_counts():
    reference, tallies, _ = measured([[square(8), square(8), square(4)]])
    assert reference.kind == "vote"
    assert "themselves included" in reference.words
    assert tallies[0].score[:2].tolist() == [1.0, 1.0]
    assert tallies[0].score[2] == dice_score(square(8), square(4))


def test_a_single_rater_is_not_judged():
    reference, tallies, (rater,) = measured([[square(8)]])
    assert reference.kind == "none"
    assert math.isnan(rater.skill.value)
    assert math.isnan(tallies[0].disagreement)


def test_a_rater_who_did_not_label_a_case_is_not_judged_on_it():
    labels = np.array([[square(8), square(8)], [square(8), square(8)]])
    labels[1, 1] = -1
    _, tallies, _ = measured(labels, np.stack([square(8)] * 2))
    assert math.isnan(tallies[1].score[1])
    assert not tallies[1].counts[1].any()


def test_millimetres_where_the_files_know_them():
    true, larger = np.zeros((20, 20), np.int16), np.zeros((20, 20), np.int16)
    true[4:12, 4:12] = 1
    larger[3:13, 3:13] = 1
    grid = Geometry((0.5, 0.5), (0.0, 0.0), ((0.0, 1.0), (1.0, 0.0)))
    case = Case(
        "p1",
        labels={"anna": Source(lambda: LabelMap(larger, grid))},
        truth=Source(lambda: LabelMap(true, grid)),
    )
    found = survey(Dataset((case,), ("anna",)))
    reference = choose_reference(Subject("s", ("data set",), found.dataset), 2)
    (rater,) = described(found.dataset, tally_cases(found, reference))
    assert rater.tends == "over-draws by 0.5 mm"


def test_every_class_of_a_volume_has_an_offset(kinds):
    found = survey(read_dataset(kinds["volumes"]))
    tallies = tally_cases(found, choose_reference(read_subject([kinds["volumes"]]), 3))
    assert (~np.isnan(tallies[1].offset)).tolist() == [
        [False, True, True],
        [False, True, True],
        [False, True, False],
    ]


def test_class_labels_are_right_or_wrong(kinds):
    found = survey(read_dataset(kinds["classes"]))
    subject = read_subject([kinds["classes"]])
    tallies = tally_cases(found, choose_reference(subject, 3))
    assert {float(s) for t in tallies for s in t.score} == {0.0, 1.0}
    raters = described(found.dataset, tallies)
    assert raters[0].score.value == pytest.approx(np.mean([t.score[0] for t in tallies]))
    assert raters[0].score.value > raters[2].score.value
    assert "takes" in raters[2].confusion
