import json

import numpy as np
import pandas as pd
import pytest

from multirater import read_dataset
from multirater.errors import InputError
from multirater.fuse import dawid_skene
from multirater.fuse.answers import Answers
from multirater.fuse.quality import quality_of_class_labels
from multirater.fuse.table import encode_table
from multirater.fusion import large_table
from multirater.fusion.answer_table import fuse_table
from multirater.fusion.large_table import fuse_large_table

N_RATERS, N_CLASSES = 12, 3


def crowd(n_tasks=300, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, N_CLASSES, n_tasks)
    task = np.repeat(np.arange(n_tasks), 4)
    rater = np.concatenate([rng.choice(N_RATERS, 4, replace=False) for _ in range(n_tasks)])
    guess = rng.integers(0, N_CLASSES, len(task))
    label = np.where(rng.random(len(task)) < 0.4 + 0.04 * rater, truth[task], guess)
    frame = pd.DataFrame({"task": task, "worker": rater, "label": label})
    # The answers to a task lie far apart.
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def fused(frame, folder, **options):
    frame.to_parquet(folder / "answers.parquet", row_group_size=500)
    given = {"method": "dawid-skene", "answers_per_part": 250, **options}
    return fuse_large_table(folder / "answers.parquet", folder / "out", **given)


def cases_of(done):
    return pd.read_parquet(done.folder / "cases.parquet")


@pytest.mark.parametrize("named", [int, "task {}".format])
@pytest.mark.parametrize("workers", [1, 2])
def test_parts_give_what_the_whole_gives(tmp_path, named, workers):
    frame = crowd().assign(task=lambda each: each["task"].map(named))
    done = fused(frame, tmp_path, workers=workers)
    whole, found = dawid_skene(frame), cases_of(done)
    assert found["case"].tolist() == whole.label.index.tolist()
    assert found["label"].astype(int).tolist() == whole.label.tolist()
    np.testing.assert_allclose(found.iloc[:, 2:], whole.probability, atol=1e-12)
    quality = quality_of_class_labels(encode_table(frame).answers, whole.raters)["quality"]
    ours = done.raters["quality"]
    np.testing.assert_allclose(ours.loc[[str(r) for r in quality.index]], quality, atol=1e-12)
    assert not list(done.folder.glob("scratch*"))


def test_the_default_is_that_of_any_table(tmp_path):
    done = fused(crowd(), tmp_path, method=None)
    settings = json.loads((done.folder / "fusion.json").read_text())
    assert settings["options"] == {"dirichlet": pytest.approx(4 / 9)}
    assert "12 raters" in settings["why"]
    whole = dawid_skene(crowd(), dirichlet=4 / 9)
    np.testing.assert_allclose(cases_of(done).iloc[:, 2:], whole.probability, atol=1e-12)


def test_the_folder_is_a_data_set_up_to_a_size(tmp_path, monkeypatch):
    done = fused(crowd(), tmp_path)
    assert len(read_dataset(done.folder)) == 300
    monkeypatch.setattr(large_table, "_AS_DATASET", 299)
    done = fused(crowd(), tmp_path, overwrite=True)
    assert not (done.folder / "manifest.csv").exists()
    assert len(cases_of(done)) == 300


def test_missing_answers_leave_tasks(tmp_path):
    frame = crowd().astype({"label": float})
    frame.loc[frame["task"] == 7, "label"] = np.nan
    found = cases_of(fused(frame, tmp_path)).set_index("case")
    assert pd.isna(found.loc[7, "label"])
    assert found["label"].isna().sum() == 1


def test_names_are_texts(tmp_path):
    frame = crowd(40).astype(str)
    frame["label"] = frame["label"].replace({"0": "NA", "1": "01", "2": "1"})
    done = fused(frame, tmp_path)
    assert list(cases_of(done).columns[2:]) == [
        "probability[01]",
        "probability[1]",
        "probability[NA]",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: pd.concat([f, f.iloc[[5]]]), "1 answer given twice, first by .* row 1201"),
        (lambda f: f.drop(columns="worker"), "no rater"),
        (lambda f: f.assign(label=0.5), "numbers with decimals"),
        (lambda f: f.assign(worker=f["worker"].astype(str).where(f.index != 3)), "row 4"),
        (lambda f: f.assign(label=np.nan), "no row has a label"),
        (lambda f: f.iloc[:0], "no rows"),
    ],
)
def test_faults_are_said_and_nothing_is_left(tmp_path, change, said):
    with pytest.raises(InputError, match=said):
        fused(change(crowd()), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["answers.parquet"]


def test_two_columns_of_one_name_are_refused(tmp_path):
    with pytest.raises(InputError, match="has two columns task"):
        fused(crowd().assign(Task=1), tmp_path)


def test_a_damaged_file_is_refused(tmp_path):
    crowd().to_parquet(tmp_path / "answers.parquet")
    content = bytearray((tmp_path / "answers.parquet").read_bytes())
    content[4:400] = b"x" * 396
    (tmp_path / "answers.parquet").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        fuse_large_table(tmp_path / "answers.parquet", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_matrices_too_large_to_hold_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(large_table, "_MOST_CELLS", 100)
    with pytest.raises(InputError, match="12 raters and 3 classes"):
        fused(crowd(), tmp_path)


def test_other_methods_are_for_tables_in_memory(tmp_path):
    with pytest.raises(InputError, match="--method dawid-skene"):
        fused(crowd(), tmp_path, method="mace")


def test_parquet_that_is_small_is_fused_by_any_method(tmp_path):
    frame = crowd(60)
    frame.to_parquet(tmp_path / "answers.parquet")
    frame.to_csv(tmp_path / "answers.csv", index=False)
    both = [
        fuse_table(tmp_path / f"answers.{kind}", tmp_path / kind, method="mace")
        for kind in ("parquet", "csv")
    ]
    for name in ("raters.csv", "cases.csv", "manifest.csv"):
        assert (both[0].folder / name).read_text() == (both[1].folder / name).read_text()


def test_a_cluster_is_for_parquet(tmp_path):
    crowd(20).to_csv(tmp_path / "answers.csv", index=False)
    with pytest.raises(InputError, match="save the table as Parquet"):
        fuse_table(tmp_path / "answers.csv", tmp_path / "out", scheduler="tcp://127.0.0.1:1")


def test_nothing_is_held_of_all_answers(tmp_path, monkeypatch):
    """Whatever works on answers sees a part of them."""
    seen = []
    made = Answers.__init__
    monkeypatch.setattr(
        Answers, "__init__", lambda self, *given: (seen.append(given[0].nnz), made(self, *given))[1]
    )
    fused(crowd(), tmp_path)
    assert max(seen) < 400


def test_a_cluster_gives_the_same_to_the_last_bit(tmp_path):
    distributed = pytest.importorskip("distributed")
    here = cases_of(fused(crowd(), tmp_path))
    with distributed.LocalCluster(
        n_workers=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as cluster:
        there = fused(crowd(), tmp_path, scheduler=cluster.scheduler_address, overwrite=True)
    pd.testing.assert_frame_equal(cases_of(there), here, check_exact=True)
