"""Verbs on data sets: info, agreement, simulate, convert, demo."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from multirater.cli.options import (
    ALL_CORES,
    Csv,
    Data,
    Exclude,
    Json,
    Output,
    Overwrite,
    Raters,
    Resamples,
    Seed,
    Split,
    Workers,
)
from multirater.cli.rater_rows import QUALITY, rater_rows
from multirater.cli.tables import print_facts, print_findings, print_json, print_table
from multirater.errors import Fault, InputError
from multirater.progress import say

if TYPE_CHECKING:
    import pandas as pd

    from multirater.types import Dataset

_MOST_ROWS = 40
"""Pairs of raters that are shown on a screen."""

_APART = {
    "masks": "one minus the mean Dice of every two raters",
    "classes": "share of pairs of raters who differ",
}

_SIZES = "Sizes: bias is a minus b, 95% of differences lie from lower to upper (Bland-Altman)"


def info(
    data: Data,
    raters: Raters = None,
    exclude: Exclude = None,
    json: Json = False,
    workers: Workers = ALL_CORES,
) -> None:
    """Show what is in a data set: cases, raters, who labelled what, and what is odd about it."""
    import multirater

    found = multirater.info(opened(data, raters=raters, exclude=exclude), workers=workers)
    if json:
        findings = [asdict(finding) for finding in found.findings]
        tables = {"raters": found.raters, "cases": found.cases}
        print_json({"summary": found.summary, "findings": findings, **tables})
        return
    print_facts(found.summary)
    print_findings(found.findings)
    if len(found.raters):
        print_table(rater_rows(found.raters), "Raters: cases labelled, and share of each class")
        if "quality" in found.raters:
            print(QUALITY)
    worst = found.cases.sort_values("disagreement", ascending=False).head(10)
    if worst["disagreement"].notna().any():
        print_table(
            worst, f"Cases with most disagreement: {_APART[str(found.summary['labels are'])]}"
        )


def agreement(
    data: Data,
    scale: Annotated[
        Literal["nominal", "ordinal", "interval"],
        typer.Option(help="How far apart classes are, for Krippendorff's alpha."),
    ] = "nominal",
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    resamples: Resamples = 200,
    raters: Raters = None,
    exclude: Exclude = None,
    split: Split = "",
    seed: Seed = 0,
    json: Json = False,
    csv: Csv = False,
    workers: Workers = ALL_CORES,
) -> None:
    """Show how far raters agree, per class and per two raters, with intervals."""
    import multirater

    found = multirater.agreement(
        opened(data, split, raters=raters, exclude=exclude),
        scale=scale,
        level=level,
        n_resamples=resamples,
        seed=seed,
        workers=workers,
    )
    if json:
        tables = {"groups": found.groups, "sizes": found.sizes}
        whole = {"level": found.level, "all": found.coefficients, "pairs": found.pairs, **tables}
        print_json(whole | {"notes": found.notes})
    elif csv:
        from multirater.io.tables.result_table import print_result_table

        print_result_table(found.coefficients, sys.stdout)
    else:
        print_table(found.coefficients, f"Agreement, with {level:.0%} intervals")
        print_table(found.pairs.head(_MOST_ROWS), "Every two raters")
        if len(found.groups):
            print_table(found.groups, "Within and between groups of raters (raters.csv)")
        if len(found.sizes):
            print_table(_shown_sizes(found.sizes), _SIZES)
        if max(len(found.pairs), len(found.sizes)) > _MOST_ROWS:
            say(f"note: the first {_MOST_ROWS} pairs are shown; --json has all")
        for note in found.notes:
            say(f"note: {note}")


def _shown_sizes(sizes: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of sizes that fit a screen, ends beside their numbers."""
    first = ["rater a", "rater b", "class", "cases", "mean a", "mean b", "bias"]
    return sizes[[*first, "bias_low", "bias_high", "lower", "upper", "unit"]].head(_MOST_ROWS)


def simulate(
    data: Data,
    output: Output,
    raters: Annotated[
        str, typer.Option(help="kind, kind:strength or kind:area:noise, separated by commas.")
    ] = "good,over,under,wrong,blank",
    supply: Annotated[
        Literal["dense", "one"], typer.Option(help="Every rater, or one per case.")
    ] = "dense",
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Replace the raters of a data set with known truth by simulated ones.

    For masks: good, over, under, wrong, blank; strength 1 errs as in Zhang 2020, 0 not at all.
    Coarse drawings: positive, negative, or coarse for both, such as coarse:0.3:1; area is the share
    drawn of what could be (0.01 is a scribble), noise (1) adds fractures and over-drawing.
    For class labels: pairwise-flipper, hammer-spammer, similar-classes, neighbouring-classes,
    adversarial; the strength is the share of right answers. cifar10: the four of Tanno 2019.
    """
    import multirater
    from multirater.simulate import simulate_dataset
    from multirater.simulate.simulated_dataset import parse_raters

    dataset = multirater.read_dataset(data)
    simulated = simulate_dataset(dataset, parse_raters(raters), supply=supply, seed=seed)
    print(multirater.write_dataset(simulated, output, overwrite=overwrite))


def convert(
    source: Annotated[Path, typer.Argument(help="A file, a DICOM series, or a data set.")],
    output: Output,
    format: Annotated[
        str, typer.Option("--format", help="Format of a data set's files, such as nii.gz.")
    ] = "",
    like: Annotated[
        Path | None, typer.Option(help="DICOM series a DICOM-SEG refers to.", show_default=False)
    ] = None,
    label: Annotated[
        bool, typer.Option("--label", help="A file is a label: its values are kept as stored.")
    ] = False,
    raters: Raters = None,
    exclude: Exclude = None,
    overwrite: Overwrite = False,
) -> None:
    """Convert an image, a label (DICOM-SEG too) or a whole data set to another format."""
    from multirater.verbs.convert import convert as run

    print(
        run(
            source,
            output,
            suffix=format or None,
            like=like,
            label=label,
            raters=raters,
            exclude=exclude,
            overwrite=overwrite,
        )
    )


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")] = Path("demo"),
    cases: Annotated[int, typer.Option(min=10, help="Digits to learn from.")] = 600,
    seed: Seed = 0,
) -> None:
    """Run the whole way on built-in digits with five simulated raters."""
    from multirater.demo import PAGE, run_demo

    for table, title in run_demo(output, n_cases=cases, seed=seed):
        print_table(table, title)
    print(
        "The raters' errors are nested (one draws larger than the next). STAPLE then follows the "
        "largest drawing,\nunless it learns from the disputed pixels only; see docs/fusion.md and "
        "docs/training.md."
    )
    print(f"Everything is in {output}; open {output / PAGE} in a browser to look at it.")


def opened(
    data: Path,
    split: str = "",
    *,
    raters: list[str] | None = None,
    exclude: list[str] | None = None,
    gold: Path | None = None,
) -> Dataset:
    """Open a data set, or one split of it, with all or some of its raters, and gold labels."""
    import multirater

    dataset = multirater.choose_raters(multirater.read_dataset(data), raters, exclude=exclude)
    if gold is not None:
        dataset = multirater.with_gold(dataset, gold)
    if not split:
        return dataset
    known = sorted({case.split for case in dataset if case.split})
    if split not in known:
        raise InputError(
            Fault(f"no case in split {split!r}", expected=", ".join(known) or "a column `split`")
        )
    return dataset.split(split)


VERBS = (info, agreement, simulate, convert, demo)
