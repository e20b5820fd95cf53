"""Fuse the masks of a data set, case by case and side by side.

An interrupted run goes on where it stopped: finished cases are lines of `progress.jsonl`, which
disappears when the folder is complete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.identifiability import FOLLOWS
from multirater.fuse.likeness import likeness_findings
from multirater.fuse.methods import method_named
from multirater.fuse.pattern_blocks import PatternBlocks
from multirater.fuse.pooled_vote import pooled_weighted_vote
from multirater.fuse.quality import with_quality
from multirater.fuse.rater_table import rater_table
from multirater.fuse.result import FusionResult
from multirater.fusion.case import CaseFuser, CaseJob, CaseRecord, PooledFit, fuse_case
from multirater.fusion.company import alone_findings, judged_counts
from multirater.fusion.folder import PROGRESS, FusedDataset
from multirater.fusion.study_quality import quality_of_study
from multirater.io.atomic import replacing
from multirater.io.formats.guard import reading
from multirater.io.formats.label_values import full_value
from multirater.io.naming import file_names
from multirater.io.results.statements import write_dataset_of
from multirater.io.survey import CaseSurvey, Survey
from multirater.io.tables.manifest import Row, cell_of
from multirater.parallel import map_parallel
from multirater.patterns import encode_patterns
from multirater.trust import over_cases
from multirater.types import MISSING, Case, Classes
from multirater.words import listed


def fuse_masks(
    found: Survey,
    target: Path,
    settings: Mapping[str, Any],
    workers: int,
    scheduler: str | None,
    fuser: CaseFuser | None,
) -> FusedDataset:
    """Fuse every case that is not done yet, then write the tables of the folder."""
    dataset = found.dataset
    labelled = [case for case in dataset if case.labels]
    job, whole = job_for(found, target, settings, fuser)
    done = read_progress(target)
    digests = {case.name: _digest(case) for case in found.cases}
    _require_unchanged(done, digests)
    left = [case for case in labelled if case.name not in done]
    with (target / PROGRESS).open("a", encoding="utf-8") as stream:
        results = map_parallel(
            partial(fuse_case, job=job), left, label="fusing", workers=workers, scheduler=scheduler
        )
        for record in results:
            kept = replace(record, digest=digests[record.case])
            stream.write(json.dumps(kept.to_dict()) + "\n")
            stream.flush()
            done[record.case] = kept
    records = [done[case.name] for case in labelled]
    return _finish(found, target, settings["method"], job.classes, records, whole)


def job_for(
    found: Survey, target: Path, settings: Mapping[str, Any], fuser: CaseFuser | None = None
) -> tuple[CaseJob, FusionResult | None]:
    """Say how to fuse each case: with raters estimated from all of them where that is asked for.

    Args:
        found: the study, surveyed.
        target: folder for what is fused.
        settings: with `method`, `options`, `pooled` and `probability`.
        fuser: fuses a case when the method is none of this package's.

    Returns:
        The job, and what is known of the raters from all cases, if it is pooled.
    """
    dataset = found.dataset
    whole = _pooled_result(found, settings) if settings["pooled"] else None
    job = CaseJob(
        method=settings["method"],
        options=settings["options"],
        raters=dataset.raters,
        classes=classes_for_files(found),
        folder=target.resolve(),
        file_names=file_names(case.name for case in dataset),
        write_probability=settings["probability"],
        pooled=None if whole is None else _fit_of(whole, settings["options"]),
        fuser=fuser,
    )
    return job, whole


def _pooled_result(found: Survey, settings: Mapping[str, Any]) -> FusionResult:
    """Estimate the raters from the patterns of all cases; only decided ones are read again."""
    raters, names = found.dataset.raters, found.classes.names
    has_gold = any(case.gold is not None for case in found.dataset)
    cases = zip(found.dataset, found.cases, strict=True)
    parts = (_patterns(case, part, raters, has_gold) for case, part in cases if len(part.counts))
    # A pattern and how often it occurs say all that the methods use of an image.
    blocks = PatternBlocks.of(parts, len(raters), len(names), has_gold=has_gold)
    options = dict(settings["options"])
    if settings["method"] == "weighted-vote":
        options.setdefault("background", True)  # patterns have no more axes than class labels
        if options["background"] and len(blocks.blocks) > 1:
            return pooled_weighted_vote(blocks, raters, names)
    rows, counts = blocks.whole()
    if has_gold and (rows[:, -1] != MISSING).any():
        options["gold"] = rows[:, -1]
    return method_named(settings["method"])(
        rows[:, : len(raters)].T,
        len(names),
        raters=raters,
        classes=names,
        weights=counts,
        **options,
    )


def _patterns(
    case: Case, part: CaseSurvey, raters: Sequence[str], has_gold: bool
) -> tuple[NDArray[np.integer[Any]], NDArray[Any]]:
    """Return patterns (n_patterns, n_raters), and their counts; the gold label goes last."""
    gold = case.read_gold() if has_gold else None
    if gold is None:
        return np.pad(part.rows, ((0, 0), (0, has_gold)), constant_values=MISSING), part.counts
    labels = case.read_labels(raters).array
    patterns = encode_patterns([*labels, gold.array])
    return patterns.rows, patterns.counts


def _fit_of(whole: FusionResult, options: Mapping[str, Any]) -> PooledFit:
    return PooledFit(whole.cm, whole.prior, whole.weight, bool(options.get("disputed_only", False)))


def classes_for_files(found: Survey) -> Classes:
    """Write masks the way they came: 0 and 255, or 65535, stay so.

    Where some pixels were labelled by nobody, a value is declared that says so.
    """
    rules = {rule for case in found.cases for rule in case.rules}
    full = {value for rule in rules if (value := full_value(rule))}
    classes = found.classes
    if len(classes) == 2 and full:
        background, foreground = classes.items
        # The truth, which stays where it is, may be 0 and 1 though raters' masks are 0 and 255.
        first, *others = sorted(full)
        both = replace(foreground, value=first, other_values=(1, *others))
        classes = replace(classes, items=(replace(background, value=0), both))
    if classes.unlabelled is None and any(
        (case.rows == MISSING).all(1).any() for case in found.cases
    ):
        classes = with_unlabelled(classes)
    return classes


def with_unlabelled(classes: Classes) -> Classes:
    """Return classes that declare a value for *not labelled*, in files that cannot hold -1."""
    if classes.unlabelled is not None:
        return classes
    values = classes.by_value().keys() | classes.in_truth().by_value().keys()
    spare = next(value for value in range(255, -1, -1) if value not in values)
    return replace(classes, unlabelled=spare)


def read_progress(target: Path) -> dict[str, CaseRecord]:
    """Read the finished cases; a line cut off by an interruption does not count."""
    path = target / PROGRESS
    done: dict[str, CaseRecord] = {}
    if not path.exists():
        return done
    whole_lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in whole_lines if line.endswith(b"\n")]
    for line in kept:
        with reading(path, "progress of a fusion", fix="fuse again, with --overwrite"):
            record = CaseRecord.from_dict(json.loads(line))
            if _is_there(target, record):
                done[record.case] = record
    with replacing(path, overwrite=True) as temporary:
        temporary.write_bytes(b"".join(kept))
    return done


def _is_there(target: Path, record: CaseRecord) -> bool:
    """Whether the files of a case are: a machine that lost power may have kept its line alone."""
    sizes = [(target / name, size) for name, size in record.files.items()]
    return record.label in record.files and all(
        path.is_file() and path.stat().st_size == size for path, size in sizes
    )


def _require_unchanged(done: Mapping[str, CaseRecord], digests: Mapping[str, str]) -> None:
    """Refuse to go on where what was fused already has changed since."""
    changed = [name for name, record in done.items() if record.digest != digests.get(name)]
    if changed:
        labels = [
            name
            for name in changed
            if done[name].digest.partition(_AND)[0] != digests.get(name, "").partition(_AND)[0]
        ]
        what = "labels" if labels else "images"
        raise InputError(
            Fault(
                f"{what} of {listed(labels or changed, most=5)} have changed since they were fused",
                expected=f"the {what} that the fusion began with",
                fix="start again, without --resume",
            )
        )


_AND = "+"
"""Between the digests of labels and image, for methods that look at images."""


def _digest(case: CaseSurvey) -> str:
    return f"{case.digest}{_AND}{case.image_digest}" if case.image_digest else case.digest


def _finish(
    found: Survey,
    target: Path,
    method: str,
    classes: Classes,
    records: list[CaseRecord],
    whole: FusionResult | None,
) -> FusedDataset:
    dataset = found.dataset
    counts = np.array([record.counts for record in records])
    pooled = whole is not None
    decided = [case.gold is not None for case in dataset if case.labels]
    judged = judged_counts(counts, decided, pooled=pooled)
    raters = rater_table(judged, dataset.raters, classes.names)
    raters["labels"] = (counts.sum((2, 3)) > 0).sum(0)
    raters = with_quality(raters, quality_of_study(found))
    cases = pd.DataFrame(
        {
            "case": [record.case for record in records],
            "iterations": [record.n_iter for record in records],
            "converged": [record.converged for record in records],
            "ties": [record.n_ties for record in records],
            "warnings": [" | ".join(each.text for each in record.findings) for record in records],
        }
    ).set_index("case")
    of_cases = over_cases({record.case: record.findings for record in records})
    lonely = alone_findings(counts, decided, method, pooled=pooled)
    findings = (*lonely, *(of_cases if whole is None else whole.findings))
    alike = likeness_findings([record.alike for record in records], len(dataset.raters))
    # What the label is says more than whom it resembles.
    findings = (*alike, *(each for each in findings if not alike or each.code != FOLLOWS))
    by_name = {record.case: record for record in records}
    rows = [_row(case, by_name.get(case.name), method, target) for case in dataset]
    write_dataset_of(target, raters, cases, rows, classes)
    (target / PROGRESS).unlink(missing_ok=True)
    return FusedDataset(target, raters, cases, findings)


def _row(case: Case, record: CaseRecord | None, method: str, target: Path) -> Row:
    truth = cell_of(case.truth.paths, target) if case.truth is not None else ""
    return Row(
        case.name,
        _image_cell(case, target),
        method if record else "",
        record.label if record else "",
        truth,
        case.split,
        patient=case.patient,
        stray="" if case.truth is None else case.truth.stray,
        diagnosis=case.diagnosis,
    )


def _image_cell(case: Case, target: Path) -> str:
    return cell_of(case.image.paths, target) if case.image is not None else ""
