from dataclasses import replace

import numpy as np
import pytest

from multirater import dataset_from_arrays, info, read_dataset
from multirater.io import survey
from multirater.sanity import study_findings

NAMES = ["anna", "bert", "carl"]
SIZE = 24


def masks_of(n_raters):
    """Squares of eight cases, (n_cases, n_raters, SIZE, SIZE), each drawn a little differently."""
    random = np.random.default_rng(0)
    drawn = np.zeros((8, n_raters, SIZE, SIZE), dtype=int)
    for case in drawn:
        top, left = random.integers(3, 9, 2)
        for mask in case:
            by = random.integers(-1, 2, 4)
            mask[top + by[0] : top + 9 + by[1], left + by[2] : left + 9 + by[3]] = 1
    return drawn


def finding_of(findings):
    (found,) = (each for each in findings if each.code == "not-labelled")
    return found


def with_files_of(missing, tmp_path):
    """Write a study in which the files of these raters say nothing of any pixel."""
    for number, rater in enumerate(NAMES):
        (tmp_path / "raters" / rater).mkdir(parents=True)
        for case, masks in enumerate(masks_of(3)):
            label = np.full_like(masks[number], -1) if rater in missing else masks[number]
            np.save(tmp_path / "raters" / rater / f"{case}.npy", label.astype(np.int16))
    return info(read_dataset(tmp_path)).findings


@pytest.mark.parametrize("missing", [["anna"], ["anna", "carl"], NAMES])
def test_files_without_a_labelled_pixel(tmp_path, missing):
    finding = finding_of(with_files_of(missing, tmp_path))
    assert finding.raters == tuple(missing)
    assert finding.numbers["labels"] == 8 * len(missing)
    assert finding.level == "problem"


def test_a_file_in_which_every_pixel_is_missing_is_not_odd_by_itself(tmp_path):
    with_files_of([], tmp_path)
    np.save(tmp_path / "raters" / "anna" / "0.npy", np.full((SIZE, SIZE), -1, dtype=np.int16))
    assert info(read_dataset(tmp_path)).findings == ()


def test_images_that_nobody_labelled_are_not_odd():
    images = list(np.random.default_rng(0).random((3, 1, SIZE, SIZE)))
    data = dataset_from_arrays(masks_of(3)[:3], images=images, raters=NAMES)
    bare = replace(data, cases=tuple(replace(case, labels={}) for case in data.cases))
    assert study_findings(survey(bare)) == ()
