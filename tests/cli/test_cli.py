"""The command line as a user meets it."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from multirater.io import dataset_from_arrays, read_dataset, write_dataset


def in_process(*words):
    """Run `multirater` in a process of its own and return status, output and errors."""
    words = [sys.executable, "-m", "multirater", *map(str, words)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """A data set with three faults."""
    folder = tmp_path_factory.mktemp("broken") / "data"
    data = dataset_from_arrays(
        np.zeros((3, 2, 8, 8), dtype=int), images=np.zeros((3, 8, 8), dtype=np.uint8)
    )
    write_dataset(data, folder)
    (folder / "raters/rater 1/0.png").write_bytes(b"")
    cut = (folder / "raters/rater 2/1.png").read_bytes()
    (folder / "raters/rater 2/1.png").write_bytes(cut[:40])
    write_dataset(dataset_from_arrays(np.zeros((1, 1, 5, 5), dtype=int)), folder.parent / "small")
    (folder / "raters/rater 1/2.png").write_bytes(
        (folder.parent / "small/raters/rater 1/0.png").read_bytes()
    )
    return folder


def test_help_names_every_verb_without_loading_numpy_or_torch():
    code = (
        "import sys; sys.argv=['multirater','--help']\n"
        "from multirater.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "assert not {'numpy', 'torch', 'pandas', 'scipy'} & set(sys.modules), 'too much imported'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for word in ("simulate", "info", "agreement", "convert", "fuse", "import", "demo"):
        assert word in done.stdout


def test_version():
    import multirater

    assert in_process("--version")[1].startswith(f"multirater {multirater.__version__} (")


def test_info_as_text_and_json(run, digits_folder):
    status, text, _ = run("info", digits_folder, "-q")
    assert status == 0
    assert "background, digit" in text
    _, output, _ = run("info", digits_folder, "--json", "-q")
    content = json.loads(output)
    assert content["summary"]["cases"] == 12
    assert [rater["rater"] for rater in content["raters"]][:2] == ["good", "over"]


def test_info_says_what_is_odd_with_cases_and_what_to_do(run, tmp_path):
    drawn = np.ones((4, 2, 12, 12), dtype=int)
    drawn[:, :, 3:8, 4:9] = 0
    drawn[:, 1, 8, 4] = 0
    write_dataset(dataset_from_arrays(drawn), tmp_path / "study")
    status, text, _ = run("info", tmp_path / "study", "-q")
    assert status == 0
    assert "problem: masks look reversed" in text
    assert "cases: 0, 1, 2, 3" in text
    (finding,) = json.loads(run("info", tmp_path / "study", "--json", "-q")[1])["findings"]
    assert finding["code"] == "reversed"
    assert finding["cases"] == ["0", "1", "2", "3"]
    target = tmp_path / "fused"
    status, _, errors = run("fuse", tmp_path / "study", "--method", "majority-vote", "-o", target)
    assert status == 0
    assert "problem: masks look reversed" in errors


def test_agreement_as_table_csv_and_json(run, digits_folder):
    assert "Krippendorff" in run("agreement", digits_folder, "-q")[1]
    _, output, _ = run("agreement", digits_folder, "--csv", "-q", "--resamples", "20")
    assert output.startswith("measure,class,value,low,high")
    _, output, _ = run("agreement", digits_folder, "--json", "-q", "--split", "test")
    assert json.loads(output)["pairs"][0]["cases"] == 4


def test_simulate_fuse_and_read_again(digits_folder, tmp_path):
    status, _, errors = in_process(
        "simulate", digits_folder, "-o", tmp_path / "sim", "--raters", "good,over:0.5,over:2",
        "--supply", "one", "--seed", "3",
    )  # fmt: skip
    assert status == 0, errors
    simulated = read_dataset(tmp_path / "sim")
    assert set(simulated.raters) == {"good", "over", "over-2"}
    assert all(len(case.labels) == 1 for case in simulated)
    manifest = pd.read_csv(tmp_path / "sim/manifest.csv")
    assert json.loads(manifest["simulated"][0])["kind"] in ("good", "over")
    status, output, _ = in_process(
        "fuse", digits_folder, "-o", tmp_path / "fused", "--method", "mean"
    )
    assert status == 0
    assert "good" in output
    assert read_dataset(tmp_path / "fused").raters == ("mean",)


def test_fuse_prints_json_for_machines(run, digits_folder, tmp_path):
    _, output, _ = run("fuse", digits_folder, "-o", tmp_path / "out", "--json", "-q", "--pooled")
    content = json.loads(output)
    assert content["raters"][0]["rater"] == "good"
    assert 0 <= content["raters"][0]["sensitivity"] <= 1
    assert content["method"] == "weighted-vote"


def test_fuse_says_which_method_it_chose_and_sorts_raters_by_quality(run, digits_folder, tmp_path):
    status, output, errors = run("fuse", digits_folder, "-o", tmp_path / "out")
    assert status == 0
    assert "method weighted-vote: 5 raters" in errors
    table = pd.read_csv(tmp_path / "out/raters.csv").sort_values("quality", ascending=False)
    places = [output.index(f"  {rater} ") for rater in table["rater"]]
    assert places == sorted(places)


def test_convert_a_file_and_a_data_set(run, digits_folder, tmp_path):
    image = digits_folder / "images/train-0000.png"
    assert run("convert", image, "-o", tmp_path / "a.nii.gz")[0] == 0
    assert run("convert", tmp_path / "a.nii.gz", "-o", tmp_path / "b.png")[0] == 0
    from multirater.io import read_image

    assert np.array_equal(read_image(tmp_path / "b.png").array, read_image(image).array)
    status, _, errors = run(
        "convert", digits_folder, "-o", tmp_path / "nifti", "--format", "nii.gz"
    )
    assert status == 0, errors
    assert len(list((tmp_path / "nifti").rglob("*.nii.gz"))) == 12 * 7


def test_import_files_by_pattern(run, tmp_path):
    data = dataset_from_arrays(
        np.ones((2, 2, 6, 6), dtype=int),
        images=np.zeros((2, 6, 6), dtype=np.uint8),
        raters=["1st", "2nd"],
    )
    write_dataset(data, tmp_path / "source")
    flat = tmp_path / "flat"
    flat.mkdir()
    for path in (tmp_path / "source/images").iterdir():
        path.rename(flat / f"Image_{path.name}")
    for rater in ("1st", "2nd"):
        for path in (tmp_path / "source/raters" / rater).iterdir():
            path.rename(flat / f"Image_{path.stem}_{rater}HO.png")
    status, _, errors = run(
        "import", "files", flat, "--image", "{case}.png", "--label", "{case}_{rater}HO.png",
        "-o", tmp_path / "table",
    )  # fmt: skip
    assert status == 0, errors
    found = read_dataset(tmp_path / "table")
    assert sorted(found.raters) == ["1st", "2nd"]
    assert found["Image_0"].read_label("2nd").array.sum() == 36


def test_all_faults_come_at_once_with_status_2(run, broken):
    status, output, errors = run("info", broken, "-q")
    assert status == 2
    assert output == ""
    assert errors.startswith("3 errors:")
    for words in (
        "case 0, rater rater 1",
        "case 1, rater rater 2",
        "case 2, rater rater 1",
        "5 x 5",
    ):
        assert words in errors
    assert "expected" in errors
    assert "to do" in errors


def test_many_equal_faults_are_printed_together(run, tmp_path):
    lines = [f"c{number},i/{number}.png,jo,l/{number}.png" for number in range(40)]
    (tmp_path / "manifest.csv").write_text("\n".join(["case,image,rater,label", *lines]))
    status, _, errors = run("info", tmp_path, "-q")
    assert status == 2
    assert errors.startswith("80 errors:")
    assert "and 77 more like this: case c1, case c2" in errors
    assert len(errors.splitlines()) < 10


def test_json_keeps_letters_as_they_are(tmp_path):
    data = dataset_from_arrays(np.zeros((1, 2, 4, 4), dtype=int), raters=["zo\u00eb", "bert"])
    write_dataset(data, tmp_path / "data")
    status, output, _ = in_process("info", tmp_path / "data", "-q", "--json")
    assert status == 0
    assert '"zo\u00eb"' in output


def test_debug_shows_the_traceback(broken):
    status, _, errors = in_process("info", broken, "-q", "--debug")
    assert status != 0
    assert "Traceback" in errors


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["info", "nowhere"], "does not exist"),
        (["fuse", "nowhere", "-o", "out"], "does not exist"),
        (["convert", "nowhere.png", "-o", "x.nii.gz"], "nowhere.png"),
        (
            ["import", "files", "nowhere", "--label", "{case}_{rater}.png", "-o", "x"],
            "does not exist",
        ),
    ],
)
def test_wrong_paths_are_named(run, tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    status, _, errors = run(*words)
    assert status == 2
    assert expected in errors
    assert not list(tmp_path.iterdir())


def test_wrong_words_get_a_usage_line(run, digits_folder, tmp_path):
    assert run("fuse", digits_folder)[0] == 2
    status, _, errors = run("fuse", digits_folder, "-o", tmp_path / "x", "--method", "magic")
    assert status == 2
    assert "majority-vote" in errors
    status, _, errors = run("fuse", digits_folder, "-o", tmp_path / "x", "--method", "stapel")
    assert status == 2
    assert "did you mean staple?" in errors.splitlines()[0]
    status, _, errors = run(
        "simulate", digits_folder, "-o", tmp_path / "y", "--raters", "good,lazy"
    )
    assert status == 2
    assert "lazy" in errors
    assert "over" in errors


def test_a_closed_pipe_is_no_error(digits_folder):
    shell = f"{sys.executable} -m multirater info '{digits_folder}' --json -q | head -c 5"
    done = subprocess.run(shell, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
