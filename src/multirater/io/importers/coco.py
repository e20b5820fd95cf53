"""COCO JSON: instances (polygons and RLE) and panoptic, decoded by `pycocotools`.

One file per rater, who is named after it; or a field `annotator` of the annotations, with which
`annotators` of an image may list who looked at it. Categories in the order of their ids become the
classes 1, 2, ...; later annotations lie above earlier ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.coco_masks import mask_of, read_panoptic
from multirater.io.importers.collecting import collecting
from multirater.io.importers.json_files import Record, read_json, records
from multirater.io.importers.painting import Thing, paint
from multirater.io.importers.rater_names import same_names
from multirater.io.importers.work import Export, Task, Work
from multirater.types import Classes, LabelClass

_NOTHING = "background"
_WHAT = "a COCO file with the lists images, annotations and categories"


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read COCO files of one or several raters; categories of the same id have the same name."""
    faults: list[Fault] = []
    contents: dict[Path, Any] = {}
    for path in sources:
        with collecting(faults, file=path):
            contents[path] = read_json(path, _WHAT)
            for key in ("images", "annotations", "categories"):
                records(contents[path], key, _WHAT)
    faults += same_names({path: path.stem for path in sources})
    if faults:
        raise InputError(faults)
    names = _categories(contents, classes, faults)
    drawn = {number: name for number, name in names.items() if name != _NOTHING}
    index = dict.fromkeys(names, 0) | {number: i for i, number in enumerate(drawn, 1)}
    tasks: list[Task] = []
    for path, content in contents.items():
        with collecting(faults, file=path):
            tasks += _tasks(path, content, index, faults)
    items = (LabelClass(_NOTHING), *(LabelClass(name) for name in drawn.values()))
    return Export(Classes(items), tuple(tasks), faults=tuple(faults))


def _categories(
    contents: Mapping[Path, Any], order: Sequence[str], faults: list[Fault]
) -> dict[Any, str]:
    """Return the names of categories by id, in the order of their classes."""
    names: dict[Any, str] = {}
    for path, content in contents.items():
        for category in content["categories"]:
            number, name = category.get("id"), category.get("name")
            if not isinstance(number, int) or not isinstance(name, str) or not name:
                faults.append(Fault(f"category {number!r} called {name!r}", file=str(path)))
            elif names.setdefault(number, name) != name:
                faults.append(
                    Fault(
                        f"category {number} is {name!r}",
                        expected=f"{names[number]!r}, as in the other files",
                        fix="give one category the same id and name in all files",
                        file=str(path),
                    )
                )
    faults += [
        Fault(f"two categories are called {name}", expected="distinct names", fix="rename one")
        for name, n_times in Counter(names.values()).items()
        if n_times > 1
    ]
    if order and sorted(order) != sorted(names.values()):
        found = ", ".join(names.values())
        faults.append(Fault(f"--classes {','.join(order)}", expected=f"all of {found}, in order"))
    if faults:
        raise InputError(faults)
    place = {name: number for number, name in enumerate(order)}
    by_order = sorted(names, key=lambda n: place[names[n]] if order else n)
    return {number: names[number] for number in by_order}


def _tasks(
    path: Path, content: Record, index: Mapping[Any, int], faults: list[Fault]
) -> list[Task]:
    by_image: dict[Any, list[Record]] = defaultdict(list)
    for annotation in content["annotations"]:
        by_image[annotation.get("image_id")].append(annotation)
    times = Counter(image.get("id") for image in content["images"])
    faults += [
        Fault(
            f"{n_times} images have the id {number!r}",
            expected="an id of its own for each, by which annotations name it",
            fix="number images anew where files are joined",
            file=str(path),
        )
        for number, n_times in times.items()
        if n_times > 1
    ]
    known = times.keys()
    for number in by_image.keys() - known:
        first = by_image[number][0].get("id")
        faults.append(
            Fault(
                f"annotation {first} is of image {number!r}, which is not listed",
                expected="an image of this id in the list `images`",
                fix="export again, with all images",
                file=str(path),
            )
        )
    everybody = _annotators(content)
    tasks = []
    for image in content["images"]:
        drawn = by_image[image.get("id")]
        where = f"{image.get('file_name')} (image {image.get('id')})"
        with collecting(faults, case=where, file=path):
            tasks.append(_task(path, image, drawn, everybody, index))
    return tasks


def _annotators(content: Record) -> list[str]:
    """Return who annotated, where the file says it; nobody where it is one rater's file."""
    named = [a["annotator"] for a in content["annotations"] if a.get("annotator") is not None]
    for image in content["images"]:
        named += image.get("annotators") or []
    return list(dict.fromkeys(map(str, named)))


def _task(
    path: Path,
    image: Record,
    drawn: Sequence[Record],
    everybody: Sequence[str],
    index: Mapping[Any, int],
) -> Task:
    name, width, height = (image.get(key) for key in ("file_name", "width", "height"))
    if not (isinstance(name, str) and isinstance(width, int) and isinstance(height, int)):
        raise InputError(
            Fault(
                f"image is called {name!r} and has size {width!r} x {height!r}",
                expected="file_name, and width and height in pixels",
                fix="export again",
            )
        )
    by_rater: dict[str, list[Record]] = defaultdict(list)
    for annotation in drawn:
        by_rater[_rater(annotation, path, everybody)].append(annotation)
    faults = _faults_of(drawn, index, (height, width), path)
    if faults:
        raise InputError(faults)
    asked = [str(each) for each in image.get("annotators") or []]
    seen = {*by_rater, *asked}
    blank = frozenset(everybody or [path.stem]) - seen if not asked else frozenset()
    where = f"image {image['id']}"
    work = {
        rater: Work(where, partial(paint, _layers(by_rater[rater], index, path)))
        for rater in sorted(seen)
    }
    return Task(where, name, size=(width, height), work=work, blank=blank)


def _rater(annotation: Record, path: Path, everybody: Sequence[str]) -> str:
    if not everybody:
        return path.stem
    who = annotation.get("annotator")
    if who is None:
        raise InputError(
            Fault(
                f"annotation {annotation.get('id')} has no annotator, others have",
                expected="a field `annotator` in all annotations, or in none",
                fix="fill it in",
            )
        )
    return str(who)


def _faults_of(
    drawn: Sequence[Record], index: Mapping[Any, int], space: tuple[Any, Any], path: Path
) -> list[Fault]:
    """Look through the annotations of an image without decoding them."""
    faults = []
    for annotation in drawn:
        where = _where(annotation)
        who = str(annotation.get("annotator") or path.stem)
        parts = annotation.get("segments_info", [annotation])
        if not isinstance(parts, list) or not all(isinstance(part, Mapping) for part in parts):
            faults.append(Fault(f"{where} has segments_info {parts!r:.40}", expected="a list"))
            continue
        if "segments_info" in annotation and not all(isinstance(p.get("id"), int) for p in parts):
            faults.append(Fault(f"{where} has a segment without id", fix="export again", rater=who))
            continue
        for number in {part.get("category_id") for part in parts} - index.keys():
            faults.append(
                Fault(
                    f"{where} is of category {number!r}, which is not listed",
                    expected=f"one of the ids {', '.join(map(str, index))}",
                    fix="export again, with all categories",
                    rater=who,
                )
            )
        outline = annotation.get("segmentation")
        if isinstance(outline, Mapping) and outline.get("size") != list(space):
            faults.append(
                Fault(
                    f"{where} is an RLE of size {outline.get('size')}",
                    expected=f"{list(space)}, height and width of the image",
                    fix="export again",
                    rater=who,
                )
            )
    return faults


def _where(annotation: Record) -> str:
    """Name an annotation; those of panoptic files have no number."""
    return f"annotation {annotation.get('id', annotation.get('file_name'))}"


def _layers(drawn: Sequence[Record], index: Mapping[Any, int], path: Path) -> list[Thing]:
    layers = []
    for annotation in drawn:
        where = _where(annotation)
        if "segments_info" in annotation:
            name, segments = str(annotation.get("file_name")), annotation["segments_info"]
            known = frozenset(int(segment["id"]) for segment in segments)
            for segment in segments:
                mask = partial(_segment, path, name, known, segment["id"])
                layers.append(Thing(where, index[segment["category_id"]], mask))
        else:
            mask = partial(mask_of, annotation.get("segmentation"))
            layers.append(Thing(where, index[annotation["category_id"]], mask))
    return layers


def _segment(
    path: Path, name: str, known: frozenset[int], number: int, space: tuple[int, ...]
) -> NDArray[np.bool_]:
    return np.asarray(read_panoptic(path, name, known, space) == number)
