"""Write a report: one page in one file, or a folder with every case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.io.case_files import folders_of
from multirater.io.new_folder import new_folder
from multirater.progress import track
from multirater.report.case_data import make_encoder
from multirater.report.contents import Contents, gather_subject
from multirater.report.page import CaseSource, Page
from multirater.report.selection import MOST_CASES, choose_cases
from multirater.report.subject import read_subject

MOST_BYTES = 34_000_000
"""What the cases of a page in one file may take, so that the whole stays below 40 MB."""

_BYTES_OF_A_CASE_FILE = 4_000_000


def write_report(
    paths: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    cases: int | Literal["all"] = MOST_CASES,
    figures: str | Path | None = None,
    raters: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    gold: str | Path | None = None,
    seed: int = 0,
    workers: int = 1,
    overwrite: bool = False,
) -> Path:
    """Write a page that shows who errs where, and whether the result can be trusted.

    Args:
        paths: a data set, a table of answers, a fusion, a run or predictions; or several that
            belong together, such as a data set and what was made of it.
        output: the page, a file that ends in `.html`.
        cases: how many cases the page holds at most; `all` makes a folder of the same name without
            `.html`, with the page in `index.html` and every case in a file of its own.
        figures: folder for figures of a paper, as PNG and SVG; none when not given.
        raters: whom to report on, as in `choose_raters`; everybody when not given.
        exclude: whom to leave out.
        gold: labels that stand (`with_gold`): raters are measured against them where they are.
        seed: of the draws behind intervals.
        workers: number of processes that read.
        overwrite: replace an earlier report.

    Returns:
        The path of the page.

    Raises:
        InputError: with every fault of the data set, or because the page cannot be written.

    Example:
        >>> import tempfile, multirater
        >>> folder = Path(tempfile.mkdtemp())
        >>> digits = multirater.samples.digits_dataset(n_train=3, n_test=0)
        >>> raters = multirater.simulate.simulate_dataset(digits, seed=0)
        >>> _ = multirater.write_dataset(raters, folder / "study")
        >>> write_report(folder / "study", folder / "report.html").name
        'report.html'
    """
    target = Path(output)
    if cases == "all":
        target = target.with_suffix("") / "index.html"
    _require_writable(target, cases, overwrite)
    if figures is not None:
        # Before anything is looked at: figures need an extra.
        from multirater.report.figures.writing import require_apart, write_figures
    subject = read_subject(_as_list(paths))
    if figures is not None:
        require_apart(Path(figures), subject)
    contents = gather_subject(
        subject, raters=raters, exclude=exclude, gold=gold, seed=seed, workers=workers
    )
    if figures is not None:
        write_figures(contents, figures, overwrite=overwrite)
    page = make_page(contents, cases=cases)
    if page.source == "folder":
        inputs = [*map(Path, _as_list(paths)), *folders_of(contents.subject.dataset)]
        with new_folder(target.parent, overwrite=overwrite, inputs=inputs) as part:
            _write_case_files(page, part / "cases")
            _write_page(page, part / target.name, overwrite=False)
    else:
        _write_page(page, target, overwrite=overwrite)
    return target


def make_page(contents: Contents, *, cases: int | Literal["all"]) -> Page:
    """Choose the cases of a page and what each of them may take.

    Args:
        contents: what it says.
        cases: how many at most, held by the page itself; or `all`, each in a file of its own.
    """
    source: CaseSource = "folder" if cases == "all" else "inline"
    wanted = [case for mistakes in contents.mistakes for case in mistakes]
    most = None if cases == "all" else cases
    chosen, sampled = choose_cases(contents.order, list(dict.fromkeys(wanted)), most)
    room = MOST_BYTES // max(len(chosen), 1) if source == "inline" else _BYTES_OF_A_CASE_FILE
    encoder = make_encoder(
        contents.subject, contents.classes, contents.reference, contents.opened, room
    )
    return Page(contents, encoder, chosen, sampled, source)


def _write_page(page: Page, target: Path, *, overwrite: bool) -> None:
    total = 2 + (len(page.chosen) if page.source == "inline" else 0)
    with (
        replacing(target, overwrite=overwrite) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as stream,
    ):
        for piece in track(page.pieces(), "writing the page", total):
            stream.write(piece)


def _write_case_files(page: Page, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for place in track(range(len(page.chosen)), "writing cases", len(page.chosen)):
        with replacing(folder / f"{place}.js", overwrite=True) as temporary:
            temporary.write_text(page.case_script(place), encoding="utf-8")


def _require_writable(target: Path, cases: int | Literal["all"], overwrite: bool) -> None:
    """Refuse before the work rather than after it."""
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            Fault(
                f"a report cannot be written as {target.suffix or 'a file without suffix'}",
                expected="a file that ends in .html",
                fix="use -o report.html",
                file=str(target),
            )
        )
    if cases != "all" and cases < 1:
        raise InputError(Fault(f"--cases {cases}", expected="a number above 0, or all"))
    if cases == "all" and not target.exists() and _is_in_use(target.parent):
        raise InputError(
            Fault(
                "exists and is no report, so it is not replaced",
                expected="a folder for the page and its cases, named after the page",
                fix="choose another name for the page",
                file=str(target.parent),
            )
        )
    if target.exists() and not overwrite:
        raise InputError(
            Fault(
                "already exists", fix="choose another name, or pass --overwrite", file=str(target)
            )
        )


def _is_in_use(folder: Path) -> bool:
    return folder.exists() and (not folder.is_dir() or any(folder.iterdir()))


def _as_list(paths: str | Path | Sequence[str | Path]) -> list[str | Path]:
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise InputError(Fault("nothing to report on", expected="at least one path"))
    return given
