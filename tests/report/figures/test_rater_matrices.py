from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from multirater.errors import InputError
from multirater.fuse.rater_table import rater_table
from multirater.report.figures.rater_matrices import read_matrices


def test_matrices_come_back_from_the_file_whatever_the_classes_are_called(tmp_path):
    counts = np.random.default_rng(0).integers(1, 50, (5, 2, 3, 3)).astype(float)
    classes = ["a,b", "c]d", "cm[x,y]"]
    rater_table(counts, ["007", "NA"], classes).to_csv(tmp_path / "raters.csv")
    found = read_matrices(tmp_path / "raters.csv", "somewhere")
    assert found.classes == tuple(classes)
    assert found.raters == ("007", "NA")
    total = counts.sum(0)
    np.testing.assert_allclose(found.cm, total / total.sum(-1, keepdims=True))


def test_another_table_is_refused(tmp_path):
    pd.DataFrame({"rater": ["a"], "score": [1]}).to_csv(tmp_path / "raters.csv", index=False)
    with pytest.raises(InputError, match="skill"):
        read_matrices(tmp_path / "raters.csv", "somewhere")
