"""A run in its folder: what a trained network knows of its data, and the network itself.

RUN/config.json      settings
RUN/plan.json        what was decided for the study, and why
RUN/data.json        raters, classes, kind of labels, image channels, version (see `RunData`)
RUN/digests.json     of labels and image of every case, to notice when they change
RUN/backbone.pt      the user's own backbone, when there is one
RUN/checkpoints/     best.ckpt by held-out likelihood, last.ckpt to go on from
RUN/curves.csv       losses of every epoch
RUN/tensorboard/     the same for TensorBoard
RUN/raters.csv       each rater as the network sees them
RUN/trust.json       what speaks for and against trusting it
RUN/origin.json      where the data set is
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from multirater import __version__
from multirater.errors import Fault, InputError
from multirater.extras import MissingExtraError
from multirater.io.formats.grid import is_step, size_text
from multirater.io.formats.guard import reading, reason
from multirater.io.results.layout import BEST, CHECKPOINTS, CONFIG, DATA, fold_folder
from multirater.io.results.statements import read_json, write_json
from multirater.io.tables.classes import COLOUR
from multirater.io.tables.table_check import LabelKind
from multirater.nn.ensemble import Ensemble
from multirater.nn.rater_network import RaterNetwork
from multirater.training.checkpoints import read_checkpoint
from multirater.training.config import Normalisation, TrainConfig
from multirater.training.drawn_targets import kind_of
from multirater.training.memory import is_out_of_memory
from multirater.training.methods import training_method
from multirater.training.networks import NetworkShape, plain
from multirater.training.own_backbone import trusting_code, with_backbone
from multirater.training.run_path import require_run
from multirater.types import Classes, LabelClass
from multirater.words import listed


@dataclass(frozen=True)
class RunData:
    """What a trained network knows of its data.

    Attributes:
        raters: names, in the order of confusion matrices.
        classes: names, in the order of class indices.
        colours: of the classes.
        n_channels: of the images, or features of vectors.
        ndim: axes of the labels' space as the network sees it: 2 or 3, 0 for class labels.
        space: size of the images that class labels are given for; empty for vectors and drawings.
        features: names of the features, where vectors come from a table with names.
        kind: `masks` or `classes`, of the labels.
        version: of multirater.
        labels: digest of all labels, to notice when they change; empty in older runs.
        spacing: that all images of drawings share, in millimetres per axis as the network sees
            them; empty where they have several or none is known.
    """

    raters: tuple[str, ...]
    classes: tuple[str, ...]
    colours: tuple[str, ...]
    n_channels: int
    ndim: int
    space: tuple[int, ...] = ()
    kind: LabelKind = "masks"
    features: tuple[str, ...] = ()
    version: str = __version__
    labels: str = ""
    spacing: tuple[float, ...] = ()

    def require_features(self, names: tuple[str, ...]) -> None:
        """Refuse other features, or the same in another order: they go by their place."""
        if self.features and names and self.features != names:
            raise InputError(
                Fault(
                    f"features {listed(list(names), most=8)}",
                    expected=f"as in training {listed(list(self.features), most=8)}, in that order",
                    fix="put the columns of the table of features into that order",
                )
            )

    def as_classes(self) -> Classes:
        """Return the classes with their colours, as predictions are written: by index."""
        pairs = zip(self.classes, self.colours, strict=True)
        return Classes(tuple(LabelClass(name, colour) for name, colour in pairs))


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        folder: the run folder.
        best_epoch: the epoch that was kept, counted from 0.
        best_nll: its held-out likelihood, in nats per label; NaN without held-out cases.
    """

    folder: Path
    best_epoch: int
    best_nll: float


def write_config(config: TrainConfig, folder: Path) -> None:
    """Write the settings of a run."""
    write_json(folder / CONFIG, asdict(config))


def read_config(folder: Path) -> TrainConfig:
    """Read the settings of a run.

    Raises:
        InputError: they are damaged, or of another version.
    """
    with reading(folder / CONFIG, "settings of a run", fix="copy the run again"):
        return _config_of(read_json(folder / CONFIG))


def _config_of(stored: dict[str, Any]) -> TrainConfig:
    unknown = sorted(set(stored) - {each.name for each in fields(TrainConfig)})
    if unknown:
        raise InputError(
            Fault(f"unknown setting {unknown[0]}", fix="use the version that wrote it")
        )
    settings: dict[str, Any] = {key: _as_tuples(value) for key, value in stored.items()}
    if "normalisation" in stored:
        given = {key: _as_tuples(value) for key, value in stored["normalisation"].items()}
        settings["normalisation"] = Normalisation(**given)
    return TrainConfig(**settings)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def write_data(data: RunData, folder: Path) -> None:
    """Write what a network knows of its data."""
    write_json(folder / DATA, asdict(data))


def read_data(folder: Path) -> RunData:
    """Read what a network knows of its data."""
    with reading(folder / DATA, "description of a run's data", fix="copy the run again"):
        stored = read_json(folder / DATA).items()
        known: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored}
        data = RunData(**known)
        _check(data)
        return data


def _check(data: RunData) -> None:
    """Raise ValueError for what cannot be: somebody else may have written it."""
    for name in ("raters", "classes", "colours", "features", "space"):
        values, kind = getattr(data, name), int if name == "space" else str
        if not isinstance(values, tuple) or any(type(each) is not kind for each in values):
            raise ValueError(f"{name} is {values!r:.60}")
    if not isinstance(data.spacing, tuple) or not all(map(is_step, data.spacing)):
        raise ValueError(f"spacing is {data.spacing!r:.60}")
    odd = next((each for each in data.colours if each and not COLOUR.fullmatch(each)), None)
    if odd is not None:
        raise ValueError(f"colour is {odd!r:.60}")
    if len(data.classes) != len(data.colours) or not data.classes:
        raise ValueError(f"{len(data.classes)} classes and {len(data.colours)} colours")
    if data.kind not in ("masks", "classes"):
        raise ValueError(f"kind is {data.kind!r:.60}")
    if type(data.n_channels) is not int or type(data.ndim) is not int or data.n_channels < 1:
        raise ValueError(f"{data.n_channels!r:.60} channels of {data.ndim!r:.60} axes")


def read_run(
    folder: str | Path, *, trust_code: bool = False
) -> tuple[TrainConfig, RunData, RaterNetwork]:
    """Read settings, data description and the best network of a run.

    Args:
        folder: of the run.
        trust_code: whether the run may bring a backbone of its own, which is code that is run.

    Raises:
        InputError: the run is damaged, or would run code that nobody said to trust.
    """
    target = Path(folder)
    require_run(target)
    with trusting_code(trust_code), reading(target, "run", fix="copy the run again"):
        return _read_run(target)


def _read_run(target: Path) -> tuple[TrainConfig, RunData, RaterNetwork]:
    config = with_backbone(read_config(target), target)
    if config.folds > 1 and fold_folder(target, 0).exists():
        parts = [_read_run(fold_folder(target, number)) for number in range(config.folds)]
        return config, parts[0][1], Ensemble([part[2] for part in parts]).eval()
    data = read_data(target)
    checkpoint = target / CHECKPOINTS / BEST
    if not checkpoint.exists():
        raise InputError(Fault("has no trained network yet", file=str(target)))
    state = weights_of(read_checkpoint(checkpoint))
    settings = without_downloads(config)
    require_described(settings, data, state)
    network = build_network(settings, data)
    network.load_state_dict(state)
    return config, data, network.eval()


def weights_of(checkpoint: dict[str, Any]) -> dict[str, Tensor]:
    """Return the weights of the network in a checkpoint, by their names in the network."""
    stored = checkpoint.get("state_dict")
    if not isinstance(stored, dict) or not all(isinstance(key, str) for key in stored):
        raise InputError(Fault("holds no weights", fix="copy the run again"))
    return {key.removeprefix("network."): value for key, value in stored.items()}


_OWN_BACKBONES = ("unet", "auto", "cnn", "cnn-128", "mlp")


def require_described(config: TrainConfig, data: RunData, state: dict[str, Tensor]) -> None:
    """Refuse settings of another network than the one that was kept, before memory is taken.

    The network is drawn up without its numbers: a line of settings may ask for more than there is.
    """
    if not isinstance(config.backbone, str) or ":" in config.backbone:
        return  # code that the user trusts
    try:
        with torch.device("meta"):
            drawn_up = build_network(config, data).state_dict()
    except Exception:
        if config.backbone in _OWN_BACKBONES:
            raise
        return  # some of MONAI's look at their numbers while they are built
    shapes = {key: tuple(value.shape) for key, value in drawn_up.items()}
    kept = {key: tuple(value.shape) for key, value in state.items()}
    differs = next((key for key in {**shapes, **kept} if shapes.get(key) != kept.get(key)), None)
    if differs is not None:
        raise InputError(
            Fault(
                f"settings describe another network than was kept: {differs} "
                + (f"of size {size_text(shapes[differs])}" if differs in shapes else "is missing"),
                expected=f"size {size_text(kept[differs])}" if differs in kept else "no such part",
                fix="copy the run again",
            )
        )


def without_downloads(config: TrainConfig) -> TrainConfig:
    """Build no network from weights elsewhere: those of the run take their place anyway."""
    if "pretrained" not in config.backbone_options:
        return config
    return replace(config, backbone_options=config.backbone_options | {"pretrained": False})


def build_network(config: TrainConfig, data: RunData) -> RaterNetwork:
    """Build the network of a run, with fresh weights.

    Raises:
        InputError: there is no such network: settings may be of somebody else.
    """
    with _building(config, data):
        return training_method(config.method, data.kind).build(config, _shape(data))


def plain_network(config: TrainConfig, data: RunData) -> RaterNetwork:
    """Build a network of the run's form that takes labels for the truth, with fresh weights."""
    with _building(config, data):
        return plain(config, _shape(data))


@contextmanager
def _building(config: TrainConfig, data: RunData) -> Iterator[None]:
    """Say that settings are of no network, in whatever way the libraries below find out."""
    _require_fit(config, data)
    try:
        yield
    except (InputError, MissingExtraError):
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise
        raise InputError(
            Fault(
                f"no network can be built by these settings: {reason(error)}",
                expected="settings that fit each other, and the images",
                fix="look at the backbone, its options, channels, strides and kernels",
            )
        ) from error


def _require_fit(config: TrainConfig, data: RunData) -> None:
    """Refuse patches and intensities of other images: they go by axis and by channel."""
    if data.kind == "masks" and config.patch and len(config.patch) != data.ndim:
        raise InputError(
            Fault(f"patch {config.patch}", expected=f"{data.ndim} numbers, one per axis")
        )
    n_distances = 3 if config.view == "slices" else data.ndim
    if data.kind == "masks" and len(config.spacing) not in (0, n_distances):
        raise InputError(
            Fault(f"spacing {config.spacing}", expected=f"{n_distances} numbers, one per axis")
        )
    if data.kind == "masks" and config.space:
        raise InputError(
            Fault(f"space {config.space}", expected="none: only images of class labels have one")
        )
    how = config.normalisation
    if how.kind != "study":
        return
    parts = (how.mean, how.deviation, *((how.low, how.high) if how.low or how.high else ()))
    if any(len(each) != data.n_channels for each in parts):
        raise InputError(
            Fault(
                f"normalisation of {listed(sorted({str(len(each)) for each in parts}))} channels",
                expected=f"{data.n_channels}, as images have",
            )
        )


def _shape(data: RunData) -> NetworkShape:
    kinds = tuple(map(kind_of, data.raters))
    return NetworkShape(
        len(data.raters), len(data.classes), data.n_channels, data.ndim, data.space, kinds
    )
