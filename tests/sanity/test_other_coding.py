"""Raters who use other classes for the same things, and raters who merely disagree."""

import numpy as np
import pytest

from multirater import dataset_from_arrays, info
from multirater.io import survey
from multirater.sanity.class_overlap import votes_of_others
from multirater.sanity.facts import study_facts
from multirater.sanity.other_coding import other_coding
from multirater.simulate import simulate_mask
from multirater.types import Classes, LabelClass

NAMES = ["anna", "bert", "carl", "dora"]

SIZE = 48

EXCHANGED = np.array([0, 2, 1, 3])


def objects(n_cases=6, n_raters=3, n_objects=2, *, seed=0):
    """Ellipses, one of each class, each drawn a little differently by every rater."""
    rng = np.random.default_rng(seed)
    rows, columns = np.indices((SIZE, SIZE))
    drawn = np.zeros((n_cases, n_raters, SIZE, SIZE), dtype=int)
    for case in drawn:
        for k in range(1, n_objects + 1):
            # Each class in its own strip, so that objects do not hide one another.
            row, column = rng.uniform(14, SIZE - 14), (k - 0.5) * SIZE / n_objects
            high, wide = rng.uniform(8, 12), 0.35 * SIZE / n_objects
            for own in case:
                grown = 1 + rng.normal(0, 0.05)
                inside = ((rows - row) / high) ** 2 + ((columns - column) / wide) ** 2 < grown**2
                own[inside] = k
    return drawn


def odd(labels, **more):
    found = info(dataset_from_arrays(labels, raters=NAMES[: len(labels[0])], **more)).findings
    return [finding for finding in found if finding.code == "other-coding"]


@pytest.mark.parametrize("n_raters", [3, 4])
@pytest.mark.parametrize("who", [0, 2])
def test_two_classes_exchanged(n_raters, who):
    labels = objects(n_raters=n_raters, n_objects=3)
    assert odd(labels) == []
    labels[:, who] = EXCHANGED[labels[:, who]]
    (found,) = odd(labels)
    assert (found.level, found.raters) == ("problem", (NAMES[who],))
    assert found.classes == ("class 1", "class 2")
    assert found.numbers["dice"] < 0.1
    assert found.numbers["dice_renamed"] > 0.8
    assert len(found.cases) == found.numbers["cases"] == 6
    assert f"files of {NAMES[who]}: 1 becomes 2 and 2 becomes 1" in found.fix


@pytest.mark.parametrize("n_raters", [2, 3, 4])
def test_classes_that_begin_with_one(n_raters):
    labels = objects(n_raters=n_raters, n_objects=1)
    labels[:, 1] += 1
    (found,) = odd(labels)
    assert found.raters == (("anna", "bert") if n_raters == 2 else ("bert",))
    assert "files of bert: 1 becomes 0 and 2 becomes 1" in found.fix


@pytest.mark.parametrize("n_raters", [2, 3, 4])
def test_another_colour(n_raters):
    labels = objects(n_raters=n_raters, n_objects=1)
    labels[:, 0] *= 2
    (found,) = odd(labels)
    assert "files of anna: 2 becomes 1" in found.fix
    assert found.text.startswith("anna names classes otherwise than")


def test_values_are_those_of_the_files():
    labels = objects(n_objects=2)
    labels[:, 2] = EXCHANGED[labels[:, 2]]
    classes = [LabelClass(name, value=v) for name, v in (("air", 0), ("disc", 128), ("cup", 255))]
    data = dataset_from_arrays(labels, raters=NAMES[:3], classes=Classes(tuple(classes)))
    (found,) = info(data).findings
    assert "128 becomes 255 and 255 becomes 128" in found.fix
    assert "disc is cup to them" in found.text


def test_everybody_has_a_colour():
    labels = objects(n_objects=1) * np.arange(1, 4)[:, None, None]
    found = odd(labels)
    assert len(found) == 2  # the third is who the two are renamed to
    target = {each.fix.split()[-1] for each in found}
    assert len(target) == 1


def test_two_against_two():
    labels = objects(n_raters=4)
    labels[:, 2:] = EXCHANGED[labels[:, 2:]]
    (found,) = odd(labels)
    assert found.raters in (("anna", "bert"), ("carl", "dora"))


def test_not_masks_in_reverse():
    labels = objects(n_objects=1)
    labels[:, 1] = 1 - labels[:, 1]
    assert [each.code for each in info(dataset_from_arrays(labels)).findings] == ["reversed"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kinds", [("over", "under"), ("good", "wrong", "over"), ("blank", "over")])
def test_not_simulated_raters_who_err_much(seed, kinds):
    truths = objects(n_raters=1, n_objects=3, seed=seed)[:, 0]
    labels = np.array(
        [
            [simulate_mask(truth, kind, strength=3.0, seed=10 * seed + case)[0] for kind in kinds]
            for case, truth in enumerate(truths)
        ]
    )
    assert odd(labels) == []


def test_not_raters_who_differ_on_what_an_object_is():
    labels, rng = objects(n_cases=12, n_raters=2, n_objects=1), np.random.default_rng(0)
    labels *= rng.integers(1, 3, (12, 2, 1, 1))
    assert odd(labels) == []


def test_not_one_name_for_two_classes():
    labels = objects(n_raters=2)
    labels[:, 0] = np.minimum(labels[:, 0], 1)
    assert odd(labels) == []


def test_not_a_class_that_is_everywhere():
    labels = objects(n_raters=3, n_objects=2)
    large = np.zeros_like(labels)
    large[:, :, 3:-3, 3:-3] = 1
    large[labels > 0] = 2
    assert odd(large) == []
    large[:, 1] = 3
    assert odd(large) == []


def test_not_raters_who_hardly_overlap():
    labels = objects(n_raters=2, n_objects=1)
    labels[:, 1] = 2 * np.roll(labels[:, 1], 14, axis=1)
    assert odd(labels) == []


def test_not_few_pixels_and_not_few_cases():
    labels = objects()
    dots = np.zeros_like(labels)
    dots[:, :, 10, 10] = 1
    dots[:, 2, 10, 10] = 2
    assert odd(dots) == []
    once = objects(n_cases=2, n_raters=2, n_objects=1)
    once[:, 0] *= 2
    assert odd(once) == []


def test_not_one_rater_and_not_class_labels():
    assert odd(objects(n_raters=1) + 1) == []
    answers = np.random.default_rng(0).integers(3, size=(60, 1)).repeat(3, axis=1)
    answers[:, 2] = EXCHANGED[answers[:, 2]]
    assert other_coding(study_facts(survey(dataset_from_arrays(answers)))) == []


def test_votes_of_others_are_those_without_the_rater():
    rng = np.random.default_rng(0)
    rows = rng.integers(-1, 4, (300, 5))
    found = votes_of_others(rows, 4)
    for row, said in zip(rows, found, strict=True):
        for rater, vote in enumerate(said):
            if row[rater] >= 0:
                others = np.delete(row, rater)
                counts = np.bincount(others[others >= 0], minlength=4)
                assert vote == (counts.argmax() if counts.any() else -1)
