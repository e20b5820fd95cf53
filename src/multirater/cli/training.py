"""The verbs train and predict."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from multirater.cli.data import opened
from multirater.cli.options import Exclude, Output, Raters, Seed, Split, TrustCode
from multirater.cli.planning import Memory
from multirater.errors import Fault, InputError

if TYPE_CHECKING:
    from multirater.training import Plan, TrainConfig
    from multirater.types import Dataset

_PLANNED = "planned for the study"
_NETWORK, _RATERS, _SCHEDULE, _MACHINE = "Network", "Raters", "Schedule", "Machine"


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
            help="Settings of Zhang 2020 for mnist, ms-lesion, brats or lidc, or of Tanno 2019 for "
            "tanno-mnist, tanno-cifar10 or tanno-cardiac, where no option says otherwise.",
            show_default=False,
        ),
    ] = "",
    method: Annotated[
        str,
        typer.Option(
            help="auto, cm, mean, wdn, crowd-layer, agg-net, max-mig or truth. For drawings also "
            "mode, staple, spatial-staple, separate, prob-unet, prism, mrnet, luw, label-sampling, "
            "oracle; for class labels gem, mbem, majority, dawid-skene, single-cm, soft-bootstrap; "
            "for coarse drawings coarse, partial, positive-only, grabcut, random-walker, boxes."
        ),
    ] = "auto",
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Option of the method, as name=value; may be repeated.",
            show_default=False,
        ),
    ] = None,
    confusion: Annotated[
        Literal["pixel", "global", "low-rank"] | None,
        typer.Option(
            help="Form of the confusion matrices.",
            rich_help_panel=_RATERS,
            show_default="pixel; global for class labels",
        ),
    ] = None,
    rank: Annotated[
        int, typer.Option(min=1, help="Of low-rank matrices.", rich_help_panel=_RATERS)
    ] = 1,
    trace_weight: Annotated[
        float, typer.Option(min=0, help="Of the trace penalty.", rich_help_panel=_RATERS)
    ] = 0.01,
    likelihood: Annotated[
        Literal["marginal", "joint"] | None,
        typer.Option(
            help="One truth per rater, or shared.",
            rich_help_panel=_RATERS,
            show_default="marginal; joint for class labels",
        ),
    ] = None,
    warmup_epochs: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="With matrices fixed.",
            rich_help_panel=_RATERS,
            show_default="1; 0 for class labels",
        ),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(
            help="unet, or a MONAI network, such as SegResNet; for class labels auto, mlp, cnn, "
            "cnn-128, or resnet10 to resnet200.",
            rich_help_panel=_NETWORK,
            show_default="unet; auto for class labels",
        ),
    ] = None,
    backbone_options: Annotated[
        str, typer.Option(help="Its further arguments, as JSON.", rich_help_panel=_NETWORK)
    ] = "{}",
    channels: Annotated[
        str,
        typer.Option(
            help="Per stage of the U-Net, such as 32,64,128.",
            rich_help_panel=_NETWORK,
            show_default=_PLANNED,
        ),
    ] = "",
    n_features: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Channels that the heads see.",
            rich_help_panel=_NETWORK,
            show_default=_PLANNED,
        ),
    ] = None,
    view: Annotated[
        Literal["auto", "2d", "slices", "3d"],
        typer.Option(help="Of volumes: slices or 3d patches.", rich_help_panel=_NETWORK),
    ] = "auto",
    patch: Annotated[
        str,
        typer.Option(
            help="Size of patches, such as 96,96.",
            rich_help_panel=_NETWORK,
            show_default=_PLANNED,
        ),
    ] = "",
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Passes over the cases, instead of a number of steps.",
            rich_help_panel=_SCHEDULE,
            show_default=_PLANNED,
        ),
    ] = None,
    time: Annotated[
        str,
        typer.Option(
            help="Fit the schedule into a time, such as 20m.",
            rich_help_panel=_SCHEDULE,
            show_default=False,
        ),
    ] = "",
    folds: Annotated[
        int,
        typer.Option(
            min=1,
            help="Networks to train, each with another part of the cases held out.",
            rich_help_panel=_SCHEDULE,
        ),
    ] = 1,
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            help="Train with so many seeds, and say how far the result depends on it.",
            rich_help_panel=_SCHEDULE,
        ),
    ] = 1,
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, rich_help_panel=_SCHEDULE, show_default=_PLANNED),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(rich_help_panel=_SCHEDULE, show_default="0.003; 0.001 for class labels"),
    ] = None,
    confusion_learning_rate: Annotated[
        float | None,
        typer.Option(
            help="Of the confusion matrices.",
            rich_help_panel=_SCHEDULE,
            show_default="0.003; 0.03 for class labels",
        ),
    ] = None,
    augment: Annotated[
        bool | None,
        typer.Option(
            "--augment/--no-augment",
            help="Turn, scale, mirror, blur and more, at random.",
            rich_help_panel=_SCHEDULE,
            show_default="on for drawings, off for class labels",
        ),
    ] = None,
    mirror: Annotated[
        bool,
        typer.Option(
            "--mirror/--no-mirror",
            help="Off for anatomy that has sides.",
            rich_help_panel=_SCHEDULE,
        ),
    ] = True,
    class_weights: Annotated[
        Literal["none", "balanced"], typer.Option(rich_help_panel=_SCHEDULE)
    ] = "none",
    validation: Annotated[
        float, typer.Option(help="Share of cases held out.", rich_help_panel=_SCHEDULE)
    ] = 0.15,
    patience: Annotated[
        int, typer.Option(help="Epochs without gain before stopping.", rich_help_panel=_SCHEDULE)
    ] = 0,
    precision: Annotated[
        str, typer.Option(help="32-true, 16-mixed, bf16-mixed.", rich_help_panel=_MACHINE)
    ] = "32-true",
    accelerator: Annotated[str, typer.Option(rich_help_panel=_MACHINE)] = "auto",
    devices: Annotated[int, typer.Option(min=1, rich_help_panel=_MACHINE)] = 1,
    nodes: Annotated[int, typer.Option(min=1, rich_help_panel=_MACHINE)] = 1,
    workers: Annotated[
        int, typer.Option(min=0, help="Processes that read.", rich_help_panel=_MACHINE)
    ] = 0,
    raters: Raters = None,
    exclude: Exclude = None,
    memory: Memory = "",
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, rich_help_panel=_MACHINE, show_default="as many as help, by a measured step"
        ),
    ] = None,
    seed: Seed = 0,
    trust_code: TrustCode = False,
) -> None:
    """Train a network on images with disagreeing labels; no truth is needed.

    What the options leave open is planned for the study: see `multirater plan`. The best epoch is
    chosen by the likelihood of held-out raters' labels. Killed at any moment, a run goes on with
    --resume RUN.
    """
    from multirater.training import TrainConfig
    from multirater.training import resume as go_on
    from multirater.training import train as begin
    from multirater.training.budget import memory_bytes, seconds
    from multirater.training.options import given_options

    dataset = opened(data, raters=raters, exclude=exclude)
    if (output is None) == (resume is None):
        raise InputError(Fault("either -o RUN or --resume RUN is needed", expected="one of them"))
    if resume is not None:
        if seeds > 1:
            fix = "resume the run of each seed by itself: RUN, RUN/seeds/1, ..."
            raise InputError(Fault("--seeds goes with -o RUN, not with --resume", fix=fix))
        run = go_on(dataset, resume, trust_code=trust_code)
    else:
        settings: dict[str, Any] = {
            "method": method,
            "options": given_options(options or []),
            "confusion": confusion,
            "rank": rank,
            "trace_weight": trace_weight,
            "likelihood": likelihood,
            "warmup_epochs": warmup_epochs,
            "backbone": backbone,
            "backbone_options": _json(backbone_options),
            "channels": _numbers(channels, "--channels") or None,
            "n_features": n_features,
            "view": view,
            "patch": _numbers(patch, "--patch") or None,
            "epochs": epochs,
            "batch_size": batch_size,
            "learning_rate": learning_rate,
            "confusion_learning_rate": confusion_learning_rate,
            "augment": augment,
            "mirror": mirror,
            "folds": folds,
            "class_weights": class_weights,
            "validation": validation,
            "patience": patience,
            "precision": precision,
            "accelerator": accelerator,
            "devices": devices,
            "num_nodes": nodes,
            "workers": workers,
            "memory": memory_bytes(memory) if memory else None,
            "time": seconds(time) if time else None,
            "threads": threads,
            "seed": seed,
        }
        config = TrainConfig(**settings | (_preset(preset, context) if preset else {}))
        assert output is not None
        planned = _plan(plan, dataset, config, preset)
        if seeds > 1:
            from multirater.training.seeds import train_seeds

            run = train_seeds(dataset, output, config, n_seeds=seeds, **planned)
        else:
            run = begin(dataset, output, config, **planned)
    print(run.folder)


def _plan(file: Path | None, dataset: Dataset, config: TrainConfig, preset: str) -> dict[str, Plan]:
    """Return the plan to follow, where one is needed beside what `train` does by itself.

    On the command line --epochs is one wish among others, and not a recipe of one's own as it is in
    settings that are written in Python; a preset is.
    """
    from multirater.training.plan_files import read_plan

    if file is not None:
        return {"plan": read_plan(file)}
    if config.epochs is None or preset:
        return {}
    from multirater.training.planning import plan, wishes

    return {"plan": plan(dataset, memory=config.memory, **wishes(config))}


def _preset(name: str, context: typer.Context) -> dict[str, Any]:
    """Return the settings of a preset that were not given as options."""
    from multirater.training.presets import preset

    def is_given(option: str) -> bool:
        source = context.get_parameter_source(option)
        return source is not None and source.name == "COMMANDLINE"

    return {key: value for key, value in preset(name).items() if not is_given(key)}


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
) -> None:
    """Segment or classify images with a trained network."""
    from multirater.training.budget import memory_bytes
    from multirater.training.prediction import predict as run_prediction

    print(
        run_prediction(
            run,
            _images(data, split),
            output,
            probability=probability,
            raters=raters,
            confusion=confusion,
            recurrences=recurrences,
            confidences=_confidences(confidence or []),
            tta=tta,
            memory=memory_bytes(memory) if memory else None,
            trust_code=trust_code,
        )
    )


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


def _images(path: Path, split: str) -> Dataset:
    """Open a data set, or images without any table."""
    import multirater
    from multirater.io.formats.images import is_image_file, suffix_of
    from multirater.io.tables.manifest import FILE_NAME

    is_table = path.suffix == ".csv" or (path / FILE_NAME).is_file() or (path / "images").is_dir()
    if is_table or not path.exists():
        return opened(path, split)
    import pandas as pd

    files = sorted(path.iterdir()) if path.is_dir() else [path]
    images = [file for file in files if is_image_file(file) and not file.name.startswith(".")]
    if not images:
        raise InputError(Fault("holds no image", file=str(path)))
    rows = [{"case": file.name[: -len(suffix_of(file))], "image": file.name} for file in images]
    return multirater.read_dataset(pd.DataFrame(rows), root=images[0].parent)


def _numbers(text: str, option: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise InputError(
            Fault(f"{option} {text}", expected="whole numbers, such as 96,96")
        ) from None


def _json(text: str) -> dict[str, Any]:
    try:
        content = json_module.loads(text)
    except json_module.JSONDecodeError as error:
        raise InputError(Fault(f"--backbone-options {text}: {error}", expected="JSON")) from None
    if not isinstance(content, dict):
        raise InputError(Fault(f"--backbone-options {text}", expected='JSON such as {"key": 1}'))
    return content
