"""All figures of a data set, a fusion, a run or predictions, as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.case_files import folders_of
from multirater.io.own_files import is_listed
from multirater.io.tables.manifest import FILE_NAME as MANIFEST
from multirater.report.contents import Contents, gather
from multirater.report.figures.choice import figures_of
from multirater.report.figures.files import write_figure
from multirater.report.subject import Subject


def write_figures(
    source: Contents | str | Path | Sequence[str | Path],
    folder: str | Path,
    *,
    cases: int | Sequence[str] = 3,
    overwrite: bool = False,
) -> list[Path]:
    """Write every figure that can be made of one or more paths, as PNG (300 dpi) and SVG.

    | file | what | needs |
    | --- | --- | --- |
    | `drawings` | cases with each rater's drawing, estimates, truth | masks |
    | `uncertainty` | estimate, probability, entropy, disagreement | masks |
    | `agreement` | every two raters | two raters |
    | `confusion-matrices`, `quality` | each rater against a reference | truth, or two raters |
    | the same with `-<result>` | as a fusion or a network sees them | its `raters.csv` |
    | `confusion-maps-<case>` | where each rater errs | `multirater predict --raters --confusion` |
    | `consensus-<result>` | predicted against real | `multirater predict --raters`, labels |
    | `consensus-groups` | Dice by consensus and method | results, labels |
    | `curves-<run>` | training | a run |

    Args:
        source: data set, fusion, run or predictions, or several of them, as for `write_report`; or
            what a report on them says, gathered already.
        folder: where the files go.
        cases: names of the cases to show, or how many: those with the most disagreement.
        overwrite: whether existing files may be replaced.

    Returns:
        The files, PNG and SVG of each figure.

    Raises:
        InputError: nothing to draw, unknown cases, existing files, or faults of the data.

    Example:
        write_figures(["study", "fused", "predicted"], "figures")
    """
    contents = source if isinstance(source, Contents) else _gathered(source)
    require_apart(Path(folder), contents.subject)
    written = []
    for stem, figure in figures_of(contents, cases):
        written += write_figure(figure, Path(folder), stem, overwrite=overwrite)
    if not written:
        raise InputError(
            Fault("nothing to draw", expected="labels of raters, a fusion, a run or predictions")
        )
    return written


def require_apart(folder: Path, subject: Subject) -> None:
    """Refuse to put figures among files that are read, or into any study or result.

    Args:
        folder: for the figures.
        subject: what they show.

    Raises:
        InputError: before anything is written.
    """
    read = [subject.dataset, *(each.dataset for each in subject.results)]
    places = {place.resolve() for dataset in read for place in folders_of(dataset)}
    places |= {run.folder.resolve() for run in subject.runs}
    if folder.resolve() in places or (folder / MANIFEST).exists() or is_listed(folder):
        raise InputError(
            Fault(
                "holds a data set or a result, so no figures are written there",
                expected="a folder for figures alone",
                fix="choose another folder, such as figures",
                file=str(folder),
            )
        )


def _gathered(source: str | Path | Sequence[str | Path]) -> Contents:
    return gather([source] if isinstance(source, str | Path) else source)
