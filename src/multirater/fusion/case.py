"""Fuse the labels of one case and write the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.answers import Answers, answers_from_rows
from multirater.fuse.expectation import posterior_counts, posterior_of, vote_fractions
from multirater.fuse.fitting import row_labels
from multirater.fuse.likeness import likeness
from multirater.fuse.methods import NEEDS_SPACE, method_named
from multirater.fuse.problem import decode_patterns
from multirater.fuse.spatial_staple import expected_confusions
from multirater.fuse.weighted_vote import weighted_shares
from multirater.io.formats.grid import is_default
from multirater.io.formats.images import write_image
from multirater.io.formats.labels import write_label
from multirater.io.formats.suffixes import WRITABLE, suffix_of
from multirater.io.results.layout import label_cell, probability_cell
from multirater.patterns import encode_patterns
from multirater.trust import Finding, findings_from_json
from multirater.types import MISSING, Case, Classes, Image, LabelMap, Labels


@dataclass(frozen=True, eq=False)
class PooledFit:
    """Raters as estimated from all cases together.

    Attributes:
        cm: (n_raters, true, observed).
        prior: (n_classes,).
        weight: (n_raters,), what votes count, when it is a vote.
        disputed_only: whether a label that all raters of a pixel gave stands.
    """

    cm: NDArray[np.float64]
    prior: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None
    disputed_only: bool = False


@dataclass(frozen=True, eq=False)
class FusedCase:
    """One fused case: label and probability maps, and what it says about the raters."""

    label: NDArray[np.int16]
    probability: NDArray[np.float32]
    counts: NDArray[np.float64]
    n_iter: int
    converged: bool
    n_ties: int
    findings: tuple[Finding, ...] = ()


Gold: TypeAlias = NDArray[np.int16] | None
"""What an expert decided of a case, (*space), -1 where it is open; None for nothing."""

CaseFuser: TypeAlias = Callable[[Case, Labels], FusedCase]
"""A way to fuse one case that is not a function of its labels alone; it must be picklable."""


@dataclass(frozen=True, eq=False)
class CaseJob:
    """How to fuse each case; sent to every process."""

    method: str
    options: Mapping[str, Any]
    raters: tuple[str, ...]
    classes: Classes
    folder: Path
    file_names: Mapping[str, str]
    write_probability: bool
    pooled: PooledFit | None = None
    fuser: CaseFuser | None = None


@dataclass(frozen=True)
class CaseRecord:
    """What is known of a fused case: one line of the progress file.

    `counts` are expected counts [rater][true][observed] in pixels; `alike` says what the label
    equals, see `likeness`; `digest` is of the labels that were fused; `files` are
    those that were written, with their bytes.
    """

    case: str
    label: str
    counts: list[list[list[float]]]
    n_iter: int
    converged: bool
    n_ties: int
    findings: tuple[Finding, ...] = ()
    alike: list[str] | None = None
    digest: str = ""
    files: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        # Not `asdict` of all of it, which copies every count of every rater.
        return {**vars(self), "findings": [asdict(each) for each in self.findings]}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> CaseRecord:
        """Return the record of which this is the plain data."""
        return cls(**{**stored, "findings": findings_from_json(stored["findings"])})


def fuse_case(case: Case, job: CaseJob) -> CaseRecord:
    """Fuse one case and write its files, each in one move."""
    labels = case.read_labels(job.raters)
    fused = fuse_labels(case, labels, job)
    name = job.file_names[case.name]
    suffix = label_suffix(case, labels)
    place = label_cell("fusion", name, suffix)
    written = [place]
    write_case_label(LabelMap(fused.label, labels.geometry), job.folder / place, job.classes, case)
    if job.write_probability:
        image = Image(fused.probability, labels.geometry)
        written.append(probability_cell(name, suffix))
        write_image(image, job.folder / written[-1], overwrite=True)
    return CaseRecord(
        case.name,
        place,
        fused.counts.tolist(),
        fused.n_iter,
        fused.converged,
        fused.n_ties,
        fused.findings,
        likeness(labels.array, fused.label, labels.raters),
        files={each: (job.folder / each).stat().st_size for each in written},
    )


def fuse_labels(case: Case, labels: Labels, job: CaseJob) -> FusedCase:
    """Fuse the labels of one case and write nothing; what is decided (`Case.gold`) stands."""
    known = case.read_gold()
    gold = None if known is None else known.array
    if job.fuser is not None:
        return held_to_gold(job.fuser(case, labels), labels, gold)
    if job.pooled is not None:
        return _apply(labels, job, job.pooled, gold)
    if job.method in NEEDS_SPACE:
        return held_to_gold(_fuse(labels, job, None), labels, gold)
    return _fuse(labels, job, gold)


def held_to_gold(fused: FusedCase, labels: Labels, gold: Gold) -> FusedCase:
    """Return a fused case with what an expert decided in place of what was fused.

    Args:
        fused: by something that knows no gold labels.
        labels: that were fused.
        gold: (*space), -1 where it is open; None for nothing.
    """
    if gold is None:
        return fused
    known = gold != MISSING
    classes = np.arange(len(fused.probability)).reshape(-1, *(1 for _ in gold.shape))
    probability = np.where(known, gold == classes, fused.probability).astype(np.float32)
    counts = expected_confusions(labels.array, probability)
    label = np.where(known, gold, fused.label)
    return replace(fused, label=label, probability=probability, counts=counts)


def _fuse(labels: Labels, job: CaseJob, gold: Gold) -> FusedCase:
    """Estimate raters from this case alone."""
    options = dict(job.options)
    if job.method in NEEDS_SPACE:
        options.setdefault("spacing", labels.geometry.spacing)
    if gold is not None:
        options["gold"] = gold
    result = method_named(job.method)(
        labels.array, len(job.classes), raters=labels.raters, classes=job.classes.names, **options
    )
    return FusedCase(
        result.label,
        result.probability,
        result.counts,
        result.n_iter,
        result.converged,
        result.n_ties,
        result.findings,
    )


def _apply(labels: Labels, job: CaseJob, fit: PooledFit, gold: Gold) -> FusedCase:
    """Use raters as estimated from all cases."""
    n_raters, known = len(labels.array), () if gold is None else (gold,)
    found = encode_patterns([*labels.array, *known])
    answers = answers_from_rows(
        found.rows[:, :n_raters],
        found.counts,
        len(job.classes),
        gold=None if gold is None else found.rows[:, n_raters],
    )
    posterior = _posterior(answers, fit)
    label, n_ties = row_labels(answers, posterior)
    label_map, probability = decode_patterns(found, None, label, posterior)
    is_decided = fit.weight is not None and job.method != "mean"
    # A vote decides: raters are compared with its label, not with the shares.
    truth = np.eye(len(job.classes))[np.maximum(label, 0)] if is_decided else posterior
    counts = posterior_counts(answers, truth)
    return FusedCase(label_map, probability, counts, 0, True, n_ties)


def _posterior(answers: Answers, fit: PooledFit) -> NDArray[np.float64]:
    if fit.weight is not None:
        return weighted_shares(answers, fit.weight, fit.prior)
    posterior = posterior_of(answers, fit.cm, fit.prior)
    if fit.disputed_only:
        share = vote_fractions(answers, fit.prior)
        posterior = np.where(share.max(1, keepdims=True) == 1.0, share, posterior)
    return posterior


def label_suffix(case: Case, labels: Labels) -> str:
    """Write in the format the raters' files have, as far as it can be written."""
    files = next(iter(case.labels.values())).files
    suffix = suffix_of(files[0]) if files else ""
    if suffix == ".npy" and not is_default(labels.geometry):
        return ".npz"  # which holds where an image lies, as its image knows
    if suffix in WRITABLE or suffix == ".dcm":
        return suffix
    return ".png" if labels.array.ndim == 3 else ".nii.gz"


def write_case_label(label: LabelMap, path: Path, classes: Classes, case: Case) -> None:
    """Write a label of a case, a DICOM-SEG with what its series says."""
    if suffix_of(path) != ".dcm":
        write_label(label, path, classes=classes, overwrite=True)
        return
    from multirater.io.formats.dicom_seg import write_dicom_seg

    source = case.image.paths[0] if case.image and case.image.paths[0].is_dir() else None
    write_dicom_seg(label, path, classes=classes, source=source, overwrite=True)
