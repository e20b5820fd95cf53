"""Read everything once: all faults of a data set together, and the patterns of its labels.

Whatever looks at a whole data set (description, agreement, pooled fusion) starts from a survey.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.case_files import CaseFiles, read_case_files
from multirater.io.contradictions import Understood, contradictions
from multirater.io.drawn_facts import DrawnFacts, drawn_facts
from multirater.io.kept_labels import TRUTH, KeptLabel, kept_of, with_kept
from multirater.packed_rows import PackedRows, pack_rows
from multirater.parallel import map_parallel
from multirater.patterns import encode_patterns
from multirater.types import MISSING, Case, Classes, Dataset, Geometry, Image, LabelMap


@dataclass(frozen=True, eq=False, slots=True)
class CaseSurvey:
    """What one case holds.

    Attributes:
        name: of the case.
        faults: everything wrong with it.
        space: size of the labels, or of the image when there are none.
        n_channels: channels of the image, 0 without image.
        image_space: size of the image, empty without one and for vectors.
        spacing: of the image, in millimetres per axis; empty without one and for vectors.
        geometry: of the labels, or of the image; None when neither could be read.
        packed: what `rows` unpacks.
        counts: (n_patterns,), pixels that carry each row.
        rules: how label files were understood.
        highest: largest class index in labels, truth and drawings, -1 without any.
        drawn: what the labels look like; None for a case with faults.
        digest: of everything that was drawn, to notice when it changes.
        image_digest: of the image, where it was asked for.
        kept: labels by rater, and the truth, packed, while a survey that keeps them runs.
    """

    name: str
    faults: tuple[Fault, ...]
    space: tuple[int, ...]
    n_channels: int
    image_space: tuple[int, ...]
    geometry: Geometry | None
    packed: PackedRows
    counts: NDArray[np.int64]
    rules: tuple[str, ...]
    highest: int
    drawn: DrawnFacts | None = None
    spacing: tuple[float, ...] = ()
    digest: str = ""
    image_digest: str = ""
    kept: Mapping[str, KeptLabel] = field(default_factory=dict)

    @property
    def rows(self) -> NDArray[np.signedinteger[Any]]:
        """Labels that occur together, (n_patterns, n_raters), -1 for a missing rater.

        Of many raters they are unpacked: ask once.
        """
        return self.packed.unpack()


@dataclass(frozen=True, eq=False)
class Survey:
    """A data set that was read once and found in order, with its classes settled."""

    dataset: Dataset
    cases: tuple[CaseSurvey, ...]

    @property
    def classes(self) -> Classes:
        """The classes, declared or counted."""
        assert self.dataset.classes is not None
        return self.dataset.classes

    @property
    def digest(self) -> str:
        """Of all labels of all cases, to notice when they change."""
        said = "".join(f"{case.name}\0{case.digest}\n" for case in self.cases)
        return hashlib.blake2b(said.encode(errors="replace"), digest_size=8).hexdigest()

    def require_labels(self, *, or_truth: bool = False) -> None:
        """Refuse a study in which nothing is labelled: not a pixel, and nothing is drawn.

        Args:
            or_truth: whether the truth will do, for who learns from it.
        """
        if any((case.rows != MISSING).any() for case in self.cases):
            return
        if any(case.drawings or case.gold is not None for case in self.dataset):
            return
        if or_truth and any(case.truth is not None for case in self.dataset):
            return
        if not any(case.labels for case in self.dataset):
            raise InputError(
                Fault(
                    "no case has a drawing or a label",
                    expected="labels of raters, or rows of kind positive, negative or mask",
                    fix="look at the columns `rater` and `kind` of the manifest",
                    file=str(self.dataset.folder or ""),
                )
            )
        raise InputError(
            Fault(
                "no pixel of any case is labelled",
                expected="labels of raters",
                fix="look at what the label files hold, and what classes.csv calls unlabelled",
                file=str(self.dataset.folder or ""),
            )
        )


def survey(
    dataset: Dataset, *, workers: int = 1, keep: bool = False, with_images: bool = False
) -> Survey:
    """Read every file of a data set and check that they fit together.

    Args:
        dataset: as opened by `read_dataset`.
        workers: number of processes.
        keep: hold what was drawn in memory, packed, for those who ask for it later.
        with_images: take digests of images, too, for those who learn from them.

    Returns:
        The survey, whose `dataset` knows its classes.

    Raises:
        InputError: with the faults of all cases.

    Example:
        >>> from multirater.io.arrays import dataset_from_arrays
        >>> found = survey(dataset_from_arrays(np.array([[[[0, 1]], [[0, 0]]]])))
        >>> found.cases[0].rows.tolist(), found.classes.names
        ([[0, 0], [1, 0]], ('background', 'class 1'))
    """
    if not dataset.cases:
        raise InputError(
            Fault(
                "the data set is empty",
                expected="at least one case",
                file=str(dataset.folder or ""),
            )
        )
    look = partial(survey_case, raters=dataset.raters, keep=keep, with_image=with_images)
    cases = tuple(map_parallel(look, dataset.cases, label="reading", workers=workers))
    faults = [fault for case in cases for fault in case.faults]
    if dataset.classes is None:
        faults += contradictions(
            [
                Understood(case, seen.rules, seen.highest)
                for case, seen in zip(dataset.cases, cases, strict=True)
            ]
        )
    if faults:
        raise InputError(faults)
    if dataset.classes is None:
        highest = max((case.highest for case in cases), default=MISSING)
        dataset = replace(dataset, classes=Classes.numbered(max(highest + 1, 2)))
    if keep:
        dataset = with_kept(dataset, [case.kept for case in cases])
        cases = tuple(replace(case, kept={}) for case in cases)
    return Survey(dataset, cases)


def survey_case(
    case: Case, raters: Sequence[str], *, keep: bool = False, with_image: bool = False
) -> CaseSurvey:
    """Read one case and list what is wrong with it."""
    files = read_case_files(case)
    space, geometry = _grid(files)
    patterns = _no_patterns(len(raters)) if files.faults else _patterns(files.labels, raters, space)
    read = files.all_drawn
    kept = _kept(case, files) if keep else {}
    return CaseSurvey(
        name=case.name,
        faults=files.faults,
        space=space,
        n_channels=0 if files.image is None else len(files.image.array),
        image_space=() if files.image is None else files.image.space,
        geometry=geometry,
        packed=pack_rows(patterns[0]),
        counts=patterns[1],
        rules=tuple(sorted({label.rule for label in read})),
        highest=max((int(label.array.max(initial=MISSING)) for label in read), default=MISSING),
        drawn=None if files.faults else drawn_facts(files.labels, files.truth, raters),
        spacing=() if files.image is None else files.image.geometry.spacing,
        digest=_digest(files, kept),
        image_digest=_image_digest(files.image) if with_image else "",
        kept=kept,
    )


def _kept(case: Case, files: CaseFiles) -> dict[str, KeptLabel]:
    truth = {} if files.truth is None else {TRUTH: files.truth}
    return kept_of(case, {**files.labels, **truth})


def _digest(files: CaseFiles, kept: Mapping[str, KeptLabel]) -> str:
    """Return a digest of the labels; of those that are packed anyway, of that, which is less."""
    found = hashlib.blake2b(digest_size=8)
    drawn: list[tuple[str, LabelMap | None]] = [*files.labels.items(), ("(truth)", files.truth)]
    drawn.append(("(gold)", files.gold))
    drawn += [(f"{each.rater} {each.kind}", label) for each, label in files.drawings]
    for name, label in drawn:
        if label is not None:
            found.update(f"{name}\0{label.array.shape}\0".encode(errors="replace"))
            packed = kept[name].packed if name in kept else label.array.tobytes()
            found.update(packed)
    return found.hexdigest()


def _image_digest(image: Image | None) -> str:
    """Return a digest of an image and of how far its pixels lie apart."""
    if image is None:
        return ""
    found = hashlib.blake2b(digest_size=8)
    array = np.ascontiguousarray(image.array)
    spacing = tuple(f"{each:.6g}" for each in image.geometry.spacing)
    found.update(f"{array.dtype.str}\0{array.shape}\0{spacing}\0".encode())
    found.update(array.data if array.size else b"")
    return found.hexdigest()


def _grid(files: CaseFiles) -> tuple[tuple[int, ...], Geometry | None]:
    for label in files.labels.values():
        return label.array.shape, label.geometry
    return ((), None) if files.image is None else (files.image.space, files.image.geometry)


def _patterns(
    labels: Mapping[str, LabelMap], raters: Sequence[str], space: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not labels:
        return _no_patterns(len(raters))
    if not space:  # one class per rater: a single pattern
        row = [int(labels[r].array) if r in labels else MISSING for r in raters]
        return np.array([row], dtype=np.int64), np.ones(1, dtype=np.int64)
    absent = np.broadcast_to(np.int16(MISSING), space)
    found = encode_patterns([labels[r].array if r in labels else absent for r in raters])
    return found.rows, found.counts


def _no_patterns(n_raters: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.empty((0, n_raters), dtype=np.int64), np.empty(0, dtype=np.int64)
