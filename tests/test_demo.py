import pytest

from multirater.demo import run_demo
from multirater.errors import InputError
from multirater.io import read_dataset


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "demo"
    return folder, list(run_demo(folder, n_cases=20))


def test_tables_tell_good_from_poor(finished):
    _, [(raters, _), (methods, _)] = finished
    assert raters.loc["good", "Dice"] > raters.loc["over", "Dice"] > raters.loc["blank", "Dice"]
    assert methods.loc["majority-vote", "Dice"] > 0.85


def test_every_step_is_left_on_disk(finished):
    folder, _ = finished
    assert len(read_dataset(folder / "data")) == 20
    assert read_dataset(folder / "staple").raters == ("staple",)


def test_a_second_demo_replaces_the_first_but_nothing_else(finished, tmp_path):
    folder, _ = finished
    list(run_demo(folder, n_cases=10))
    assert len(read_dataset(folder / "data")) == 10
    (tmp_path / "mine.txt").touch()
    with pytest.raises(InputError, match="not a demo"):
        list(run_demo(tmp_path, n_cases=10))
