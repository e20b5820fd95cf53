"""MONAI Label's datastore: `datastore_v2.json`, images beside it, `labels/<version>/<image>`.

The versions of an image's label (`final`, `original`, or the names that were given to them) are its
raters. A file without voxels found nothing; no file is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from multirater.errors import Fault, InputError
from multirater.io.importers.collecting import collecting
from multirater.io.importers.json_files import name_in, read_json
from multirater.io.importers.work import Export, Task, Work
from multirater.types import Classes, LabelClass

FILE = "datastore_v2.json"
_HIGHEST = 2**15 - 1
"""Class that a label can hold."""

_WHAT = "datastore_v2.json of MONAI Label, with `objects`"


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read the folder of a datastore."""
    faults: list[Fault] = []
    stores: dict[Path, Mapping[str, Any]] = {}
    for folder in sources:
        with collecting(faults, file=folder):
            stores[folder] = _objects(folder)
    names: dict[int, str] = {}
    for folder, store in stores.items():
        with collecting(faults, file=folder / FILE):
            names |= _label_names(store, names)
    known = _classes(names, classes)
    tasks = []
    for folder, objects in stores.items():
        for name, entry in objects.items():
            with collecting(faults, case=name, file=folder / FILE):
                tasks.append(_task(folder, name, entry, known, faults))
    return Export(known, tuple(tasks), faults=tuple(faults))


def _objects(folder: Path) -> Mapping[str, Any]:
    if not (folder / FILE).is_file():
        raise InputError(
            Fault(f"holds no {FILE}", expected="the folder of a datastore", fix="name that folder")
        )
    content = read_json(folder / FILE, _WHAT)
    objects = content.get("objects") if isinstance(content, Mapping) else None
    if not isinstance(objects, Mapping):
        raise InputError(Fault(f"{FILE} has no `objects`", expected=_WHAT, fix="was it version 1?"))
    return objects


def _label_names(objects: Mapping[str, Any], known: Mapping[int, str]) -> dict[int, str]:
    """Return the names that labels' own infos give to values, beside those of other stores."""
    found = dict(known)
    for entry in objects.values():
        for label in (entry.get("labels") or {}).values():
            for told in (label.get("info") or {}).get("label_info") or []:
                if isinstance(told, Mapping) and isinstance(told.get("idx"), int):
                    where = f"label_info {told['idx']}"
                    value, name = _value(told["idx"]), name_in(told.get("name"), where)
                    if value > 0 and found.setdefault(value, name) != name:
                        raise _two_names(value, found[value], name)
    return {value: name for value, name in found.items() if value > 0}


def _two_names(value: int, one: str, other: str) -> InputError:
    return InputError(
        Fault(
            f"value {value} is called {one} and {other}",
            expected="one name for each value, in all labels and stores",
            fix="mend label_info, or import what is numbered alike on its own",
        )
    )


def _value(told: int) -> int:
    if told <= _HIGHEST:
        return told
    raise InputError(
        Fault(f"label_info has idx {told}", expected=f"at most {_HIGHEST}", fix="mend it")
    )


def _classes(names: Mapping[int, str], order: Sequence[str]) -> Classes:
    if order:
        names = dict(enumerate(order, 1))
    highest = max(names, default=1)
    items = [LabelClass(names.get(value, f"class {value}")) for value in range(1, highest + 1)]
    return Classes((LabelClass("background"), *items))


def _task(folder: Path, name: str, entry: Any, classes: Classes, faults: list[Fault]) -> Task:
    image = folder / _inside(f"{name}{_ending(entry.get('image'))}")
    if not image.is_file():
        faults.append(
            Fault("image is not there", expected=str(image), fix="copy it there", case=name)
        )
    work = {}
    for version, label in (entry.get("labels") or {}).items():
        file = folder / "labels" / _inside(version) / _inside(f"{name}{_ending(label)}")
        if not file.is_file():
            faults.append(
                Fault(
                    "label is not there",
                    expected=str(file),
                    fix="copy it there",
                    case=name,
                    rater=version,
                )
            )
        work[version] = Work(f"labels/{version}/{file.name}", file=file)
    return Task(f"object {name}", image.name, work=work, files=(image,), name=name)


def _inside(name: str) -> str:
    """Return a name of a file or folder of the datastore; others are nobody's business."""
    path = PurePath(name)
    if path.parts and not path.is_absolute() and ".." not in path.parts:
        return name
    raise InputError(
        Fault(
            f"{name!r} leads out of the datastore",
            expected="names of files and folders within it",
            fix="mend datastore_v2.json",
        )
    )


def _ending(told: Any) -> str:
    return str(told.get("ext", "")) if isinstance(told, Mapping) else ""
