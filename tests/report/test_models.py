from dataclasses import replace

import numpy as np
import pytest

from multirater import dataset_from_arrays, read_dataset, write_dataset
from multirater.evaluation import evaluate
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.report.contents import gather
from multirater.report.models import columns_of


@pytest.fixture(scope="module")
def measured(kinds, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fused")
    for method in ("majority-vote", "staple"):
        fuse_dataset(read_dataset(kinds["truth"]), folder / method, method=method)
    paths = [kinds["truth"], folder / "majority-vote", folder / "staple"]
    return folder, gather(paths).measured


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
    assert "energy distance (Dice)" not in columns  # no rater is predicted


def test_what_cannot_be_compared_is_left_out(kinds, tmp_path):
    data = read_dataset(kinds["no truth"])
    fuse_dataset(data, tmp_path / "fused", method="majority-vote")
    others = replace(data, cases=tuple(replace(case, name=f"new {case.name}") for case in data))
    write_dataset(others, tmp_path / "others")
    assert gather([tmp_path / "others", tmp_path / "fused"]).measured == []


def test_without_truth_the_majority_is_compared_with(kinds, tmp_path):
    fuse_dataset(read_dataset(kinds["no truth"]), tmp_path / "fused", method="majority-vote")
    (vote,) = gather([tmp_path / "fused"]).measured
    assert vote.figures["Dice with majority vote"].value == 1.0


def test_methods_are_compared_on_common_cases_only(kinds, tmp_path):
    data = read_dataset(kinds["truth"])
    fuse_dataset(data, tmp_path / "vote", method="majority-vote")
    some = replace(data, cases=data.cases[2:6])
    fuse_dataset(some, tmp_path / "some", method="staple")
    vote, staple = gather([kinds["truth"], tmp_path / "vote", tmp_path / "some"]).measured
    assert (vote.n_cases, staple.n_cases) == (4, 4)
    assert (vote.n_covered, staple.n_covered) == (8, 4)
    expected = evaluate(tmp_path / "vote", some).scores.loc[("Dice", "all"), "value"]
    assert vote.figures["Dice"].value == pytest.approx(expected)
    best, other = sorted((vote, staple), key=lambda each: -each.figures["Dice"].value)
    assert (best.is_best, other.is_best) == (True, False)
    gap = best.figures["Dice"].value - other.figures["Dice"].value
    assert other.behind.value == pytest.approx(gap)
    assert other.behind.low <= gap <= other.behind.high


def test_methods_without_a_common_case_are_measured_apart(kinds, tmp_path):
    data = read_dataset(kinds["truth"])
    for name, cases in {"one": data.cases[:3], "two": data.cases[3:]}.items():
        fuse_dataset(replace(data, cases=cases), tmp_path / name, method="majority-vote")
    found = gather([kinds["truth"], tmp_path / "one", tmp_path / "two"]).measured
    assert [each.n_cases for each in found] == [3, 5]
    assert not any(each.is_best or each.behind for each in found)


def test_results_on_empty_cases_alone_are_not_behind_one_another(tmp_path):
    """Screening: nobody drew anything, so that nothing has a Dice."""
    study = tmp_path / "study"
    empty = np.zeros((3, 2, 6, 6), dtype=int)
    full = np.ones((1, 2, 6, 6), dtype=int)
    data = dataset_from_arrays(np.concatenate([empty, full]))
    write_dataset(data, study)
    for name, cases in (("a", data.cases), ("b", data.cases[:3])):
        fuse_dataset(replace(data, cases=cases), tmp_path / name, method="majority-vote")
    measured = gather([study, tmp_path / "a", tmp_path / "b"]).measured
    assert [each.n_cases for each in measured] == [3, 3]
