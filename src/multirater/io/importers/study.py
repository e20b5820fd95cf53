"""From the export of any tool to a data set: one way for all of them.

Images stay where they are and are named by the manifest; labels are painted on their grid and
written to `raters/<rater>/<case>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.case_files import read_case_files
from multirater.io.drawings.export_images import require_size
from multirater.io.formats.images import image_shape, read_image
from multirater.io.formats.labels import Grid, read_label
from multirater.io.formats.stray import OFFER, Stray
from multirater.io.importers.collecting import understood
from multirater.io.importers.image_folder import ImageFolder, require_upright, stem_of
from multirater.io.importers.work import Export, Task, Work
from multirater.io.write import write_dataset
from multirater.progress import say
from multirater.tools import IMPORTS, importer
from multirater.types import Case, Dataset, Geometry, LabelMap, Source
from multirater.words import counted, listed

Unseen: TypeAlias = Literal["missing", "empty"]
"""What an image without a mark is where the tool cannot tell: not looked at, or nothing there."""

_POINT = Geometry((), (), ())


def import_study(
    tool: str,
    sources: Sequence[str | Path],
    folder: str | Path,
    *,
    images: str | Path | None = None,
    unseen: Unseen | None = None,
    classes: Sequence[str] = (),
    stray: Stray | None = None,
    overwrite: bool = False,
) -> Path:
    """Make a data set of what several raters did in a labelling tool.

    Args:
        tool: by name, such as `coco`.
        sources: the files or folders that it exported.
        folder: target.
        images: folder with the images, for tools whose exports do not hold them; they stay there.
        unseen: what an image is on which a rater left nothing, where the tool cannot tell.
        classes: names in order, without background; those of the export when not given.
        stray: how values of label files that stand for no class are read: as the `nearest` value
            that does, or as `missing`; they are refused when not given.
        overwrite: replace a data set that is there already.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with everything that is wrong, by the tool's own numbers; nothing is written.

    Example:
        >>> import_study("coco", ["anna.json", "bert.json"], "study",
        ...              images="photos")  # doctest: +SKIP
        PosixPath('study/manifest.csv')
    """
    module = importer(tool)
    files = [_present(Path(source)) for source in sources]
    if not files:
        raise InputError(Fault("no export was given", expected=IMPORTS[tool]))
    with understood(files[0] if len(files) == 1 else ""):
        export: Export = module.read_export(files, classes)
    _require_few_classes(export)
    if images is None and export.kind == "masks" and not all(t.files for t in export.tasks):
        raise InputError(
            Fault(f"this {tool} export does not hold the images", fix="name their folder: --images")
        )
    found = None if images is None else ImageFolder.of(Path(images))
    faults = [*export.faults, *_useless_stray(tool, export, stray)]
    groups = _by_image(export, found, faults)
    if unseen is None:
        faults += _unknown_blanks(groups)
    dataset = _dataset(export, groups, unseen, stray, faults)
    if faults:
        faults += [fault for case in dataset for fault in read_case_files(case).faults]
        raise InputError(list(dict.fromkeys(faults)))  # raters' files speak of the same images
    written = write_dataset(dataset, folder, overwrite=overwrite, keep_images=True)
    _tell(export, dataset, groups, found)
    return written


@dataclass(eq=False)
class _Group:
    """The tasks of one image."""

    files: tuple[Path, ...]
    name: str
    tasks: list[Task] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The case with the tool's own numbers, for messages."""
        return f"{self.name} ({', '.join(dict.fromkeys(task.where for task in self.tasks))})"


def _require_few_classes(export: Export) -> None:
    """Refuse more classes than a label can hold."""
    most, n_found = int(np.iinfo(np.int16).max), len(export.classes.items)
    if n_found > most:
        raise InputError(
            Fault(
                f"has {n_found} classes",
                expected=f"at most {most}",
                fix="is the name of a class something else, such as a number of each object?",
            )
        )


def _present(path: Path) -> Path:
    if not path.exists():
        raise InputError(Fault("does not exist", fix="check the path", file=str(path)))
    return path


def _by_image(export: Export, found: ImageFolder | None, faults: list[Fault]) -> list[_Group]:
    """Bring the tasks of one image together, and find it."""
    groups: dict[object, _Group] = {}
    for task in export.tasks:
        try:
            files = _image_files(task, found, export.kind)
        except InputError as error:
            faults += error.at(case=f"{task.image or task.name} ({task.where})").faults
            continue
        key = (files, task.name or ("" if files else task.image))
        name = task.name or stem_of(task.image)
        groups.setdefault(key, _Group(files, name)).tasks.append(task)
    if not faults and not groups:
        faults.append(Fault("the export holds no image", expected="at least one", fix="export all"))
    unnamed = [g for g in groups.values() if not g.tasks[0].name and len(g.files) == 1]
    if found is not None and unnamed:
        names = found.case_names([group.files[0] for group in unnamed])
        for group in unnamed:
            group.name = names[group.files[0]]
    return list(groups.values())


def _image_files(task: Task, found: ImageFolder | None, kind: str) -> tuple[Path, ...]:
    if task.files or found is None:
        return task.files
    try:
        file = found.find((task.image, *task.aliases))
    except InputError:
        if kind == "classes" and not task.image:
            return ()
        raise
    require_upright(file, task.size)
    return (file,)


def _unknown_blanks(groups: Sequence[_Group]) -> list[Fault]:
    """Ask what an image without a mark means, where nobody can know it from the files."""
    return [
        Fault(
            "nothing is marked, and the export cannot tell whether the rater found nothing or has "
            "not looked",
            expected="to be told which it is",
            fix="--unseen missing (not looked at), or --unseen empty (nothing there)",
            case=group.label,
            rater=rater,
        )
        for group in groups
        for task in group.tasks
        for rater in sorted(task.blank)
    ]


def _useless_stray(tool: str, export: Export, stray: Stray | None) -> list[Fault]:
    """Refuse `--stray` where nothing has pixel values."""
    if stray is None or any(work.file for task in export.tasks for work in task.work.values()):
        return []
    return [
        Fault(
            f"--stray {stray}, but exports of {tool} hold no label files with values",
            expected="shapes, masks and segments, each of which has a class",
            fix="leave it out",
        )
    ]


def _dataset(
    export: Export,
    groups: Sequence[_Group],
    unseen: Unseen | None,
    stray: Stray | None,
    faults: list[Fault],
) -> Dataset:
    cases = tuple(_case(_Painter(export, group, stray), unseen, faults) for group in groups)
    raters = dict.fromkeys(
        rater for group in groups for task in group.tasks for rater in (*task.work, *task.blank)
    )
    labelled = {rater for case in cases for rater in case.labels}
    kept = tuple(sorted(rater for rater in raters if rater in labelled))
    return Dataset(cases, kept, export.kind, export.classes)


@dataclass(frozen=True, eq=False)
class _Painter:
    """Makes the labels of one image."""

    export: Export
    group: _Group
    stray: Stray | None

    @cached_property
    def grid(self) -> Grid:
        return image_shape(self.group.files)

    def source(self, work: Work, task: Task) -> Source[LabelMap]:
        if self.export.kind == "classes":
            index = self.export.classes.names.index(work.choice)
            return Source(lambda: LabelMap(np.array(index, dtype=np.int16), _POINT, "class name"))
        return Source(partial(self.painted, work, task))

    def painted(self, work: Work, task: Task) -> LabelMap:
        try:
            with understood():
                if task.size is not None:
                    require_size(task.size, self.grid[0], may_scale=task.may_scale)
                return self.stored(work.file) if work.file is not None else self.drawn(work)
        except InputError as error:
            raise error.at(case=self.group.label) from None

    def drawn(self, work: Work) -> LabelMap:
        assert work.paint is not None
        return work.paint(self.grid)

    def stored(self, file: Path) -> LabelMap:
        known = self.export.classes
        try:
            return read_label(file, classes=known, like=lambda: self.grid, stray=self.stray)
        except InputError as error:
            raise InputError([_for_tool(fault) for fault in error.at(file=file).faults]) from None


def _for_tool(fault: Fault) -> Fault:
    """Speak of the tool's own names of classes: an export has no classes.csv."""
    if "classes.csv" not in fault.fix:
        return fault
    fix = f"mend the label, or name the class in the export's own list or by --classes, or {OFFER}"
    return replace(fault, fix=fix, expected=fault.expected.split(", from classes.csv")[0])


def _case(painter: _Painter, unseen: Unseen | None, faults: list[Fault]) -> Case:
    group = painter.group
    image, paths = None, group.files
    if paths:
        image = Source(partial(read_image, paths if len(paths) > 1 else paths[0]), paths)
    labels: dict[str, Source[LabelMap]] = {}
    truth = None
    for task in group.tasks:
        work: dict[str, Work] = dict(task.work)
        if unseen == "empty":
            work |= {rater: Work(task.where, _nothing) for rater in task.blank}
        for rater, each in work.items():
            if rater in labels:
                faults.append(_twice(group, rater, each))
            labels[rater] = painter.source(each, task)
        if task.truth is not None:
            truth = painter.source(task.truth, task)
    split = next((task.split for task in group.tasks if task.split), "")
    return Case(group.name, image, labels, truth, split)


def _twice(group: _Group, rater: str, work: Work) -> Fault:
    return Fault(
        f"labelled the image twice, the second time in {work.where}",
        expected="one annotation of a rater for each image",
        fix="remove one of them in the tool, and export again",
        case=group.label,
        rater=rater,
    )


def _nothing(grid: Grid) -> LabelMap:
    return LabelMap(np.zeros(grid[0], dtype=np.int16), grid[1])


def _tell(
    export: Export, dataset: Dataset, groups: Sequence[_Group], found: ImageFolder | None
) -> None:
    """Say what came in, and what did not."""
    raters = listed(list(dataset.raters), most=8)
    say(f"{counted(len(dataset), 'case')}, {counted(len(dataset.raters), 'rater')}: {raters}")
    for note in export.notes:
        say(f"note: {note}")
    used = {file for group in groups for file in group.files}
    left = [] if found is None else [file for file in found.files if file not in used]
    if left:
        say(f"note: {counted(len(left), 'image')} in no export, such as {left[0].name}")
