"""Gold labels: what an expert decided, which stands whatever raters say.

They come from `multirater view STUDY --adjudicate gold/` (`decisions.jsonl`, one line per act, of
which the last of a case counts), or from any data set with a single rater.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.formats.guard import reading
from multirater.io.read import read_dataset
from multirater.io.tables.manifest import Row, cell_of
from multirater.progress import say
from multirater.types import MISSING, Case, Classes, Dataset, LabelMap, Source
from multirater.words import counted, listed

if TYPE_CHECKING:
    import pandas as pd

DECISIONS = "decisions.jsonl"
GOLD = "gold"
"""The rater that gold labels go by, where a table names one."""

State: TypeAlias = Literal["open", "draft", "decided", "skipped"]


@dataclass(frozen=True)
class Decision:
    """One act of an expert on a case, and how the case stands after it: a line of the log.

    Attributes:
        case: its name.
        revision: counts the acts on the case, from 1.
        act: `take`, `class`, `paint`, `accept`, `skip` or `undo`.
        state: of the case; a draft is being painted and is no gold label yet.
        label: what is being worked on: a file in the folder, or nothing.
        gold: what was decided: a file in the folder, or a class name; nothing while it is open.
        how: what it was made of, in words.
        who: did it.
        when: it was done, ISO 8601 in UTC.
        why: in their words.
        before: the revision that undoing leads back to.
    """

    case: str
    revision: int = 0
    act: str = ""
    state: State = "open"
    label: str = ""
    gold: str = ""
    how: str = ""
    who: str = ""
    when: str = ""
    why: str = ""
    before: int = 0

    def as_line(self) -> str:
        """Return the line of the log, with its end."""
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"


def read_decisions(folder: Path) -> dict[str, list[Decision]]:
    """Read every act by case, in order; a last line that a killed process left does not count.

    Args:
        folder: of the decisions.
    """
    path = folder / DECISIONS
    found: dict[str, list[Decision]] = {}
    if not path.is_file():
        return found
    with reading(path, "log of decisions", fix="put back a copy of it"):
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                each = _decision(json.loads(line))
                acts = found.setdefault(each.case, [])
                acts.append(each)
                if each.revision != len(acts) or not 0 <= each.before < each.revision:
                    raise ValueError(
                        f"act {len(acts)} on {each.case!r} has revision {each.revision}, "
                        f"before {each.before}"
                    )
    return found


def _decision(fields: dict[str, Any]) -> Decision:
    """Hold a line of the log to what `Decision` says of it."""
    found = Decision(**fields)
    numbers = ("revision", "before")
    for name, value in asdict(found).items():
        wanted = int if name in numbers else str
        if type(value) is not wanted:
            raise TypeError(f"{name} {value!r} in a decision on {found.case!r}")
    if found.state not in get_args(State):
        raise ValueError(f"state {found.state!r} of {found.case!r}")
    if found.gold and found.state in ("open", "skipped"):
        raise ValueError(f"a gold label of {found.case!r}, which is {found.state}")
    return found


def with_gold(dataset: Dataset, path: str | Path | pd.DataFrame) -> Dataset:
    """Return a data set whose cases know what an expert decided.

    `fuse_dataset` then lets the decisions stand and learns from them whom to follow, `train` takes
    them for what every rater drew, and reports measure raters against them.

    Args:
        dataset: a study.
        path: folder of `multirater view STUDY --adjudicate`, or a data set with one rater, of which
            a table will do.

    Raises:
        InputError: it holds no gold labels, or none of this study.

    Example:
        >>> import pandas as pd
        >>> study = {"case": [1, 1], "rater": ["anna", "bert"], "label": ["cat", "dog"]}
        >>> gold = {"case": [1], "rater": ["eva"], "label": ["dog"]}
        >>> data = with_gold(read_dataset(pd.DataFrame(study)), pd.DataFrame(gold))
        >>> int(data["1"].read_gold().array)
        1
    """
    opened = _opened(path, dataset)
    if opened is None:
        say(f"no case is decided yet in {path}")
        return dataset
    place = "" if not isinstance(path, str | Path) else str(path)
    _require_fitting(opened, dataset, place)
    sources = _by_case(opened, dataset.classes, place)
    known = {case.name for case in dataset}
    if known.isdisjoint(sources):
        raise InputError(
            Fault(
                f"gold labels of other cases: {listed(sorted(sources), most=3)}",
                expected=f"cases such as {listed(sorted(known), most=3)}",
                fix="name the gold labels of this study",
                file=place,
            )
        )
    others = len(sources.keys() - known)
    say(
        f"gold labels of {counted(len(sources) - others, 'case')}"
        + (f"; {counted(others, 'more')} of cases that are not here" if others else "")
    )
    cases = tuple(replace(case, gold=sources.get(case.name)) for case in dataset)
    return replace(dataset, cases=cases, gold_from=Path(place) if place else None)


def gold_names(path: str | Path) -> dict[str, str]:
    """Read gold labels of a table of answers: names of classes by task.

    Args:
        path: as in `with_gold`.
    """
    opened = _opened(path, None)
    if opened is None:
        say(f"no case is decided yet in {path}")
        return {}
    _require_one_rater(opened, str(path))
    if opened.kind != "classes" or opened.classes is None:
        raise InputError(
            Fault("gold labels that are masks", expected="class labels", file=str(path))
        )
    names = opened.classes.names
    read = {name: int(source.read().array) for name, source in _by_case(opened, None, "").items()}
    return {name: names[label] for name, label in read.items() if label != MISSING}


def _opened(path: str | Path | pd.DataFrame, study: Dataset | None) -> Dataset | None:
    """Open gold labels as a data set; None where nothing is decided yet."""
    folder = Path(path) if isinstance(path, str | Path) else None
    if folder is None or not (folder / DECISIONS).is_file():
        found = read_dataset(path)
        told = None if study is None or found.kind != study.kind else study.classes
        # Masks say what their values are in the way of their study, if they do not say it.
        is_silent = found.kind == "masks" and found.classes is None and told is not None
        return read_dataset(path, classes=told) if is_silent else found
    import pandas as pd

    images: Mapping[str, Case] = {} if study is None else {case.name: case for case in study}
    last = [acts[-1] for acts in read_decisions(folder).values()]
    if study is not None and study.kind == "masks":
        require_inside(last, folder)
    golden = {each.case: each.gold for each in last}
    rows = [
        asdict(Row(name, _image_cell(images.get(name), folder), GOLD, gold))
        for name, gold in golden.items()
        if gold
    ]
    return read_dataset(pd.DataFrame(rows), root=folder) if rows else None


def require_inside(acts: Iterable[Decision], folder: Path) -> None:
    """Refuse decisions on masks that name a file elsewhere: those made here never do.

    Args:
        acts: each with the file that is worked on, and the one that was decided.
        folder: of the decisions.
    """
    whole = folder.resolve()
    faults = [
        Fault(
            f"a label outside of this folder: {file}",
            expected=f"a file in {folder}",
            fix="put back the log as `view --adjudicate` wrote it",
            file=str(folder / DECISIONS),
            case=each.case,
        )
        for each in acts
        for file in dict.fromkeys((each.label, each.gold))
        if file and not (whole / file).resolve().is_relative_to(whole)
    ]
    if faults:
        raise InputError(faults)


def _image_cell(case: Case | None, folder: Path) -> str:
    return "" if case is None or case.image is None else cell_of(case.image.paths, folder)


def _by_case(opened: Dataset, classes: Classes | None, place: str) -> dict[str, Source[LabelMap]]:
    (rater,) = opened.raters
    place_of = _places(opened.classes, classes, place)
    return {
        case.name: _renumbered(case.labels[rater], place_of)
        for case in opened
        if rater in case.labels
    }


def _places(own: Classes | None, wanted: Classes | None, place: str) -> list[int] | None:
    """Return the index in the study of each class; None where they are the same."""
    if own is None or wanted is None or own.names == wanted.names:
        return None
    unknown = [name for name in own.names if name not in wanted.names]
    if unknown:
        raise InputError(
            Fault(
                f"gold labels with a class {unknown[0]!r}",
                expected=f"classes of the study: {', '.join(wanted.names)}",
                file=place,
            )
        )
    return [wanted.names.index(name) for name in own.names]


def _renumbered(source: Source[LabelMap], places: list[int] | None) -> Source[LabelMap]:
    if places is None:
        return source
    return replace(source, read=partial(_read_renumbered, source, places))


def _read_renumbered(source: Source[LabelMap], places: list[int]) -> LabelMap:
    found = source.read()
    table = np.array([*places, MISSING], dtype=np.int16)  # -1 takes the last
    return replace(found, array=table[found.array])


def _require_fitting(gold: Dataset, study: Dataset, place: str) -> None:
    _require_one_rater(gold, place)
    if gold.kind != study.kind:
        raise InputError(
            Fault(
                f"gold labels that are {gold.kind}",
                expected=f"{study.kind}, as the labels of the study",
                file=place,
            )
        )


def _require_one_rater(gold: Dataset, place: str) -> None:
    if len(gold.raters) != 1:
        raise InputError(
            Fault(
                f"gold labels of {counted(len(gold.raters), 'rater')}",
                expected="one, whose word counts",
                fix="name a folder of `view --adjudicate`, or a data set with one rater",
                file=place,
            )
        )
