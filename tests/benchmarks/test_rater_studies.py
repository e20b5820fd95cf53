import numpy as np
import pytest

import fusion_choice
import rater_measures
from rater_studies import CLASSES, DRAWINGS, Study, study


@pytest.mark.parametrize("name", ["thin, 5 mixed, 10 cases", "2 classes, 3 raters"])
def test_a_study_is_the_same_for_the_same_seed(name):
    first, again, other = study(name, 1), study(name, 1), study(name, 2)
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.labels, other.labels)
    assert first.is_masks == (name in DRAWINGS)
    assert len(first.labels) == len(first.truth)


def test_a_study_of_clear_differences_is_ranked_right():
    truth = np.arange(400) % 2
    rng = np.random.default_rng(0)
    share = np.array([0.02, 0.1, 0.2, 0.3, 0.4])
    wrong = rng.random((400, 5)) < share
    found = Study(np.where(wrong, 1 - truth[:, None], truth[:, None]).astype(np.int16), truth, 2)
    known = rater_measures.correlations(found)
    assert known["Dawid-Skene: quality"] >= 0.9
    assert fusion_choice.scores(found)["chosen"] > 0.9


def test_every_study_is_reported_on_other_seeds_than_it_chose_by():
    assert not set(rater_measures.CHOSEN) & set(rater_measures.REPORTED)
    assert not set(fusion_choice.CHOSEN) & set(fusion_choice.REPORTED)
    jobs = fusion_choice.all_jobs(None)
    assert {job["study"] for job in jobs} == {*DRAWINGS, *CLASSES}
