"""The folder of decisions: a log that only grows, and the labels it names.

gold/decisions.jsonl   every act of an expert, a line each; the last line of a case says how it is
gold/labels/           a file for each label that was taken or painted, never changed again; beside
                       it `.<name>.unnamed`, which is empty, until the log names it
gold/manifest.csv      the gold labels as a data set, with classes.csv; made from the log

A label is on the disk before its line is written, and the line before anybody is told: whatever is
killed when, what was said to be kept is kept. A line that was cut off does not count.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.fusion.case import label_suffix, write_case_label
from multirater.fusion.mask_dataset import classes_for_files, with_unlabelled
from multirater.io.atomic import remove_left_overs, replacing
from multirater.io.gold import DECISIONS, GOLD, Decision, read_decisions, require_inside
from multirater.io.naming import file_names
from multirater.io.one_writer import one_writer
from multirater.io.results.origin import write_origin
from multirater.io.survey import Survey
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import Row, cell_of
from multirater.types import Case, Classes, LabelMap, Labels
from multirater.words import listed

_LABELS = "labels"
_UNNAMED = ".unnamed"


class StaleError(Exception):
    """Somebody else has acted on the case since it was looked at.

    Attributes:
        now: how the case stands.
    """

    def __init__(self, now: Decision) -> None:
        super().__init__(f"{now.case} is at revision {now.revision}")
        self.now = now


class GoldFolder:
    """Keeps decisions; made by `gold_folder`, which sees to it that nobody else writes there.

    Args:
        folder: of the decisions.
        found: the study they are about.
    """

    def __init__(self, folder: Path, found: Survey) -> None:
        self.folder = folder
        self.cases = {case.name: case for case in found.dataset}
        self.classes = _classes_of(found)
        self.acts: dict[str, list[Decision]] = read_decisions(folder)
        self.order = [each.case for acts in self.acts.values() for each in acts]
        self._files = file_names(self.cases)
        self._log = threading.Lock()
        self._of_case: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def now(self, case: str) -> Decision:
        """Return how a case stands."""
        acts = self.acts.get(case)
        return acts[-1] if acts else Decision(case)

    def at(self, case: str, revision: int) -> Decision:
        """Return how a case stood at a revision; 0 is before anything was done."""
        return self.acts[case][revision - 1] if revision else Decision(case)

    def changed(self, since: int) -> tuple[int, list[Decision]]:
        """Return how many acts there are, and how the cases stand that were touched since then.

        Args:
            since: a number of acts, as returned before.
        """
        order = self.order
        return len(order), [self.now(case) for case in dict.fromkeys(order[max(since, 0) :])]

    def record(self, case: str, seen: int, change: Callable[[Decision], Decision]) -> Decision:
        """Keep an act, unless somebody else has acted meanwhile.

        Args:
            case: its name.
            seen: the revision that whoever acts has seen.
            change: from how the case stands to how it stands after the act.

        Raises:
            StaleError: the case is at another revision.
        """
        with self._of_case[case]:
            now = self.now(case)
            if now.revision != seen:
                raise StaleError(now)
            after = replace(change(now), case=case, revision=now.revision + 1)
            with self._log:
                self._append(after)
                if after.label:
                    _marker(self.folder / after.label).unlink(missing_ok=True)
                self.acts.setdefault(case, []).append(after)
                self.order.append(case)
                if after.gold != now.gold:
                    self.write_tables()
            return after

    def write(self, case: Case, label: LabelMap, labels: Labels) -> str:
        """Write a label into a file of its own, and return its name in the folder.

        Args:
            case: whose label it is.
            label: class indices, -1 where it is open.
            labels: of the raters, whose format it is written in.
        """
        stem, suffix = f"{_LABELS}/{self._files[case.name]}", label_suffix(case, labels)
        number = self.now(case.name).revision + 1
        while (self.folder / f"{stem}.{number}{suffix}").exists():
            number += 1
        name = f"{stem}.{number}{suffix}"
        marker = _marker(self.folder / name)
        marker.parent.mkdir(exist_ok=True)
        marker.touch()
        write_case_label(label, self.folder / name, self.classes, case)
        return name

    def write_tables(self) -> None:
        """Write what is decided as a data set whose rater is called gold."""
        rows = [
            Row(
                name,
                "" if case.image is None else cell_of(case.image.paths, self.folder),
                GOLD,
                self.now(name).gold,
                split=case.split,
                patient=case.patient,
            )
            for name, case in self.cases.items()
            if self.now(name).gold
        ]
        write_dataset_tables(self.folder, rows, self.classes, overwrite=True)

    def _append(self, act: Decision) -> None:
        """Add a line and see it to the disk; one that does not get there leaves nothing."""
        path = self.folder / DECISIONS
        size = path.stat().st_size
        try:
            with path.open("ab") as stream:
                stream.write(act.as_line().encode())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError:
            os.truncate(path, size)
            raise


@contextmanager
def gold_folder(folder: str | Path, found: Survey) -> Iterator[GoldFolder]:
    """Open a folder of decisions, or begin one; nobody else may write there meanwhile.

    Args:
        folder: that is made where there is none.
        found: the study.

    Raises:
        InputError: the folder is something else, or of another study, or in use.
    """
    place = Path(folder)
    _require_own(place)
    acts = read_decisions(place)
    if found.dataset.kind == "masks":
        require_inside([each for several in acts.values() for each in several], place)
    _require_same_study(acts, found, place)
    place.mkdir(parents=True, exist_ok=True)
    with one_writer(place.resolve()):
        remove_left_overs(place)
        _end_log(place / DECISIONS)
        write_origin(place, found.dataset.folder)
        opened = GoldFolder(place, found)
        _remove_orphans(place / _LABELS, opened)
        opened.write_tables()
        yield opened


def _classes_of(found: Survey) -> Classes:
    """Drawings are written as they came, and may leave pixels open."""
    if found.dataset.kind == "classes":
        return found.classes
    return with_unlabelled(classes_for_files(found))


def _require_own(place: Path) -> None:
    link = next((name for name in (DECISIONS, _LABELS) if (place / name).is_symlink()), None)
    if link is not None:
        raise InputError(
            Fault(
                f"{link} is a link, and nothing is written or removed elsewhere",
                expected="a folder that holds its decisions itself",
                fix=f"put what {link} leads to in its place",
                file=str(place),
            )
        )
    is_free = not place.exists() or (place.is_dir() and not any(place.iterdir()))
    if not is_free and not (place / DECISIONS).is_file():
        raise InputError(
            Fault(
                "exists and holds no decisions, so none are written there",
                expected="a new folder, or one of `view --adjudicate`",
                fix="choose another folder",
                file=str(place),
            )
        )


def _require_same_study(acts: dict[str, list[Decision]], found: Survey, place: Path) -> None:
    known = {case.name for case in found.dataset}
    if acts and known.isdisjoint(acts):
        raise InputError(
            Fault(
                f"holds decisions on other cases: {listed(sorted(acts), most=3)}",
                expected=f"cases such as {listed(sorted(known), most=3)}",
                fix="choose the folder of this study, or another",
                file=str(place),
            )
        )


def _end_log(path: Path) -> None:
    """Leave out a last line that was cut off, so that the next one begins anew."""
    text = path.read_bytes() if path.is_file() else b""
    whole = text[: text.rfind(b"\n") + 1]
    if text != whole or not path.is_file():
        with replacing(path, overwrite=True) as temporary:
            temporary.write_bytes(whole)


def _remove_orphans(folder: Path, opened: GoldFolder) -> None:
    """Remove labels that a killed server wrote and did not come to name; all others stay.

    Also those that a log which was put back does not name: a marker tells which it was about.
    """
    if not folder.is_dir():
        return
    every: Sequence[Decision] = [each for acts in opened.acts.values() for each in acts]
    named = {Path(each.label).name for each in every} | {Path(each.gold).name for each in every}
    for marker in sorted(folder.glob(f".*{_UNNAMED}")):
        label = folder / marker.name.removeprefix(".").removesuffix(_UNNAMED)
        if label.name not in named and label.is_file() and not label.is_symlink():
            label.unlink()
        marker.unlink()


def _marker(label: Path) -> Path:
    """Return the file that says of a label that the log does not name it yet."""
    return label.parent / f".{label.name}{_UNNAMED}"
