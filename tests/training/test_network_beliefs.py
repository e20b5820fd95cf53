from dataclasses import replace

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.survey import survey
from multirater.training.network_beliefs import class_beliefs, drawing_beliefs
from multirater.verbs.next_labels import next_labels


def test_a_network_says_something_of_every_case(studies, run_folders):
    known = class_beliefs(run_folders["classes"], survey(studies["classes"]))
    assert known.shape == (len(studies["classes"]), 3)
    assert known.sum(1) == pytest.approx(1)
    seen = drawing_beliefs(run_folders["masks"], survey(studies["masks"]))(studies["masks"][-1])
    assert seen.shape == (2, 28, 28)
    assert seen.sum(0) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("kind", ["masks", "classes"])
def test_what_it_sees_changes_what_is_asked_for(kind, studies, run_folders):
    alone = next_labels(studies[kind], budget=6)
    found = next_labels(studies[kind], budget=6, run=run_folders[kind])
    assert not np.allclose(alone.cases["uncertainty"], found.cases["uncertainty"])
    unseen = [case.name for case in studies[kind] if not case.labels]
    assert found.cases.loc[unseen, "uncertainty"].nunique() == len(unseen)


def test_a_run_of_another_kind_of_labels_is_refused(studies, run_folders):
    with pytest.raises(InputError, match="as in training"):
        next_labels(studies["masks"], run=run_folders["classes"])


def test_what_an_expert_decided_is_asked_of_nobody(studies):
    for study in studies.values():
        first, *others = study.cases
        bare = replace(first, labels={})
        asked = next_labels(replace(study, cases=(bare, *others)), budget=100)
        assert first.name in asked.labels["case"].tolist()
        decided = replace(bare, gold=first.truth)
        found = next_labels(replace(study, cases=(decided, *others)), budget=100)
        assert first.name not in found.labels["case"].tolist()
        assert found.cases.loc[first.name, "settled"]
