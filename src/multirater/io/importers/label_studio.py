"""Label Studio's export `JSON`: brush, polygons, rectangles and ellipses, turned or not; choices.

Each annotation of a task is one rater's work, by e-mail address or number. An empty annotation
found nothing; a skipped one, and a task that the rater has no annotation of, is missing. Files
without annotations but with predictions, as they are written here, give those; the model is the
rater. Choices become class labels; where several may be chosen, or there are several questions,
each question becomes a case of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.brush_rle import decode_brush
from multirater.io.drawings.label_studio import task_paths, without_prefix
from multirater.io.drawings.outlines import box, ellipse, turned, turned_about
from multirater.io.drawings.shapes import Ring, Shape, as_ring, covered
from multirater.io.importers.collecting import collecting
from multirater.io.importers.item_names import is_file, item_names
from multirater.io.importers.json_files import Record, name_in, read_json
from multirater.io.importers.painting import Thing, index_of, named_classes, paint
from multirater.io.importers.work import Export, Task, Work
from multirater.io.questions import NO, YES, question_name
from multirater.words import counted, listed

_WHAT = "an export of Label Studio in the format `JSON`: a list of tasks with annotations"
_SHAPES = ("polygon", "rectangle", "ellipse", "brush")


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read exports of one or several projects; raters of the same name are one."""
    faults: list[Fault] = []
    tasks: list[_Task] = []
    for path in sources:
        with collecting(faults, file=path):
            tasks += _read(path)
    if faults:
        raise InputError(faults)
    passed_by = Counter(kind for task in tasks for kind in task.passed_by())
    if any(_is_shape(result) for task in tasks for _, _, result in task.results()):
        passed_by.update("choices" for task in tasks for _ in task.choices())
        notes = _notes(passed_by)
        return _masks(tasks, classes, notes)
    return _choices(tasks, classes, _notes(passed_by))


@dataclass(frozen=True, eq=False)
class _Task:
    """A task with its annotations by rater: (the number, the results)."""

    content: Record
    by_rater: Mapping[str, list[tuple[str, list[Record]]]]

    @property
    def where(self) -> str:
        return f"task {self.content.get('id', '?')}"

    @property
    def names(self) -> tuple[str, ...]:
        """What the image may be called: files, as they were uploaded and before, then texts."""
        paths = [*task_paths(self.content).values()]
        paths += [without_prefix(path) for path in paths]
        return tuple(dict.fromkeys(sorted(paths, key=lambda path: not is_file(path))))

    @property
    def item(self) -> dict[str, str]:
        """What was asked about: the files of the task, or its texts where it has none, by field."""
        fields = {key: without_prefix(each) for key, each in task_paths(self.content).items()}
        files = {key: each for key, each in fields.items() if is_file(each)}
        return files or fields

    def rounds(self) -> Iterator[_Task]:
        """Yield it with each rater once; a second annotation of a rater comes in a second round."""
        most = max((len(several) for several in self.by_rater.values()), default=0)
        for number in range(max(most, 1)):
            said = {r: [each[number]] for r, each in self.by_rater.items() if len(each) > number}
            yield _Task(self.content, said)

    def results(self) -> Iterator[tuple[str, str, Record]]:
        for rater, several in self.by_rater.items():
            for number, results in several:
                for result in results:
                    yield rater, number, result

    def choices(self) -> Iterator[tuple[str, str, str, list[str]]]:
        """Yield rater, annotation, question and what was chosen."""
        for rater, number, result in self.results():
            if result.get("type") == "choices":
                chosen = result.get("value", {}).get("choices", [])
                names = [name_in(each, f"result {result.get('id', '?')}") for each in chosen]
                yield rater, number, str(result.get("from_name", "choice")), names

    def passed_by(self) -> list[str]:
        kinds = [str(result.get("type")) for _, _, result in self.results()]
        return [k for k in kinds if k not in ("labels", "choices") and _form(k) not in _SHAPES]


def _read(path: Path) -> list[_Task]:
    content = read_json(path, _WHAT)
    if not isinstance(content, list) or not all(isinstance(each, Mapping) for each in content):
        raise InputError(Fault("is no list of tasks", expected=_WHAT, fix="export again"))
    key = "annotations"
    if content and not any(task.get(key) for task in content):
        key = "predictions" if any(task.get("predictions") for task in content) else key
    faults = [
        Fault(
            f"task {task.get('id', '?')} has no list {key!r}",
            expected=_WHAT,
            fix="export in the format JSON, not JSON-MIN",
        )
        for task in content
        if not isinstance(task.get(key), list)
    ]
    if faults:
        raise InputError(faults)
    return [_Task(task, _by_rater(task[key])) for task in content]


def _by_rater(annotations: Sequence[Any]) -> dict[str, list[tuple[str, list[Record]]]]:
    found: dict[str, list[tuple[str, list[Record]]]] = defaultdict(list)
    for each in annotations:
        if not isinstance(each, Mapping) or each.get("was_cancelled"):
            continue
        results = each.get("result")
        kept = [r for r in results if isinstance(r, Mapping)] if isinstance(results, list) else []
        found[_rater(each)].append((f"annotation {each.get('id', '?')}", kept))
    return found


def _rater(annotation: Record) -> str:
    who = annotation.get("completed_by", annotation.get("model_version"))
    if isinstance(who, Mapping):
        who = who.get("email") or who.get("id")
    return str(who if who not in (None, "") else "unknown")


def _form(kind: str) -> str:
    """Return the shape that a type of result is: `polygonlabels` and `polygon` are a polygon."""
    return kind.removesuffix("labels")


def _is_shape(result: Record) -> bool:
    return _form(str(result.get("type"))) in _SHAPES


def _notes(passed_by: Counter[str]) -> tuple[str, ...]:
    return tuple(
        f"{counted(n, 'result')} of type {kind} {'is' if n == 1 else 'are'} passed by"
        for kind, n in passed_by.items()
    )


def _masks(tasks: Sequence[_Task], order: Sequence[str], notes: tuple[str, ...]) -> Export:
    used = {name for task in tasks for name in _labels_used(task)}
    classes = named_classes(used, order)
    known = {name: index for index, name in enumerate(classes.names)}
    faults: list[Fault] = []
    made = []
    for task in tasks:
        for number, each in enumerate(task.rounds()):
            work = {}
            for rater, ((where, results),) in each.by_rater.items():
                place = f"{(task.names or ('?',))[-1]} ({task.where}, {where})"
                with collecting(faults, case=place, rater=rater):
                    layers = _layers(results, known)
                    work[rater] = Work(where, partial(paint, layers))
            if work or not number:
                made.append(_task(task, work))
    return Export(classes, tuple(made), notes=notes, faults=tuple(faults))


def _task(task: _Task, work: Mapping[str, Work], name: str = "") -> Task:
    names = task.names
    return Task(
        task.where,
        names[0] if names else "",
        names[1:],
        size=_size(task),
        may_scale=True,
        work=work,
        name=name,
    )


def _size(task: _Task) -> tuple[float, float] | None:
    for _, _, result in task.results():
        sides = [result.get(f"original_{side}") for side in ("width", "height")]
        width, height = (float(s) if isinstance(s, int | float) else 0.0 for s in sides)
        if min(width, height) > 0 and isfinite(width + height):
            return width, height
    return None


def _labels_used(task: _Task) -> Iterator[str]:
    for _, _, result in task.results():
        value = result.get("value")
        if isinstance(value, Mapping):
            for key in (str(result.get("type")), "labels"):
                found = value.get(key)
                if key.endswith("labels") and isinstance(found, list):
                    yield from (str(each) for each in found[:1] if each is not None)


def _layers(results: Sequence[Record], known: Mapping[str, int]) -> list[Thing]:
    """Return the shapes of an annotation; a label may stand in a result of its own."""
    apart = {
        result.get("id"): result["value"].get("labels")
        for result in results
        if result.get("type") == "labels" and isinstance(result.get("value"), Mapping)
    }
    layers: list[Thing] = []
    faults: list[Fault] = []
    for result in filter(_is_shape, results):
        where = f"result {result.get('id', '?')}"
        value = result.get("value")
        value = value if isinstance(value, Mapping) else {}
        names = value.get(str(result["type"])) or apart.get(result.get("id"))
        with collecting(faults):
            if not isinstance(names, list) or not names:
                raise InputError(Fault(f"{where} has no label", fix="label it, or remove it"))
            index = index_of(name_in(names[0], where), known, where)
            mask = partial(_mask, _form(str(result["type"])), value, where)
            layers.append(Thing(where, index, mask))
    if faults:
        raise InputError(faults)
    return layers


def _mask(form: str, value: Record, where: str, space: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return what a result covers; positions are in percent of width and height."""
    if form == "brush":
        return decode_brush(value.get("rle"), space)
    percent = np.array(space[::-1]) / 100
    try:
        with np.errstate(all="ignore"):  # what comes of numbers too large is refused as a ring
            ring = _RINGS[form](value, percent)
    except (KeyError, TypeError, ValueError):
        raise InputError(Fault("lacks a position", fix="export again")) from None
    return covered(Shape("", "polygon", (as_ring(ring, where),)), space)


def _polygon(value: Record, percent: NDArray[np.float64]) -> Ring:
    return np.asarray(as_ring(value["points"], "polygon") * percent)


def _rectangle(value: Record, percent: NDArray[np.float64]) -> Ring:
    x, y, width, height = (float(value[key]) for key in ("x", "y", "width", "height"))
    ring = box(x, y, x + width, y + height) * percent
    return turned_about(ring, float(value.get("rotation") or 0), ring[0])


def _ellipse(value: Record, percent: NDArray[np.float64]) -> Ring:
    x, y, across, down = (float(value[key]) for key in ("x", "y", "radiusX", "radiusY"))
    return turned(ellipse(x, y, across, down) * percent, float(value.get("rotation") or 0))


_RINGS = {"polygon": _polygon, "rectangle": _rectangle, "ellipse": _ellipse}


def _choices(tasks: Sequence[_Task], order: Sequence[str], notes: tuple[str, ...]) -> Export:
    answers = [(task, *choice) for task in tasks for choice in task.choices()]
    if not answers:
        raise InputError(
            Fault(
                "holds neither shapes nor choices",
                expected="brush, polygon, rectangle, ellipse or choices in some annotation",
                fix="export a project in which something was labelled",
            )
        )
    questions = list(dict.fromkeys(question for _, _, _, question, _ in answers))
    several = {question for _, _, _, question, chosen in answers if len(chosen) > 1}
    options = {
        question: sorted({c for _, _, _, q, chosen in answers if q == question for c in chosen})
        for question in questions
    }
    made = []
    is_one = len(questions) == 1 and not several
    items = _items(tasks)
    stems = item_names(items)
    for task, item in zip(tasks, items, strict=True):
        for each in task.rounds():
            for asked, said in _questions(each, questions, several, options):
                name = question_name(stems[item], asked)
                if is_one:
                    name = "" if is_file(item) else item
                made.append(_task(task, {r: Work(w, choice=c) for r, (w, c) in said.items()}, name))
    used = {work.choice for task in made for work in task.work.values()}
    classes = named_classes(used, order, background=False)
    return Export(classes, tuple(made), "classes", notes)


def _items(tasks: Sequence[_Task]) -> list[str]:
    """Name what each task asked about, by the first field that tells all of them apart."""
    asked = [task.item for task in tasks]
    distinct = {tuple(each.items()) for each in asked}
    for field in dict.fromkeys(key for each in asked for key in each):
        named = {dict(each).get(field) for each in distinct}
        if None not in named and len(named) == len(distinct):
            return [each[field] for each in asked]
    return [", ".join(each.values()) or task.where for each, task in zip(asked, tasks, strict=True)]


def _questions(
    task: _Task,
    questions: Sequence[str],
    several: set[str],
    options: Mapping[str, list[str]],
) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
    """Yield each question of a task with its answers by rater: the annotation and the class.

    Where several may be chosen, whoever left an annotation without any has chosen none.
    """
    for question in questions:
        said: dict[str, tuple[str, list[str]]] = {}
        for rater, where, asked, chosen in task.choices():
            if asked == question and said.setdefault(rater, (where, chosen))[1] != chosen:
                raise InputError(
                    Fault(
                        f"{where} answers {question!r} by {listed(said[rater][1])} and by "
                        f"{listed(chosen)}",
                        expected="one answer to a question about a task",
                        fix="remove answers about parts of a text or image",
                        case=task.where,
                        rater=rater,
                    )
                )
        if question not in several:
            yield question, {r: (w, chosen[0]) for r, (w, chosen) in said.items() if chosen}
            continue
        nothing: list[str] = []
        looked = {r: said.get(r, (where, nothing)) for r, ((where, _),) in task.by_rater.items()}
        for option in options[question]:
            yield (
                option,
                {r: (w, YES if option in chosen else NO) for r, (w, chosen) in looked.items()},
            )
