import numpy as np
import pytest

from multirater import read_dataset
from multirater.evaluation import evaluate
from multirater.fuse.dataset import fuse_dataset
from multirater.report.models import columns_of, measure_results
from multirater.report.subject import read_subject


@pytest.fixture(scope="module")
def measured(kinds, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fused")
    for method in ("majority-vote", "staple"):
        fuse_dataset(read_dataset(kinds["truth"]), folder / method, method=method)
    paths = [kinds["truth"], folder / "majority-vote", folder / "staple"]
    return folder, measure_results(read_subject(paths))


def test_the_table_holds_what_evaluate_finds(measured, kinds):
    folder, (vote, _) = measured
    expected = evaluate(folder / "majority-vote", kinds["truth"]).scores.loc[("Dice", "all")]
    assert vote.figures["Dice"].value == pytest.approx(expected["value"])
    assert vote.figures["Dice"].low <= vote.figures["Dice"].value <= vote.figures["Dice"].high
    assert vote.n_cases == 8


def test_groups_cover_the_cases_and_average_to_the_whole(measured):
    _, (vote, _) = measured
    counts = [n for _, _, n, _ in vote.groups]
    assert sum(counts) == 8
    mean = np.average([figure.value for *_, figure in vote.groups], weights=counts)
    assert mean == pytest.approx(vote.figures["Dice"].value)


def test_columns_are_those_that_anything_has(measured):
    columns = columns_of(measured[1])
    assert columns[0] == "Dice"
    assert "GED (1-Dice)" not in columns  # no rater is predicted


def test_what_cannot_be_compared_is_left_out(kinds, tmp_path):
    fuse_dataset(read_dataset(kinds["no truth"]), tmp_path / "fused", method="majority-vote")
    subject = read_subject([kinds["volumes"], tmp_path / "fused"])
    assert measure_results(subject) == []


def test_without_truth_the_majority_is_compared_with(kinds, tmp_path):
    fuse_dataset(read_dataset(kinds["no truth"]), tmp_path / "fused", method="majority-vote")
    (vote,) = measure_results(read_subject([tmp_path / "fused"]))
    assert vote.figures["Dice with majority vote"].value == 1.0
