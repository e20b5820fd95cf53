"""What the documents show is run as it is written."""

import re
import runpy
import shlex
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import create_autospec

import numpy as np
import pandas as pd
import pytest

import multirater
from multirater.training import TrainConfig

ROOT = Path(__file__).parents[1]


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def run_block(code: str, **names: object) -> dict[str, object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, "document", "exec"), names)
    return names


@pytest.fixture
def study(digits_folder, tmp_path, monkeypatch):
    """A folder in which `study` is a data set, as in the documents."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study").symlink_to(digits_folder)
    return tmp_path


def test_readme_python(study, monkeypatch):
    small = partial(TrainConfig, epochs=1, channels=(4, 8), n_features=4, accelerator="cpu")
    monkeypatch.setattr("multirater.training.run.TrainConfig", small)
    (code,) = blocks("README.md", "python")
    names = run_block(code)
    assert names["result"].label.shape == (28, 28)
    assert (study / "run" / "checkpoints" / "best.ckpt").exists()


def test_fusion_python(study):
    from multirater import fuse

    labels = np.random.default_rng(0).integers(0, 2, (3, 8, 8))
    (code,) = blocks("docs/fusion.md", "python")
    assert run_block(code, fuse=fuse, labels=labels)["result"].cm.shape == (3, 2, 2)


def test_training_python():
    """What the document shows are the examples, which are run below."""
    names = ("train_monai_unet", "train_segresnet", "train_torch_loop")
    examples = [(ROOT / f"examples/{name}.py").read_text(encoding="utf-8") for name in names]
    assert blocks("docs/training.md", "python") == [each.split('"""\n\n')[1] for each in examples]
    assert all(len(each.splitlines()) < 30 for each in examples)


def test_scikit_learn_python():
    example = (ROOT / "examples/classify_with_scikit_learn.py").read_text(encoding="utf-8")
    assert blocks("docs/scikit-learn.md", "python") == [example.split('"""\n\n')[1]]


def test_classification_python():
    example = (ROOT / "examples/classify_torch_loop.py").read_text(encoding="utf-8")
    assert blocks("docs/classification.md", "python") == [example.split('"""\n\n')[1]]
    assert len(example.splitlines()) < 30


@pytest.fixture
def discs(tmp_path, monkeypatch):
    """Four discs drawn by anna and bert, as the folder `study`; return masks and images."""
    monkeypatch.chdir(tmp_path)
    y, x = np.ogrid[:24, :24]
    drawn = [[(y - 12) ** 2 + (x - 12 + k) ** 2 < r**2 for r in (6, 8)] for k in range(4)]
    masks = np.array(drawn).astype(np.uint8)
    images = masks.mean(1) * 200
    names = {"raters": ["anna", "bert"], "cases": ["a", "b", "c", "d"]}
    multirater.write_dataset(
        multirater.dataset_from_arrays(masks, images=images.astype(np.uint8), **names), "study"
    )
    return masks, images


def test_data_format_python(discs, tmp_path):
    for image in (tmp_path / "study/images").iterdir():
        (tmp_path / f"{image.stem}.jpg").write_bytes(_as_jpeg(image))
        for rater, name in (("anna", "1stHO"), ("bert", "2ndHO")):
            mask = tmp_path / f"study/raters/{rater}/{image.name}"
            (tmp_path / f"{image.stem}_{name}.png").write_bytes(mask.read_bytes())
    np.savez(tmp_path / "qubiq_brain_growth_39x7.npz", masks=discs[0], images=discs[1])
    table, arrays = blocks("docs/data-format.md", "python")
    data = run_block(table, folder=tmp_path)["data"]
    np.testing.assert_array_equal(data["b"].read_label("2ndHO").array > 0, discs[0][1, 1] > 0)
    assert len(run_block(arrays)["data"]) == 4


@pytest.mark.usefixtures("discs")
def test_next_python():
    (code,) = blocks("docs/next.md", "python")
    found = run_block(code, multirater=multirater)["found"]
    assert set(found.raters.index) | set(found.raters.iloc[:, 0]) >= {"anna", "bert"}
    for line in code.splitlines()[1:]:
        assert hasattr(found, line.split()[0].removeprefix("found."))


def test_code_of_every_page_is_run():
    """By the tests of this file, each named after its page; tutorials by their own."""
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    with_code = [p for p in pages if "tutorials" not in p.parts and "```python" in p.read_text()]
    tests = {f"test_{p.stem.lower().replace('-', '_')}_python" for p in with_code}
    assert tests - set(globals()) == set()


def test_planning_python(study):
    """The plan is made as it is written; trained on is a stand-in that takes the same arguments."""
    train = create_autospec(multirater.train)
    data = multirater.read_dataset("study")
    package = SimpleNamespace(plan=multirater.plan, train=train)
    (code,) = blocks("docs/planning.md", "python")
    names = run_block(code, multirater=package, data=data)
    assert train.call_args.args[2].batch_size == 4
    assert names["plan"].reasons["patch"]


def test_recipes_python(monkeypatch):
    """The data sets cannot be had here: what is called takes the arguments that are shown."""
    called = []
    for name in (
        "multirater.io.importers.lidc.import_lidc",
        "multirater.io.importers.recipes.import_lidc_crops",
        "multirater.training.train",
        "multirater.read_dataset",
    ):
        module, _, function = name.rpartition(".")
        stand_in = create_autospec(getattr(import_module(module), function))
        monkeypatch.setattr(name, stand_in)
        called.append(stand_in)
    for code in blocks("docs/recipes.md", "python"):
        run_block(code)
    assert all(each.called for each in called)


def test_report_figures_python(study):
    (study / "fused").mkdir()
    data = multirater.read_dataset("study")
    fused = multirater.fuse_dataset(data, "fused", method="majority-vote", overwrite=True)
    shown, drawn = blocks("docs/report-figures.md", "python")
    run_block(drawn, fused=fused)
    assert (study / "quality.pdf").exists()
    small = shown.replace('["study", "fused", "predicted", "run"]', '["study", "fused"]')
    small = small.replace('["p07", "p12"]', '["train-0001"]')
    assert len(run_block(small)["files"]) > 4


def readme_commands() -> list[str]:
    lines = blocks("README.md", "sh")[1].splitlines()
    return [line.split("  #")[0].strip() for line in lines if line.startswith("multirater")]


def test_readme_shell(study, run):
    """Every command of the README, in its order, on small data."""
    answers = [
        {"task": task, "worker": worker, "label": "yes" if (task + worker) % 3 else "no"}
        for task in range(12)
        for worker in range(4)
    ]
    pd.DataFrame(answers).to_csv(study / "answers.csv", index=False)
    (study / "new_images").symlink_to(study / "study" / "images")
    (study / "truth").symlink_to(study / "study")
    scans = study / "scans"
    scans.mkdir()
    for case in ("train-0000", "train-0001"):
        (scans / f"{case}.jpg").write_bytes(_as_jpeg(study / f"study/images/{case}.png"))
        for rater in ("good", "over"):
            mask = (study / f"study/raters/{rater}/{case}.png").read_bytes()
            (scans / f"{case}_{rater}.png").write_bytes(mask)
    commands = readme_commands()
    assert len(commands) >= 10
    for line in commands:
        words = shlex.split(line)[1:]
        if "train" in words:
            words += ["--epochs", "1", "--channels", "4,8"]
        status, _, errors = run(*words)
        assert status == 0, f"{line}\n{errors[-1500:]}"


def _as_jpeg(path: Path) -> bytes:
    from io import BytesIO

    from PIL import Image

    stream = BytesIO()
    Image.open(path).save(stream, "JPEG")
    return stream.getvalue()


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
