import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from multirater import progress
from multirater.cli.app import app
from multirater.cli.training import _images, _learned_volumes
from multirater.errors import InputError
from multirater.training import Run, TrainConfig
from multirater.training.run_folder import write_config


@pytest.fixture
def trained(monkeypatch, digits_folder, tmp_path):
    """Run `multirater train` with options and return the settings that it trains with."""
    found = []

    def keep(_, folder, config):
        found.append(config)
        return Run(folder, 0, 0.0)

    monkeypatch.setattr("multirater.training.train", keep)

    def run(*options):
        words = ["train", str(digits_folder), "-o", str(tmp_path / "run"), *map(str, options)]
        try:
            result = CliRunner().invoke(app, words)
        finally:
            progress.show_progress(False)
        return found[-1] if result.exit_code == 0 else result

    return run


def test_without_options_the_defaults_are_those_of_the_library(trained):
    assert trained() == TrainConfig()


def test_options_reach_the_settings(trained):
    config = trained(
        *("--n-features", 8, "--confusion-learning-rate", 0.1, "--channels", "4,8"),
        *("--backbone-options", '{"a": 1}', "--patch", "16,16", "--nodes", 2),
    )
    assert (config.n_features, config.confusion_learning_rate) == (8, 0.1)
    assert (config.channels, config.patch, config.num_nodes) == ((4, 8), (16, 16), 2)
    assert config.backbone_options == {"a": 1}


def test_a_preset_holds_where_no_option_says_otherwise(trained):
    config = trained("--preset", "brats", "--trace-weight", 0.01, "--epochs", 20)
    assert (config.batch_size, config.view, config.learning_rate) == (8, "slices", 1e-4)
    # Twenty epochs is the default too, but here it was asked for.
    assert (config.trace_weight, config.epochs) == (0.01, 20)


def test_an_unknown_preset_is_refused(trained):
    result = trained("--preset", "cats")
    assert result.exit_code == 2
    assert "mnist, ms-lesion, brats, lidc" in result.output


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "missing", "images", "-o", "out"),
        ("fuse", "study", "--method", "learned", "--run", "missing", "-o", "out"),
        ("train", "study", "--resume", "missing"),
    ],
)
def test_what_is_no_run_is_refused_before_torch_is_imported(words, digits_folder, tmp_path):
    code = (
        "import sys\nfrom multirater.cli import main\n"
        "try:\n    main()\nfinally:\n    print('torch' in sys.modules)"
    )
    places = {"study": digits_folder, "images": digits_folder / "images"}
    given = [str(places.get(word, word)) for word in words]
    found = subprocess.run(
        [sys.executable, "-c", code, *given], cwd=tmp_path, capture_output=True, text=True
    )
    assert found.returncode == 2
    assert "file missing: does not exist" in found.stderr
    assert found.stdout.strip() == "False"


def test_options_that_differ_from_the_run_that_goes_on_are_refused(
    monkeypatch, digits_folder, tmp_path
):
    monkeypatch.setattr("multirater.training.resume", lambda data, run, **_: Run(run, 0, 0.0))
    (tmp_path / "run").mkdir()
    write_config(TrainConfig(method="cm", epochs=3, channels=(4, 8)), tmp_path / "run")
    (tmp_path / "run/data.json").write_text("{}")

    def again(*options):
        words = ["train", str(digits_folder), "--resume", str(tmp_path / "run"), *options]
        try:
            return CliRunner().invoke(app, words)
        finally:
            progress.show_progress(False)

    for same in ((), ("--epochs", "3", "--channels", "4,8"), ("--memory", "3GB")):
        assert again(*same).exit_code == 0, same
    result = again("--epochs", "5", "--method", "mode", "--channels", "4,16")
    assert result.exit_code == 2
    for name in ("epochs = 5", "method = mode", "channels = (4, 16)"):
        assert f"{name} beside --resume" in result.output
    assert "--preset beside --resume" in again("--preset", "mnist").output


def test_predictions_are_replaced_when_asked_for(monkeypatch, digits_folder, tmp_path):
    asked = []
    monkeypatch.setattr(
        "multirater.training.prediction.predict", lambda *_, **options: asked.append(options)
    )
    (tmp_path / "run").mkdir()
    write_config(TrainConfig(method="cm"), tmp_path / "run")
    (tmp_path / "run/data.json").write_text("{}")
    words = ["predict", str(tmp_path / "run"), str(digits_folder), "-o", str(tmp_path / "out")]
    try:
        for more in ([], ["--overwrite"]):
            result = CliRunner().invoke(app, [*words, *more])
            assert result.exit_code == 0, result.output
    finally:
        progress.show_progress(False)
    assert [options["overwrite"] for options in asked] == [False, True]


def test_links_among_new_images_that_lead_to_nothing_are_named(digits_folder, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "a.png").symlink_to(next(digits_folder.glob("images/*.png")))
    (tmp_path / "new" / "b.png").symlink_to(tmp_path / "gone.png")
    with pytest.raises(InputError) as caught:
        _images(tmp_path / "new", "all", tmp_path)
    assert [Path(each.file).name for each in caught.value.faults] == ["b.png"]
    (tmp_path / "new" / "b.png").unlink()
    assert [case.name for case in _images(tmp_path / "new", "all", tmp_path)] == ["a"]


def test_pictures_among_new_images_that_cannot_be_read_are_named(digits_folder, tmp_path):
    (tmp_path / "new/more").mkdir(parents=True)
    (tmp_path / "new/notes").mkdir()
    picture = next(digits_folder.glob("images/*.png")).read_bytes()
    for name in ("a.png", "more/c.png"):
        (tmp_path / "new" / name).write_bytes(picture)
    found = _images(tmp_path / "new", "all", tmp_path)
    assert {case.name: case.read_image().array.shape for case in found} == {
        "a": (1, 28, 28),
        "more": (1, 28, 28),
    }
    (tmp_path / "new/b.webp").write_bytes(picture)
    with pytest.raises(InputError, match=r"files of suffix \.webp cannot be read"):
        _images(tmp_path / "new", "all", tmp_path)


@pytest.mark.parametrize(
    ("data", "view", "expected"),
    [
        ('{"ndim": 3}', "auto", True),
        ('{"ndim": 2}', "auto", False),
        ('{"ndim": 2}', "slices", True),
        ('{"ndim": 0, "space": [4, 5, 6]}', "auto", True),
        ("{}", "auto", False),
    ],
)
def test_whether_a_run_learned_volumes(tmp_path, data, view, expected):
    assert not _learned_volumes(tmp_path)
    write_config(TrainConfig(method="cm", view=view), tmp_path)
    (tmp_path / "data.json").write_text(data)
    assert _learned_volumes(tmp_path) == expected
