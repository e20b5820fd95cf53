"""Who writes a run folder, and what an end before its time leaves of it.

A run is written in its place, to be watched and resumed: its checkpoints, each whole, are its
progress. One process writes it at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from multirater.errors import Fault, InputError
from multirater.io.atomic import remove_left_overs
from multirater.io.one_writer import one_writer
from multirater.io.own_files import FILE_NAME, begin_own_files, is_listed, is_unfinished
from multirater.io.results.layout import (
    CHECKPOINTS,
    CONFIG,
    CURVES,
    DATA,
    DIGESTS,
    PLAN,
    PREDICTIONS,
)
from multirater.progress import say_how_to_go_on

_BEFORE_CHECKPOINTS = (
    *(CONFIG, PLAN, DATA, DIGESTS, CURVES, "origin.json", "backbone.pt"),
    *("decoded", "tensorboard", "checkpoints", FILE_NAME),
)
"""What a run writes before it has learned anything; what says so is removed last."""


@contextmanager
def run_writer(target: Path) -> Iterator[None]:
    """Hold the right to write a run."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with one_writer(target):
        if is_listed(target):  # else it is no run, and what lies in it is somebody else's
            remove_left_overs(target)
        yield


def require_no_links(target: Path) -> None:
    """Refuse links in a run, or its folds, in the place of folders that are written into."""
    for folder in (target, *target.glob("fold-*")):
        for name in ("", "decoded", "tensorboard", CHECKPOINTS, PREDICTIONS):
            if (folder / name).is_symlink() and folder / name != target:
                raise InputError(
                    Fault(
                        "is a link, and what it leads to would be written",
                        expected="a folder of the run",
                        fix="put the folder itself there",
                        file=str(folder / name),
                    )
                )


def require_new(target: Path) -> None:
    """Refuse a folder with anything in it but what a run left that had not begun to learn.

    A folder without the mark of `begin` is somebody else's, whatever its files are called.
    """
    if is_unfinished(target) and not (target / CONFIG).exists():
        _remove_beginnings(target)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(
            Fault(
                "already exists",
                fix="choose another folder, or --resume the run",
                file=str(target),
            )
        )


def begin(target: Path) -> None:
    """Make the folder of a run, and mark it as one."""
    target.mkdir(parents=True, exist_ok=True)
    begin_own_files(target)


def leave(target: Path, *, is_lost: bool = False) -> None:
    """Clean up after an end before its time; say how to go on.

    Args:
        target: of the run.
        is_lost: whether its weights are no numbers any more, so that nobody could go on.
    """
    has_folds = any(_folds(target))
    if is_unfinished(target) and ((is_lost and not has_folds) or not _has_learned(target)):
        _remove_beginnings(target)
        say_how_to_go_on("nothing is kept of the run, begin again")
    elif _has_learned(target):
        say_how_to_go_on(f"stopped; go on with: multirater train DATA --resume {target}")


def _folds(target: Path) -> list[Path]:
    """Return the folders of folds, as `training.folds` names them; links lead to other runs."""
    named = (each for each in target.glob("fold-*") if each.name.removeprefix("fold-").isdigit())
    return sorted(each for each in named if each.is_dir() and not each.is_symlink())


def _has_learned(target: Path) -> bool:
    """Whether a run, or a fold of it, has written a checkpoint."""
    folders = [target, *_folds(target)]
    return any(any((*each.glob("*.ckpt"), *each.glob(f"{CHECKPOINTS}/*.ckpt"))) for each in folders)


def _remove_beginnings(target: Path) -> None:
    """Leave no folder in the way of the corrected command; files of others stay."""
    for fold in _folds(target):
        _remove_beginnings(fold)
    for name in _BEFORE_CHECKPOINTS:
        path = target / name
        if path.is_dir() and not path.is_symlink():
            rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    if target.is_dir() and not any(target.iterdir()):
        target.rmdir()
