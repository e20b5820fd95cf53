"""What the page may ask for, checked and turned into a decision.

An act is JSON: `act` and its parameters, `revision` (that the page has seen), `who` and `why`.

    take    layer: a rater's drawing or answer, or "fused"
    class   class: the class of a case
    paint   view, slice, class, runs [[start, length], ...] of pixels of the slice, row by row
    accept  what has been painted becomes the gold label
    skip    why: must be said
    undo    the last act that is not undone
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.adjudication.content import current_label
from multirater.adjudication.disputed_study import DisputedStudy, OpenCase
from multirater.adjudication.gold_folder import GoldFolder
from multirater.io.gold import Decision
from multirater.types import LabelMap

_LONGEST_NAME, _LONGEST_REASON = 80, 1000
_MOST_RUNS = 200_000


class BadActError(Exception):
    """The page asked for something that there is not; its text says what."""


def act(study: DisputedStudy, gold: GoldFolder, place: int, asked: Any) -> Decision:
    """Do what the page asks for, and keep it.

    Args:
        study: that is decided.
        gold: keeps the decisions.
        place: of the case in the order.
        asked: by the page, as it came.

    Raises:
        BadActError: it is no act, or not one of this case.
        StaleError: somebody else has acted on the case meanwhile.
    """
    if not isinstance(asked, dict):
        raise BadActError("an act is an object")
    who, why = _text(asked, "who", _LONGEST_NAME), _text(asked, "why", _LONGEST_REASON)
    name = asked.get("act")
    if not who:
        raise BadActError("who decides must be said")
    if not isinstance(name, str) or name not in _ACTS:
        raise BadActError(f"no act {name!r}")
    if name == "skip" and not why:
        raise BadActError("a reason to skip must be said")
    do = _ACTS[name]
    when = datetime.now(UTC).isoformat(timespec="milliseconds")

    def change(now: Decision) -> Decision:
        after = do(study, gold, place, asked, now)
        before = after.before if name == "undo" else now.revision
        return replace(after, act=name, who=who, when=when, why=why, before=before)

    return gold.record(study.case(place).name, _number(asked, "revision"), change)


def _take(
    study: DisputedStudy, gold: GoldFolder, place: int, asked: Mapping[str, Any], now: Decision
) -> Decision:
    opened = study.open(place)
    if asked.get("layer") == "fused":
        label, how = opened.fused, f"fused by {study.method}"
    else:
        layer = _number(asked, "layer")
        if layer not in opened.present:
            raise BadActError("that rater did not label the case")
        label = opened.labels.array[opened.present.index(layer)]
        what = "drawing" if study.is_masks else "answer"
        how = f"{what} of {study.dataset.raters[layer]}"
    if not study.is_masks:
        return _of_class(study, int(label), how, now)
    file = _written(gold, opened, label)
    return replace(now, state="decided", label=file, gold=file, how=how)


def _class(
    study: DisputedStudy, gold: GoldFolder, place: int, asked: Mapping[str, Any], now: Decision
) -> Decision:
    if study.is_masks:
        raise BadActError("labels of this study are drawings")
    return _of_class(study, _number(asked, "class"), "class", now)


def _of_class(study: DisputedStudy, label: int, how: str, now: Decision) -> Decision:
    names = study.found.classes.names
    if not 0 <= label < len(names):
        raise BadActError("no such class")
    return replace(now, state="decided", gold=names[label], how=how)


def _paint(
    study: DisputedStudy, gold: GoldFolder, place: int, asked: Mapping[str, Any], now: Decision
) -> Decision:
    if not study.is_masks:
        raise BadActError("labels of this study are classes")
    opened = study.open(place)
    painted = _number(asked, "class")
    if painted >= len(study.found.classes):
        raise BadActError("no such class")
    _, label = current_label(study, gold, place)
    view, number = _number(asked, "view"), _number(asked, "slice")
    if view >= len(opened.planes) or number >= len(opened.turned(label, view)):
        raise BadActError("no such slice")
    shown = opened.turned(label, view)[number]
    rows, columns = np.divmod(_pixels(asked.get("runs"), shown.size), shown.shape[1])
    shown[rows, columns] = painted
    how = now.how if now.how.startswith("painted") else f"painted on {now.how or 'what was fused'}"
    return replace(now, state="draft", label=_written(gold, opened, label), how=how)


def _accept(
    study: DisputedStudy, gold: GoldFolder, place: int, asked: Mapping[str, Any], now: Decision
) -> Decision:
    if not now.label:
        raise BadActError("nothing has been taken or painted yet")
    return replace(now, state="decided", gold=now.label)


def _skip(
    study: DisputedStudy, gold: GoldFolder, place: int, asked: Mapping[str, Any], now: Decision
) -> Decision:
    return replace(now, state="skipped", gold="")


def _undo(
    study: DisputedStudy, gold: GoldFolder, place: int, asked: Mapping[str, Any], now: Decision
) -> Decision:
    if not now.revision or (now.act == "undo" and now.state == "open" and not now.label):
        raise BadActError("nothing to undo")
    return gold.at(now.case, now.before)


_Do = Callable[[DisputedStudy, GoldFolder, int, Mapping[str, Any], Decision], Decision]
_ACTS: dict[str, _Do] = {
    "take": _take,
    "class": _class,
    "paint": _paint,
    "accept": _accept,
    "skip": _skip,
    "undo": _undo,
}


def _written(gold: GoldFolder, opened: OpenCase, label: NDArray[np.int16]) -> str:
    drawn = LabelMap(np.ascontiguousarray(label), opened.labels.geometry, "gold")
    return gold.write(opened.case, drawn, opened.labels)


def _pixels(runs: Any, size: int) -> NDArray[np.int64]:
    """Return the pixels that runs [[start, length], ...] cover."""
    if not isinstance(runs, list) or not 0 < len(runs) <= _MOST_RUNS:
        raise BadActError("pixels are runs [[start, length], ...]")
    try:
        table = np.array(runs)
    except ValueError:
        table = np.empty(0)
    if table.dtype.kind != "i" or table.shape != (len(runs), 2):
        raise BadActError("pixels are runs [[start, length], ...]")
    start, length = table.T
    if start.min() < 0 or length.min() < 1:
        raise BadActError("a run begins at a pixel and has a length")
    is_far = start.max() >= size or length.max() > size  # else sums cannot wrap round
    if is_far or (start + length).max() > size or length.sum() > size:
        raise BadActError("a run is outside the slice")
    ends = np.cumsum(length)
    first = np.repeat(start - np.concatenate(([0], ends[:-1])), length)
    return np.asarray(np.arange(ends[-1]) + first, dtype=np.int64)


def _number(asked: Mapping[str, Any], key: str) -> int:
    found = asked.get(key)
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found < 2**31:
        raise BadActError(f"{key} must be a number, 0 or more")
    return found


def _text(asked: Mapping[str, Any], key: str, longest: int) -> str:
    found = asked.get(key, "")
    if not isinstance(found, str):
        raise BadActError(f"{key} must be a text")
    return re.sub(r"[\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]+", " ", found).strip()[:longest]
