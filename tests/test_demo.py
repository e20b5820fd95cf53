import pytest

from multirater.demo import NETWORKS, run_demo
from multirater.errors import InputError
from multirater.io import read_dataset


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "demo"
    return folder, list(run_demo(folder, n_cases=18, epochs=2))


def test_tables_tell_good_from_poor(finished):
    _, [(raters, _), (fused, _), (networks, _)] = finished
    assert raters.loc["good", "Dice"] > raters.loc["over", "Dice"] > raters.loc["blank", "Dice"]
    assert fused.loc["majority-vote", "Dice"] > 0.85
    assert networks.index.tolist() == list(NETWORKS)
    assert (networks["low"] <= networks["Dice"]).all()


def test_every_step_is_left_on_disk(finished):
    folder, _ = finished
    assert len(read_dataset(folder / "data")) == 24
    assert read_dataset(folder / "fused" / "staple").raters == ("staple",)
    assert len(read_dataset(folder / "networks" / "auto" / "predictions")) == 6
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "staple (pooled, disputed only)" in page
    assert "network auto: loss" in page


def test_a_second_demo_replaces_the_first_but_nothing_else(finished, tmp_path):
    folder, _ = finished
    next(run_demo(folder, n_cases=10))
    assert len(read_dataset(folder / "data")) == 13
    (tmp_path / "mine.txt").touch()
    with pytest.raises(InputError, match="not a demo"):
        next(run_demo(tmp_path, n_cases=10))
