import numpy as np
import pytest

import multirater
from multirater.dataset_disagreement import disagreements
from multirater.io.survey import survey
from multirater.report.contents import gather


def test_class_labels_differ_by_pairs():
    answers = np.array([[0, 0, 1], [2, 2, 2], [0, 1, 2], [0, -1, 1], [-1, -1, 1]])
    data = multirater.dataset_from_arrays(answers)
    found = disagreements(survey(data))
    np.testing.assert_allclose(found, [2 / 3, 0, 1, 1, np.nan])


def test_the_size_of_the_object_has_no_say():
    drawn = np.zeros((2, 2, 40, 40), dtype=int)
    drawn[0, :, :20, :20] = drawn[1, :, :4, :4] = 1
    drawn[0, 1, :, 10:20] = drawn[1, 1, :, 2:4] = 0
    small, large = disagreements(survey(multirater.dataset_from_arrays(drawn)))
    assert small == pytest.approx(large)


@pytest.mark.parametrize("kind", ["masks", "classes"])
def test_info_and_page_say_the_same(kind, tmp_path):
    random = np.random.default_rng(0)
    shape = (6, 4, 12, 12) if kind == "masks" else (6, 4)
    data = multirater.dataset_from_arrays(random.integers(0, 2, shape))
    study = multirater.write_dataset(data, tmp_path / "study")
    told = multirater.info(multirater.read_dataset(study)).cases["disagreement"]
    contents = gather([study])
    assert [each.disagreement for each in contents.tallies] == told.tolist()
