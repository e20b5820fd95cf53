"""The verb fuse."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from multirater.cli.data import opened
from multirater.cli.options import (
    ALL_CORES,
    Exclude,
    Gold,
    Json,
    Output,
    Overwrite,
    Raters,
    TrustCode,
    Workers,
)
from multirater.cli.rater_rows import QUALITY, rater_rows
from multirater.cli.tables import print_json, print_table
from multirater.errors import Fault, InputError

_REST = (
    "The rest is against the fused label, as the method estimates it;\n"
    "size: what was drawn over what was fused, above 1 is more."
)


def fuse(
    data: Annotated[
        Path,
        typer.Argument(
            help="Data set, or a table of answers (task, rater, label) as CSV or Parquet."
        ),
    ],
    output: Output,
    method: Annotated[
        str,
        typer.Option(
            help="Such as majority-vote, weighted-vote, staple, dawid-skene, or learned (with "
            "--run); another name lists all.",
            show_default="what fits the labels; it is said which and why",
        ),
    ] = "",
    pooled: Annotated[
        bool, typer.Option("--pooled", help="One confusion matrix per rater over all cases.")
    ] = False,
    probability: Annotated[
        bool, typer.Option("--probability", help="Also write class probabilities.")
    ] = False,
    run: Annotated[
        Path | None,
        typer.Option(help="Run folder of a trained network, for learned.", show_default=False),
    ] = None,
    window: Annotated[
        float | None,
        typer.Option(help="Window of spatial-staple in millimetres.", show_default=False),
    ] = None,
    prior: Annotated[
        str,
        typer.Option(
            help="Of EM methods: frequency, estimated, or P(foreground); of learned: network or "
            "uniform."
        ),
    ] = "",
    disputed_only: Annotated[
        bool, typer.Option("--disputed-only", help="staple: learn from disputed pixels only.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Another option of the method, as name=value; may be repeated.",
            show_default=False,
        ),
    ] = None,
    raters: Raters = None,
    exclude: Exclude = None,
    gold: Gold = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a stopped run.")] = False,
    scheduler: Annotated[
        str, typer.Option(help="Address of a Dask scheduler to run on.", show_default=False)
    ] = "",
    workers: Workers = ALL_CORES,
    overwrite: Overwrite = False,
    trust_code: TrustCode = False,
    json: Json = False,
) -> None:
    """Fuse the labels of every case into one, and describe each rater."""
    from multirater.fusion.answer_table import fuse_table, is_answer_table
    from multirater.fusion.fused_dataset import fuse_dataset
    from multirater.progress import say
    from multirater.trust import findings_as_json

    options: dict[str, Any] = {}
    if window is not None:
        options["window"] = window
    if prior:
        options["prior"] = _prior(prior)
    if disputed_only:
        options["disputed_only"] = True
    if settings:
        options |= _options(method, settings)
    if (method == "learned") != (run is not None):
        raise InputError(Fault("--method learned and --run RUN belong together"))
    if run is not None:
        from multirater.training.run_path import require_run

        require_run(run)  # before torch is imported, as is the study
        dataset = opened(data, raters=raters, exclude=exclude, gold=gold)
        from multirater.training.posterior import fuse_by_network

        done = fuse_by_network(
            run,
            dataset,
            output,
            probability=probability,
            resume=resume,
            overwrite=overwrite,
            trust_code=trust_code,
            options=options,
        )
    elif is_answer_table(data):
        _require_unset({"--resume": resume, "--pooled": pooled, "--probability": probability})
        done = fuse_table(
            data,
            output,
            method=method or None,
            options=options,
            raters=raters,
            exclude=exclude,
            workers=workers,
            scheduler=scheduler or None,
            gold=gold,
            overwrite=overwrite,
        )
    else:
        done = fuse_dataset(
            opened(data, raters=raters, exclude=exclude, gold=gold),
            output,
            method=method or None,
            pooled=pooled,
            probability=probability,
            options=options,
            workers=workers,
            scheduler=scheduler or None,
            resume=resume,
            overwrite=overwrite,
        )
    if done.why:
        say(f"method {done.method}: {done.why}")
    for message in done.messages:
        say(f"note: {message}")
    if json:
        content = {"folder": str(done.folder), "method": done.method, "why": done.why}
        found = {"findings": findings_as_json(done.findings), "notes": done.messages}
        print_json({**content, "raters": done.raters, **found})
        return
    print_table(rater_rows(done.raters), f"Raters by {done.method}, with 95% intervals")
    print(f"{QUALITY} {_REST}")
    print(done.folder)


def _require_unset(options: Mapping[str, bool]) -> None:
    """Refuse what a table of answers has no use for."""
    given = [name for name, is_given in options.items() if is_given]
    if given:
        raise InputError(
            Fault(
                f"{' and '.join(given)} with a table of answers",
                expected="a data set for these; a table is fused at once, by matrices over all "
                "tasks, and cases.csv has the probabilities",
                fix="leave them out",
            )
        )


def _options(method: str, pairs: list[str]) -> dict[str, Any]:
    from multirater.fuse.methods import options_from_text
    from multirater.training.options import given_options

    if not method:
        raise InputError(Fault("--set is for options of a method", fix="name it: --method"))
    if method == "learned":  # which options it has is known where torch is
        return dict(given_options(pairs))
    return options_from_text(method, given_options(pairs))


def _prior(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


VERBS = (fuse,)
