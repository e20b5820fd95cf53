"""What is in a data set: cases, raters, who labelled what, disagreement, and what is odd."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from multirater.dataset_disagreement import disagreements
from multirater.fuse.quality import COLUMNS as QUALITY
from multirater.fusion.study_quality import quality_of_study
from multirater.io.formats.grid import is_default
from multirater.io.survey import Survey, survey
from multirater.sanity import study_findings
from multirater.sanity.facts import class_counts
from multirater.trust import Finding
from multirater.types import Dataset, Geometry


@dataclass(frozen=True, eq=False)
class Info:
    """A description of a data set.

    Attributes:
        summary: single facts by name.
        raters: one row per rater: what `raters.csv` says, cases labelled, quality with interval
            and rank (see `fuse.quality`), and the share of each class in what they drew.
        cases: one row per case: size, raters, and how far these are apart (`disagreements`).
        findings: what is odd about the study, gravest first, see `sanity`.
    """

    summary: dict[str, object]
    raters: pd.DataFrame
    cases: pd.DataFrame
    findings: tuple[Finding, ...] = ()


def info(dataset: Dataset | Survey, *, workers: int = 1) -> Info:
    """Describe a data set; every fault in it is reported on the way.

    Args:
        dataset: as opened by `read_dataset`, or its survey when there is one already.
        workers: number of processes that read.

    Raises:
        InputError: with the faults of all cases.
    """
    found = survey(dataset, workers=workers) if isinstance(dataset, Dataset) else dataset
    cases = _cases(found)
    return Info(_summary(found, cases), _raters(found), cases, study_findings(found))


def study_quality(found: Survey, *, seed: int = 0) -> pd.DataFrame:
    """Return the quality of each rater (`fuse.quality`); nothing with fewer than two of them."""
    if len(found.dataset.raters) < 2 or not any(len(case.counts) for case in found.cases):
        return pd.DataFrame()
    return quality_of_study(found, seed=seed)


def _cases(found: Survey) -> pd.DataFrame:
    rows = [
        {
            "case": case.name,
            "split": source.split,
            "size": " x ".join(map(str, case.space)),
            "channels": case.n_channels,
            "raters": len(source.labels),
            "truth": source.truth is not None,
            "disagreement": apart,
        }
        for case, source, apart in zip(
            found.cases, found.dataset, disagreements(found).tolist(), strict=True
        )
    ]
    return pd.DataFrame(rows).set_index("case")


_COLUMNS = ("rater", "cases", *QUALITY)
"""Of the table of raters; classes that are called so stand there in quotation marks."""


def _raters(found: Survey) -> pd.DataFrame:
    names = found.classes.names
    labelled = Counter(rater for case in found.dataset for rater in case.labels)
    pixels = sum((class_counts(case, len(names)) for case in found.cases), np.zeros((1, 1)))
    about = list(dict.fromkeys(name for said in found.dataset.rater_info.values() for name in said))
    shown = [f'"{name}"' if name in _COLUMNS else name for name in names]
    about = [name for name in about if name not in (*_COLUMNS, *shown)]
    rows = []
    for number, rater in enumerate(found.dataset.raters):
        total = pixels[number].sum()
        share = pixels[number] / total if total else np.full(len(names), np.nan)
        said = found.dataset.rater_info.get(rater, {})
        row = {"rater": rater, **{name: said.get(name, "") for name in about}}
        rows.append(row | {"cases": labelled[rater], **dict(zip(shown, share, strict=True))})
    columns = ["rater", *about, "cases", *shown]
    table = pd.DataFrame(rows, columns=columns).set_index("rater")
    quality = study_quality(found)
    for place, name in enumerate(quality):
        table.insert(len(about) + 1 + place, name, quality[name])
    return table


def _summary(found: Survey, cases: pd.DataFrame) -> dict[str, object]:
    geometries = [case.geometry for case in found.cases if case.geometry is not None]
    per_case = cases["raters"]
    return {
        "labels are": found.dataset.kind,
        "cases": len(cases),
        "cases without label": int((per_case == 0).sum()),
        "cases with truth": int(cases["truth"].sum()),
        "raters": len(found.dataset.raters),
        "labels": int(per_case.sum()),
        "raters per case": f"{per_case.min()} to {per_case.max()}, mean {per_case.mean():.2f}",
        "splits": _listed(Counter(split for split in cases["split"] if split)),
        "sizes": _listed(Counter(cases["size"])),
        "spacing": _listed(Counter(map(_spacing, geometries))),
        "channels": _listed(Counter(map(str, cases["channels"]))),
        **_drawings(found.dataset),
        "classes": ", ".join(found.classes.names),
        "label files hold": _listed(Counter(rule for case in found.cases for rule in case.rules)),
        "mean disagreement": float(cases["disagreement"].mean()),
    }


def _drawings(dataset: Dataset) -> dict[str, object]:
    """Count coarse drawings, which are no labels and enter none of the other facts."""
    drawings = [drawing for case in dataset for drawing in case.drawings]
    if not drawings:
        return {}
    kinds = Counter[str](drawing.kind for drawing in drawings)
    drawers = Counter(drawing.rater for drawing in drawings)
    return {"coarse drawings": _listed(kinds), "drawn by": _listed(drawers)}


def _listed(counts: Counter[str], most: int = 4) -> str:
    shown = [f"{value} ({count})" for value, count in counts.most_common(most) if value]
    rest = len(counts) - most
    return ", ".join(shown) + (f", and {rest} more" if rest > 0 else "") or "-"


def _spacing(geometry: Geometry) -> str:
    """Say the distance of pixels: in pixels where the files tell no millimetres."""
    if not geometry.spacing:
        return ""
    unit = "px" if is_default(geometry) else "mm"
    return f"{' x '.join(f'{value:.4g}' for value in geometry.spacing)} {unit}"
