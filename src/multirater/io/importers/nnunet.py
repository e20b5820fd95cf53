"""nnU-Net's raw folders: `dataset.json`, `imagesTr/<case>_0000.*`, `labelsTr/<case>.*`.

Raters are told by folders, in one of three ways: `labelsTr_<rater>/` or `labelsTr/<rater>/` in one
data set, or several data sets, one per rater and named after them. A single `labelsTr/` is the work
of one rater of that name. Cases of `imagesTs/` become the split `test`.
"""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.formats.images import read_image
from multirater.io.importers.collecting import collecting
from multirater.io.importers.json_files import read_json
from multirater.io.importers.rater_names import same_names
from multirater.io.importers.work import Export, Task, Work
from multirater.types import Classes, LabelClass

_WHAT = "dataset.json of nnU-Net v2, with channel_names, labels and file_ending"
_LAYOUT = "imagesTr/<case>_0000 with the file_ending of dataset.json"
_SPLITS = {"Tr": "train", "Ts": "test"}


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read one data set with folders of raters, or one data set per rater."""
    faults: list[Fault] = []
    found: dict[Path, tuple[str, Classes]] = {}
    for folder in sources:
        with collecting(faults, file=folder):
            found[folder] = _described(folder)
    if faults:
        raise InputError(faults)
    known = next(iter(found.values()))[1]
    for folder, (_, its) in found.items():
        if its != known:
            names = ", ".join(known.names)
            fault = Fault(f"has classes {', '.join(its.names)}", expected=names, file=str(folder))
            raise InputError(fault)
    if len(found) > 1:
        faults += same_names({folder: folder.resolve().name for folder in found})
    tasks: dict[str, Task] = {}
    for folder, (ending, _) in found.items():
        alone = folder.resolve().name if len(found) > 1 else ""
        for part, split in _SPLITS.items():
            own = {each.name: each for each in _tasks(folder, part, ending, known, alone, split)}
            faults += _other_images(tasks, own)
            tasks |= {name: _joined(tasks.get(name), task) for name, task in own.items()}
            faults += _without_image(folder, part, ending, alone, own)
    if faults:
        raise InputError(faults)
    if not tasks:
        raise InputError(Fault("holds no image", expected=_LAYOUT, file=str(sources[0])))
    return Export(known, tuple(tasks.values()))


def _described(folder: Path) -> tuple[str, Classes]:
    """Return the suffix of files and the classes of a data set."""
    file = folder / "dataset.json"
    if not file.is_file():
        raise InputError(
            Fault("holds no dataset.json", expected=_WHAT, fix="name the folder of it")
        )
    content = read_json(file, _WHAT)
    ending, labels = (
        content.get(key) if isinstance(content, Mapping) else None
        for key in ("file_ending", "labels")
    )
    if not isinstance(ending, str) or not isinstance(labels, Mapping):
        raise InputError(Fault("dataset.json lacks file_ending or labels", expected=_WHAT))
    stacked = content.get("multirater")
    if isinstance(stacked, Mapping):  # labelsTr holds stacks of all raters' labels
        names = [str(name) for name in stacked.get("classes", [])]
        return ending, Classes(tuple(LabelClass(name) for name in names), len(names))
    return ending, _classes(labels)


def _classes(labels: Mapping[str, Any]) -> Classes:
    values = {name: value for name, value in labels.items() if name != "ignore"}
    if not all(isinstance(value, int) for value in values.values()):
        raise InputError(
            Fault(
                "has labels that are regions of several values",
                expected="one whole number per label",
                fix="give the labels without regions",
            )
        )
    in_order = sorted(values, key=lambda name: int(values[name]))
    if [values[name] for name in in_order] != list(range(len(values))):
        raise InputError(Fault(f"has labels {dict(values)}", expected="0, 1, 2, ... without gaps"))
    ignore = labels.get("ignore")
    return Classes(
        tuple(LabelClass(name) for name in in_order), ignore if isinstance(ignore, int) else None
    )


def _tasks(
    folder: Path, part: str, ending: str, classes: Classes, alone: str, split: str
) -> Iterator[Task]:
    images: dict[str, list[Path]] = {}
    for path in sorted((folder / f"images{part}").glob(f"*_[0-9][0-9][0-9][0-9]{ending}")):
        images.setdefault(path.name[: -len(ending) - 5], []).append(path)
    raters = dict(_rater_folders(folder, part, alone))
    for name, files in images.items():
        work = {
            rater: Work(f"{labels.name}/{name}{ending}", file=file)
            for rater, labels in raters.items()
            if (file := labels / f"{name}{ending}").is_file()
        }
        yield Task(
            f"images{part}/{name}",
            files[0].name,
            work=work,
            files=tuple(files),
            name=name,
            split=split,
        )


def _without_image(
    folder: Path, part: str, ending: str, alone: str, tasks: Mapping[str, Task]
) -> Iterator[Fault]:
    """Find labels of cases that a data set has no images of."""
    for rater, labels in _rater_folders(folder, part, alone):
        for file in sorted(labels.glob(f"*{ending}")):
            name = file.name[: -len(ending)]
            if name not in tasks and not file.name.startswith("."):
                yield Fault(
                    "label without an image",
                    expected=f"images{part}/{name}_0000{ending}",
                    fix="add the image, or take the label away",
                    case=name,
                    rater=rater,
                    file=str(file),
                )


def _rater_folders(folder: Path, part: str, alone: str) -> Iterator[tuple[str, Path]]:
    plain = folder / f"labels{part}"
    if alone:
        yield alone, plain
        return
    beside = sorted(path for path in folder.glob(f"labels{part}_*") if path.is_dir())
    inside = sorted(path for path in plain.glob("*") if path.is_dir())
    for path in beside:
        yield path.name.removeprefix(f"labels{part}_"), path
    for path in inside:
        yield path.name, path
    if not beside and not inside and plain.is_dir():
        yield plain.name, plain


def _other_images(before: Mapping[str, Task], tasks: Mapping[str, Task]) -> Iterator[Fault]:
    """Find cases of one name whose images differ: every data set of nnU-Net numbers its own."""
    for name, task in tasks.items():
        if name not in before:
            continue
        others = before[name].files
        if len(task.files) == len(others) and all(map(_are_alike, task.files, others)):
            continue
        yield Fault(
            f"other images than those of {others[0]}",
            expected="the same images for cases of one name",
            fix="rename cases, so that a name is of the same images in every data set",
            case=name,
            file=str(task.files[0]),
        )


def _are_alike(one: Path, other: Path) -> bool:
    """Whether two files hold the same pixels, whether or not they are packed alike."""
    if filecmp.cmp(one, other, shallow=False):
        return True
    try:
        return np.array_equal(read_image(one).array, read_image(other).array)
    except InputError:
        return False


def _joined(before: Task | None, task: Task) -> Task:
    """Bring the raters of one case in several data sets together, on the first one's images."""
    if before is None:
        return task
    return Task(
        before.where,
        before.image,
        work={**before.work, **task.work},
        files=before.files,
        name=before.name,
        split=before.split,
    )
