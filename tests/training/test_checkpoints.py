"""Runs that somebody else made, with more in them than numbers."""

import json
import os
import resource
import shutil
import signal
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from multirater import progress
from multirater.cli.app import app
from multirater.errors import InputError
from multirater.training import Predictor, TrainConfig, predict, resume, train
from multirater.training.checkpoints import code_in, read_checkpoint, write_whole
from multirater.training.run_folder import read_run

QUICK = {"epochs": 1, "n_features": 4, "batch_size": 8, "accelerator": "cpu"}


class Payload:
    """Pickled, it makes a folder when it is unpickled."""

    def __init__(self, file):
        self.file = str(file)

    def __reduce__(self):
        return os.mkdir, (self.file,)


@pytest.fixture
def touched(tmp_path):
    return tmp_path / "touched"


@pytest.fixture(params=["masks", "classes"])
def opened(request, run_folders, studies, tmp_path):
    """A run that may be spoilt, and the data set it was trained on."""
    shutil.copytree(run_folders[request.param], tmp_path / "run")
    return tmp_path / "run", studies[request.param]


def call(*words):
    try:
        return CliRunner().invoke(app, [*map(str, words)])
    finally:
        progress.show_progress(False)


def verbs(run, data, out):
    """Every verb that opens a run, or what was made by one."""
    return {
        "predict": ("predict", run, data, "-o", out / "predicted"),
        "fuse": ("fuse", data, "--method", "learned", "--run", run, "-o", out / "fused"),
        "resume": ("train", data, "--resume", run),
        "report": ("report", data, run, "-o", out / "report.html"),
        "evaluate": ("evaluate", run, "--reference", data),
    }


def test_no_verb_runs_what_a_checkpoint_holds(opened, touched, tmp_path):
    run, data = opened
    for name in ("best", "last"):
        torch.save({"state_dict": {}, "x": Payload(touched)}, run / f"checkpoints/{name}.ckpt")
    for verb, words in verbs(run, data.folder, tmp_path).items():
        result = call(*words)
        assert not touched.exists(), verb
        if verb not in ("report", "evaluate"):  # which do not open the network
            assert result.exit_code == 2, (verb, result.output)
            assert "would run code" in result.output, verb
            assert "posix.mkdir" in result.output, verb


def test_no_verb_unpickles_a_backbone_unless_told_to(opened, touched, tmp_path):
    run, data = opened
    torch.save(Payload(touched), run / "backbone.pt")
    settings = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**settings, "backbone": "own"}))
    for verb, words in verbs(run, data.folder, tmp_path).items():
        result = call(*words)
        assert not touched.exists(), verb
        if verb not in ("report", "evaluate"):
            assert result.exit_code == 2, (verb, result.output)
            assert "--trust-code" in result.output, verb
            assert "posix.mkdir" in result.output, verb
    call("predict", run, data.folder, "-o", tmp_path / "out", "--trust-code")
    assert touched.exists()


def test_no_verb_imports_a_backbone_unless_told_to(opened, touched, tmp_path, monkeypatch):
    run, data = opened
    (tmp_path / "planted.py").write_text(f"import pathlib\npathlib.Path({str(touched)!r}).touch()")
    monkeypatch.syspath_prepend(tmp_path)
    settings = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**settings, "backbone": "planted:network"}))
    for verb, words in verbs(run, data.folder, tmp_path).items():
        result = call(*words)
        assert not touched.exists(), verb
        if verb not in ("report", "evaluate"):
            assert result.exit_code == 2, (verb, result.output)
            assert "would import and call planted:network" in result.output, verb


def test_a_backbone_of_ones_own_is_used_by_those_who_trust_it(studies, tmp_path):
    own = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 4))
    config = TrainConfig(method="cm", backbone=own, **QUICK)
    run = train(studies["classes"], tmp_path / "run", config).folder
    with pytest.raises(InputError, match=r"torch\.nn\.modules\.linear\.Linear") as refused:
        Predictor(run)
    assert "trust_code=True" in str(refused.value)
    predict(run, studies["classes"], tmp_path / "out", trust_code=True)
    assert resume(studies["classes"], run, trust_code=True).best_epoch == 0


def test_weights_from_elsewhere_are_not_looked_for(run_folders, tmp_path):
    shutil.copytree(run_folders["classes"], tmp_path / "run")
    file = tmp_path / "run/config.json"
    options = {"pretrained": str(tmp_path / "absent.pt")}
    settings = {**json.loads(file.read_text()), "backbone": "resnet10"}
    file.write_text(json.dumps({**settings, "backbone_options": options}))
    with pytest.raises(InputError, match="another network") as refused:
        Predictor(tmp_path / "run")
    assert "absent.pt" not in str(refused.value)  # only that the weights are another's


def test_a_damaged_checkpoint_is_named(tmp_path):
    file = tmp_path / "best.ckpt"
    torch.save({"state_dict": {"a": torch.zeros(1000)}}, file)
    assert read_checkpoint(file)["state_dict"]["a"].shape == (1000,)
    assert code_in(file) == []
    file.write_bytes(file.read_bytes()[:1500])
    with pytest.raises(InputError, match="cannot be read"):
        read_checkpoint(file)
    torch.save([1, 2], file)
    with pytest.raises(InputError, match="holds a list"):
        read_checkpoint(file)


def _with_settings(run, target, **settings):
    shutil.copytree(run, target)
    config = json.loads((target / "config.json").read_text())
    (target / "config.json").write_text(json.dumps({**config, **settings}))
    return target


@pytest.mark.parametrize(
    "settings",
    [{"n_features": 8000}, {"channels": [8000, 8000]}, {"kernels": [[63, 63]] * 2}],
)
def test_settings_of_another_network_take_no_memory(run_folders, tmp_path, settings):
    run = _with_settings(run_folders["masks"], tmp_path / "run", **settings)
    with pytest.raises(InputError, match=r"describe another network|overflow"):
        read_run(run)


@pytest.mark.parametrize(
    "settings",
    [{"n_features": 10**12}, {"channels": [10**9, 10**9]}, {"kernels": [[9999, 9999]] * 2}],
)
def test_settings_of_no_network_are_refused_by_name(run_folders, tmp_path, settings):
    run = _with_settings(run_folders["masks"], tmp_path / "run", **settings)
    with pytest.raises(InputError, match=f"{next(iter(settings))} = .*"):
        read_run(run)


def test_a_packed_checkpoint_is_not_unpacked(tmp_path):
    torch.save({"state_dict": {"weight": torch.zeros(10**6)}}, tmp_path / "plain.ckpt")
    with (
        ZipFile(tmp_path / "plain.ckpt") as plain,
        ZipFile(tmp_path / "best.ckpt", "w", ZIP_DEFLATED) as packed,
    ):
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))
    assert read_checkpoint(tmp_path / "plain.ckpt")["state_dict"]
    with pytest.raises(InputError, match="claims to unpack to 4 MB"):
        read_checkpoint(tmp_path / "best.ckpt")


def test_a_full_disk_is_told_and_the_old_checkpoint_stays(tmp_path):
    write_whole({"epoch": 1}, tmp_path / "last.ckpt")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
        with pytest.raises(InputError, match="disk is full"):
            write_whole({"weight": torch.zeros(10_000)}, tmp_path / "last.ckpt")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert read_checkpoint(tmp_path / "last.ckpt") == {"epoch": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["last.ckpt"]


def test_a_changed_number_is_noticed(opened):
    run, _ = opened
    file = run / "checkpoints" / "best.ckpt"
    with ZipFile(file) as parts:
        largest = max(parts.infolist(), key=lambda each: each.file_size)
    content = bytearray(file.read_bytes())
    content[largest.header_offset + len(largest.filename) + 200 + largest.file_size // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match="checksum"):
        read_checkpoint(file)
