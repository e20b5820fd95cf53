"""Train the real nnU-Net on several raters, from the command line, on CPU; not a daily test.

    pip install 'multirater[nnunet]'
    python tests/tools/try_nnunet.py WORK [--epochs 12]

Makes a tiny study of flat images (discs in noise) in the new folder WORK: two raters who are right
and one who leaves out the rim, two of them on each image, so that a vote is a tie wherever the last
is one of them. Exports stacks, and runs nnU-Net's own commands: plan and preprocess, train with
nnUNetTrainerMultirater, predict. Beside it plain nnU-Net is trained on the majority vote, for as
long. Prints what was learned of the raters, and the Dice of both networks with the truth on unseen
images; ends with status 1 where the wrong rater was not found out.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image as Pillow
from scipy import ndimage

from multirater.nnunet import TRAINERS

SIDE, N_TRAIN, N_TEST = 32, 15, 8
RATERS = {"anna": 0, "bert": 0, "narrow": 3}
"""Raters, and how many pixels of the rim they leave out."""

SHORT = """
from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer
from multirater.nnunet.trainers.multirater_trainer import nnUNetTrainerMultirater


def short(base, name):
    def __init__(self, plans, configuration, fold, dataset_json, device):
        base.__init__(self, plans, configuration, fold, dataset_json, device)
        self.num_epochs = {epochs}
        self.num_iterations_per_epoch, self.num_val_iterations_per_epoch = 10, 2

    return type(name, (base,), {{"__init__": __init__}})


ShortMultirater = short(nnUNetTrainerMultirater, "ShortMultirater")
ShortPlain = short(nnUNetTrainer, "ShortPlain")
"""
"""The trainers as they are, but for their length."""


def require_ready(work: Path) -> None:
    """Stop in words where a run would end in a traceback of another program."""
    if work.exists() and any(work.iterdir()):
        sys.exit(f"{work} is not empty: name a new folder")
    try:
        import timm  # noqa: F401 - which nnU-Net imports when it looks for a trainer
    except (ImportError, RuntimeError) as error:
        sys.exit(f"nnU-Net cannot look for trainers here: {error}; see tests/tools/README.md")


def make_study(folder: Path, seed: int = 0) -> None:
    """Write discs in noise, the truth, and what raters drew of those that are trained on."""
    rng = np.random.default_rng(seed)
    rows = ["case,image,rater,label,truth,split"]
    grid = np.mgrid[:SIDE, :SIDE]
    for number in range(N_TRAIN + N_TEST):
        centre, radius = rng.uniform(11, SIDE - 11, 2), rng.uniform(6, 9)
        truth = np.hypot(*(grid - centre[:, None, None])) < radius
        noisy = 90 + 70 * truth + rng.normal(0, 25, truth.shape)
        name, is_test = f"disc{number:02d}", number >= N_TRAIN
        _save(noisy.clip(0, 255), folder / f"images/{name}.png")
        _save(truth, folder / f"truth/{name}.png")
        absent = list(RATERS)[number % len(RATERS)]
        split = "test" if is_test else "train"
        drawn = {} if is_test else {name: rim for name, rim in RATERS.items() if name != absent}
        for rater, rim in drawn.items():
            label = ndimage.distance_transform_edt(truth) > rim
            _save(label, folder / f"raters/{rater}/{name}.png")
            cell = f"raters/{rater}/{name}.png"
            rows.append(f"{name},images/{name}.png,{rater},{cell},truth/{name}.png,{split}")
        if is_test:
            rows.append(f"{name},images/{name}.png,,,truth/{name}.png,{split}")
    (folder / "manifest.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def _save(array: np.ndarray, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Pillow.fromarray(np.asarray(array).astype(np.uint8)).save(path)


def run(*words: object) -> None:
    """Run a command as a user would, and stop where it fails."""
    command = [str(word) for word in words]
    print("$", *command, flush=True)
    beside = Path(sys.executable).parent / command[0]
    subprocess.run([str(beside), *command[1:]], check=True)


def require_found(dataset: int) -> None:
    """See nnU-Net find the trainer by its own name and begin to train; then stop it."""
    words = ["nnUNetv2_train", str(dataset), "2d", "0", "-device", "cpu"]
    words += ["-tr", "nnUNetTrainerMultirater"]
    print("$", *words, " # until the first epoch", flush=True)
    command = [str(Path(sys.executable).parent / words[0]), *words[1:]]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        found = any("Epoch 0" in line for line in process.stdout)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)  # its workers, too
    assert found, "nnU-Net did not find nnUNetTrainerMultirater"


def train_and_predict(work: Path, dataset: int, trainer: str) -> Path:
    """Run nnU-Net's commands on a data set; return the folder of predictions."""
    raw = next((work / "raw").glob(f"Dataset{dataset}_*"))
    run("nnUNetv2_plan_and_preprocess", "-d", dataset, "-c", "2d", "-np", 1, "-npfp", 1,
        "--verify_dataset_integrity")  # fmt: skip
    shutil.copyfile(
        raw / "splits_final.json", work / "preprocessed" / raw.name / "splits_final.json"
    )
    if trainer == "ShortMultirater":
        require_found(dataset)
    run("nnUNetv2_train", dataset, "2d", 0, "-tr", trainer, "-device", "cpu")
    said = work / f"predicted_{trainer}"
    run("nnUNetv2_predict", "-i", work / "new", "-o", said, "-d", dataset, "-c", "2d", "-f", 0,
        "-tr", trainer, "-device", "cpu", "-npp", 1, "-nps", 1)  # fmt: skip
    return said


def mean_dice(predicted: Path, truth: Path) -> float:
    """Return the mean Dice of the predictions with the truth."""
    scores = []
    for path in sorted(predicted.glob("*.png")):
        said, true = (np.asarray(Pillow.open(p)) > 0 for p in (path, truth / path.name))
        scores.append(2 * (said & true).sum() / max(said.sum() + true.sum(), 1))
    assert scores, f"{predicted} holds no predictions"
    return float(np.mean(scores))


def main() -> None:
    """Do all of it, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--epochs", type=int, default=12)
    given = parser.parse_args()
    work = given.work.resolve()
    require_ready(work)
    study, vote = work / "study", work / "vote"
    make_study(study)
    (work / "trainers").mkdir(parents=True)
    (work / "trainers" / "short.py").write_text(SHORT.format(epochs=given.epochs))
    places = {f"nnUNet_{name}": str(work / name) for name in ("raw", "preprocessed", "results")}
    paths = os.pathsep.join([str(TRAINERS), str(work / "trainers")])
    os.environ |= places | {"nnUNet_extTrainer": paths, "nnUNet_n_proc_DA": "1"}
    os.environ.setdefault("nnUNet_def_n_proc", "1")
    (work / "new").mkdir()
    for path in sorted((study / "images").glob("*.png"))[N_TRAIN:]:
        shutil.copyfile(path, work / "new" / f"{path.stem}_0000.png")
    stacked, voted = (work / "raw" / name for name in ("Dataset901_Stacks", "Dataset902_Vote"))
    names = ",".join(RATERS)
    run("multirater", "export", study, "--to", "nnunet", "--raters", names, "-o", stacked)
    run("multirater", "fuse", study, "--method", "majority-vote", "-o", vote, "-q")
    run("multirater", "export", vote, "--to", "nnunet", "-o", voted)
    ours = train_and_predict(work, 901, "ShortMultirater")
    fold = next((work / "results" / stacked.name).glob("ShortMultirater*")) / "fold_0"
    matrices = json.loads((fold / "confusion_matrices.json").read_text())["matrices"]
    for rater, cm in matrices.items():
        print(f"{rater}: background kept {cm[0][0]:.3f}, object kept {cm[1][1]:.3f}")
    said = "Dice with the truth, unseen images:"
    print(said, f"raters, by nnUNetTrainerMultirater {mean_dice(ours, study / 'truth'):.3f}")
    plain = train_and_predict(work, 902, "ShortPlain")
    print(said, f"the vote, by plain nnU-Net {mean_dice(plain, study / 'truth'):.3f}")
    kept = {rater: cm[1][1] for rater, cm in matrices.items()}
    if not kept["narrow"] < 0.8 < min(kept["anna"], kept["bert"]):
        sys.exit("the wrong rater was not found out")


if __name__ == "__main__":
    main()
