"""The verbs train and predict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multirater.cli.data import opened
from multirater.cli.options import Exclude, Gold, Output, Overwrite, Raters, Split, TrustCode
from multirater.cli.planning import Memory
from multirater.cli.settings import settings_of, with_settings
from multirater.errors import Fault, InputError
from multirater.training.config import SCHEDULE

if TYPE_CHECKING:
    from multirater.training import TrainConfig
    from multirater.types import Dataset


def train(
    context: typer.Context,
    data: Annotated[Path, typer.Argument(help="Data set: a folder or its manifest.csv.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Run folder to make.", show_default=False)
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", help="Run folder to go on with.", show_default=False),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", help="Plan to follow; made for the data set if not given.", show_default=False
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="Settings of Zhang 2020 for mnist, ms-lesion, brats or lidc (mnist-printed and so "
            "on: as printed), or of Tanno 2019 for tanno-mnist, tanno-cifar10 or tanno-cardiac, "
            "where no option says otherwise.",
            show_default=False,
        ),
    ] = "",
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            max=1000,
            help="Train with so many seeds, and say how far the result depends on it.",
            rich_help_panel=SCHEDULE,
        ),
    ] = 1,
    raters: Raters = None,
    exclude: Exclude = None,
    gold: Gold = None,
    trust_code: TrustCode = False,
    **settings: Any,
) -> None:
    """Train a network on images with disagreeing labels; no truth is needed.

    What the options leave open is planned for the study: see `multirater plan`. The best epoch is
    chosen by the likelihood of held-out raters' labels. Killed at any moment, a run goes on with
    --resume RUN.
    """
    if resume is not None:
        _require_run(resume)
    from multirater.training import TrainConfig
    from multirater.training import resume as go_on
    from multirater.training import train as begin

    dataset = opened(data, raters=raters, exclude=exclude, gold=gold)
    if (output is None) == (resume is None):
        raise InputError(Fault("either -o RUN or --resume RUN is needed", expected="one of them"))
    if resume is not None:
        if seeds > 1:
            fix = "resume the run of each seed by itself: RUN, RUN/seeds/1, ..."
            raise InputError(Fault("--seeds goes with -o RUN, not with --resume", fix=fix))
        _require_same_settings(resume, settings_of(settings), plan, preset, context)
        run = go_on(dataset, resume, trust_code=trust_code)
    else:
        given = settings_of(settings) | (_preset(preset, context) if preset else {})
        config = TrainConfig(**given)
        assert output is not None
        planned = _plan(plan, config, preset)
        if seeds > 1:
            from multirater.training.seeds import train_seeds

            run = train_seeds(dataset, output, config, n_seeds=seeds, **planned)
        else:
            run = begin(dataset, output, config, **planned)
    print(run.folder)


train.__signature__ = with_settings(train)  # type: ignore[attr-defined]


def _require_same_settings(
    run: Path,
    settings: dict[str, Any],
    plan: Path | None,
    preset: str,
    context: typer.Context,
) -> None:
    """Refuse options that say otherwise than the run that goes on; memory is this machine's."""
    from multirater.training.run_folder import read_config

    kept = read_config(run)
    faults = [
        Fault(
            f"{name} = {value} beside --resume",
            expected=f"{getattr(kept, name)}, as the run was begun with, or nothing",
            fix="leave the option out, or train anew with -o",
        )
        for name, value in settings.items()
        if name != "memory" and _is_given(context, name) and value != getattr(kept, name)
    ]
    faults += [
        Fault(f"--{name} beside --resume", expected="the settings of the run", fix="leave it out")
        for name, value in (("plan", plan), ("preset", preset))
        if value
    ]
    if faults:
        raise InputError(faults)


def _is_given(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _plan(file: Path | None, config: TrainConfig, preset: str) -> dict[str, Any]:
    """Return the plan to follow, where one is needed beside what `train` does by itself.

    On the command line --epochs is one wish among others, and not a recipe of one's own as it is in
    settings that are written in Python; a preset is.
    """
    from multirater.training.plan_files import read_plan

    if file is not None:
        return {"plan": read_plan(file)}
    return {} if config.epochs is None or preset else {"plan": "made"}


def _preset(name: str, context: typer.Context) -> dict[str, Any]:
    """Return the settings of a preset that were not given as options."""
    from multirater.progress import say
    from multirater.training.presets import PRINTED, preset

    if name.endswith(PRINTED):
        say(
            f"note: {name} has the trace weight as printed, with which the truth was lost on 120 "
            f"digits (Dice 0.000); {name.removesuffix(PRINTED)} has one that holds"
        )

    return {key: value for key, value in preset(name).items() if not _is_given(context, key)}


def predict(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    data: Annotated[Path, typer.Argument(help="Data set, a folder of images, or one image.")],
    output: Output,
    split: Split = "",
    probability: Annotated[
        bool, typer.Option("--probability", help="Also class probabilities and entropy.")
    ] = False,
    raters: Annotated[
        bool, typer.Option("--raters", help="Also what each rater would draw.")
    ] = False,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Also confusion matrix maps.")
    ] = False,
    recurrences: Annotated[
        bool, typer.Option("--recurrences", help="Also what prism says after each recurrence.")
    ] = False,
    confidence: Annotated[
        list[str] | None,
        typer.Option(
            help="Confidence in a rater, 0 to 1, as name=value; may be repeated (prism, mrnet).",
            show_default=False,
        ),
    ] = None,
    tta: Annotated[
        bool, typer.Option("--tta", help="Average over mirrored copies: slower, a bit better.")
    ] = False,
    memory: Memory = "",
    trust_code: TrustCode = False,
    overwrite: Overwrite = False,
) -> None:
    """Segment or classify images with a trained network."""
    _require_run(run)
    dataset = _images(data, split, run)
    from multirater.training.budget import memory_bytes
    from multirater.training.prediction import predict as run_prediction

    print(
        run_prediction(
            run,
            dataset,
            output,
            probability=probability,
            raters=raters,
            confusion=confusion,
            recurrences=recurrences,
            confidences=_confidences(confidence or []),
            tta=tta,
            memory=memory_bytes(memory) if memory else None,
            trust_code=trust_code,
            overwrite=overwrite,
        )
    )


def _require_run(folder: Path) -> None:
    """Refuse what is no run at once: importing torch takes seconds."""
    from multirater.training.run_path import require_run

    require_run(folder)


def _confidences(pairs: list[str]) -> dict[str, float]:
    """Read `rater=number` pairs."""
    found: dict[str, float] = {}
    for pair in pairs:
        name, _, value = pair.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError(
                Fault(f"--confidence {pair}", expected="a rater and a number: name=0.8")
            ) from None
    return found


def _images(path: Path, split: str, run: Path) -> Dataset:
    """Open a data set, or images without any table."""
    import multirater
    from multirater.io.folders import loose_rows
    from multirater.io.formats.images import suffix_of
    from multirater.io.tables.manifest import FILE_NAME, Row

    is_table = path.suffix == ".csv" or (path / FILE_NAME).is_file() or (path / "images").is_dir()
    if is_table or not path.exists():
        return opened(path, split)
    import pandas as pd

    if not path.is_dir():
        rows = [Row(path.name[: -len(suffix_of(path)) or None], path.name)]
    else:
        fix = "mend or remove the link"
        faults = [
            Fault("is a link that leads to nothing", fix=fix, file=str(file))
            for file in sorted(path.iterdir())
            if file.is_symlink() and not file.exists()
        ]
        rows = loose_rows(path, faults, of_volumes=_learned_volumes(run))
        if faults:
            raise InputError(faults)
    if not rows:
        raise InputError(Fault("holds no image", file=str(path)))
    table = pd.DataFrame([{"case": row.case, "image": row.image} for row in rows])
    return multirater.read_dataset(table, root=path if path.is_dir() else path.parent)


def _learned_volumes(run: Path) -> bool:
    """Whether the images of a run were volumes; without torch, which takes seconds to import."""
    from multirater.io.results.layout import CONFIG, DATA
    from multirater.io.results.statements import read_json

    if not (run / DATA).is_file() or not (run / CONFIG).is_file():
        return False  # which is told when the run is opened
    data, config = read_json(run / DATA), read_json(run / CONFIG)
    space = data.get("space")
    has_depth = data.get("ndim") == 3 or (isinstance(space, list) and len(space) == 3)
    return has_depth or config.get("view") == "slices"


VERBS = (train, predict)
