import numpy as np

from multirater.io import dataset_from_arrays, survey
from multirater.sanity.facts import study_facts
from multirater.sanity.pictures import pictures_for_labels


def findings_of(drawn):
    return pictures_for_labels(study_facts(survey(dataset_from_arrays(drawn))))


def two_readers(n_cases=4):
    drawn = np.zeros((n_cases, 3, 16, 16), dtype=int)
    drawn[:, :, 4:12, 4:12] = 1
    return drawn


def test_grey_values_of_one_rater_are_told():
    drawn = two_readers()
    drawn[:, 2] = np.arange(256).reshape(16, 16) // 6
    (found,) = findings_of(drawn)
    assert (found.code, found.level) == ("picture-for-label", "problem")
    assert found.raters == ("rater 3",)
    assert len(found.cases) == 4


def test_many_classes_that_raters_share_are_nothing_odd():
    drawn = two_readers()
    drawn[:] = np.arange(256).reshape(16, 16) // 6
    drawn[:, 1, 0] = 40
    assert findings_of(drawn) == []


def test_a_few_classes_of_ones_own_are_nothing_odd():
    drawn = two_readers()
    drawn[:, 2, :, :7] = np.arange(2, 9)
    assert findings_of(drawn) == []


def test_a_single_rater_has_nobody_to_differ_from():
    drawn = np.arange(256).reshape(1, 1, 16, 16) // 6
    assert findings_of(drawn) == []
