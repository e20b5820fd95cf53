import numpy as np
import pytest

from multirater.io import dataset_from_arrays
from real_studies import _size_rank, _write_raw, jobs_of, report, scores


def test_methods_share_folds_and_minutes():
    jobs = jobs_of(["QUBIQ brain growth"], 20.0, 2)
    assert len(jobs) == 8
    assert {job["minutes"] for job in jobs} == {20.0}


def test_the_raw_study_holds_the_vote_and_no_test_label(tmp_path):
    labels = np.zeros((2, 3, 8, 8), dtype=int)
    labels[:, :2, 2:4] = 1
    data = dataset_from_arrays(labels, images=np.ones((2, 8, 8)), splits=["train", "test"])
    assert _write_raw(data, tmp_path / "raw") == ".png"
    names = sorted(
        path.relative_to(tmp_path / "raw").as_posix() for path in tmp_path.rglob("*.png")
    )
    assert names == ["imagesTr/0_0000.png", "imagesTs/1_0000.png", "labelsTr/0.png"]
    assert scores(data, {"1": labels[1, 0]})["Dice"] == 2 / 3


def test_a_report_says_what_was_run():
    job = {"study": "CHASE_DB1", "method": "mode", "number": 0, "minutes": 5.0}
    result = {"Dice": 0.8, "CPU minutes": 5.1, "steps": 100, "peak GB": 1.0}
    record = {"job": job, "result": result, "seconds": 300.0, "commit": "abc"}
    assert "1 of 2 runs" in report([record], 2, 5.0)


def test_who_draws_more_is_held_against_a_count_of_pixels(tmp_path):
    labels = np.zeros((2, 2, 8, 8), dtype=int)
    labels[:, 0, :2], labels[:, 1, :4] = 1, 1
    data = dataset_from_arrays(labels, splits=["train", "train"], raters=["less", "more"])
    for sizes, expected in ((("0.8", "1.2"), 1.0), (("1.2", "0.8"), -1.0)):
        rows = "".join(f"{name},{size}\n" for name, size in zip(data.raters, sizes, strict=True))
        (tmp_path / "raters.csv").write_text(f"rater,size\n{rows}")
        assert _size_rank(data, tmp_path) == pytest.approx(expected)
