"""The methods: the one place that maps a name to its parts.

One table for drawings, one for class labels; most entries are made of the same parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from lightning.pytorch.callbacks import Callback

from multirater.errors import Fault, InputError
from multirater.nn.adapting_options import AdaptingOptions
from multirater.nn.adversary import AdaptingNetwork
from multirater.nn.agg_net import AggregationNetwork
from multirater.nn.beal import BoundaryEntropyNetwork
from multirater.nn.coarse_options import CoarseOptions
from multirater.nn.coarse_sup import CoarseSupNetwork
from multirater.nn.crowd_layer import CrowdLayerNetwork
from multirater.nn.em import EMNetwork, GeneralizedEM, ModelBootstrappedEM
from multirater.nn.jury import JuryNetwork
from multirater.nn.label_cleaning_mil import LabelCleaningNetwork
from multirater.nn.max_mig import MaxMigNetwork
from multirater.nn.mrnet import MRNet
from multirater.nn.multi_hypothesis import MultiHypothesisNetwork
from multirater.nn.p_osal import PatchAdversarialNetwork
from multirater.nn.prism.options import PrismOptions
from multirater.nn.scribble_sup import ScribbleSupNetwork
from multirater.nn.seed_network import SeedNetwork
from multirater.nn.weighted_doctors import WeightedDoctorNet
from multirater.training import class_auto, jury, networks, oracle
from multirater.training.adapting import MeetTarget, on_vote_with_target
from multirater.training.averaging import AverageWeights
from multirater.training.box_candidates import on_box_candidates
from multirater.training.config import TrainConfig
from multirater.training.data import split_cases
from multirater.training.diagnosis_first import DiagnosisOptions, on_diagnosis_first
from multirater.training.drawing_masks import MASKS_OF_SEEDS
from multirater.training.drawn_targets import as_drawn, mask_of_drawings, on_boxes, on_seeds
from multirater.training.em import EMOptions, EndRounds, first_count
from multirater.training.networks import Build, TraceOptions
from multirater.training.options import NoOptions, checked_options
from multirater.training.targets import Prepare, SpatialStapleOptions, as_they_are, fused, on_truth
from multirater.types import Case, Dataset
from multirater.words import did_you_mean


def _none(_: TrainConfig, __: Dataset) -> int:
    return 0


def _all_at_once(config: TrainConfig, _: Dataset) -> tuple[int, ...]:
    return (config.epochs,)


def _never(_: TrainConfig) -> bool:
    return False


def _trusted(config: TrainConfig, _: Dataset) -> int:
    """Drawings are taken as they are until the network is right more often than their noise."""
    share = networks.coarse_options(config).trusted
    return max(config.warmup_epochs, round(config.epochs * share))


def _always(_: TrainConfig) -> bool:
    return True


@dataclass(frozen=True)
class Method:
    """What a method trains on, and with which network.

    Attributes:
        prepare: turns the data set into the one that is trained on.
        build: makes the network.
        warmup_epochs: how many of the first epochs take the labels for the truth, by settings and
            data.
        schedule: epochs of each rise and fall of the learning rate; together, of the run.
        with_truth: whether training is given the truth.
        warmup_competes: whether an epoch of the warm-up may be the best. A jury's truth is only
            learned after it, and EM counts nothing before; learned matrices merely stay fixed.
        as_good: share by which held-out likelihoods of epochs may differ and tell nothing: of
            such epochs the last is kept.
        keeps_last: whether, by the settings, the last epoch is kept whatever its likelihood: where
            nothing trains that.
        options: dataclass that declares the method's own options.
        prepares_by_options: whether `prepare` takes them, by name.
        begin: what comes before the network is trained, such as judging the raters.
        callbacks: what is done between steps and epochs, such as weighing raters; made anew for
            each run.
        leaves_out: whether a step may leave some of the parameters out, as those of raters who
            did not label its cases.
        n_looks: samples that are looked at one by one beside the steps, at most.
    """

    prepare: Prepare
    build: Build
    warmup_epochs: Callable[[TrainConfig, Dataset], int] = _none
    schedule: Callable[[TrainConfig, Dataset], tuple[int, ...]] = _all_at_once
    with_truth: bool = False
    warmup_competes: bool = True
    as_good: float = 0.0
    keeps_last: Callable[[TrainConfig], bool] = _never
    options: type = NoOptions
    prepares_by_options: bool = False
    begin: class_auto.Begin | None = None
    callbacks: tuple[Callable[[], Callback], ...] = ()
    leaves_out: bool = False
    n_looks: int = 0


_CM = Method(as_they_are, networks.with_confusion, lambda config, _: config.warmup_epochs)


def _of_seeds(network: Callable[..., SeedNetwork], by_drawings_first: float = 0.0) -> Method:
    """Learn from seeds; for a share of the epochs by the drawings alone."""
    return Method(
        on_seeds,
        networks.of_seeds(network),
        lambda config, _: round(config.epochs * by_drawings_first),
    )


_BY_RATER: dict[str, Method] = {
    "wdn": Method(as_they_are, networks.of_raters(WeightedDoctorNet)),
    "crowd-layer": Method(as_they_are, networks.of_raters(CrowdLayerNetwork)),
    "agg-net": Method(as_they_are, networks.of_raters(AggregationNetwork), lambda _, __: 1),
    "max-mig": Method(as_they_are, networks.of_raters(MaxMigNetwork)),
}
"""Methods of others that serve drawings and class labels alike."""


def _adapting(network: Callable[..., AdaptingNetwork]) -> Method:
    return Method(
        on_vote_with_target,
        networks.adapting(network),
        options=AdaptingOptions,
        prepares_by_options=True,
        callbacks=(MeetTarget,),
        leaves_out=True,  # discriminators, before they have anything to tell apart
    )


_FOR_MASKS: dict[str, Method] = {
    "auto": Method(
        as_they_are,
        networks.of_raters(JuryNetwork),
        jury.warmup_epochs,
        jury.schedule,
        warmup_competes=False,
        as_good=jury.AS_GOOD,
        # In this order: raters are weighed by the weights that learn, not by their average.
        callbacks=(AverageWeights, jury.WeighRaters),
        n_looks=jury.N_LOOKS,
    ),
    "cm": _CM,
    # Cross-entropy with the mean of the labels is the mean of the cross-entropies.
    "mean": Method(as_they_are, networks.plain),
    "mode": Method(fused("majority-vote"), networks.plain),
    "staple": Method(fused("staple"), networks.plain),
    "spatial-staple": Method(
        fused("spatial-staple"),
        networks.plain,
        options=SpatialStapleOptions,
        prepares_by_options=True,
    ),
    "separate": Method(as_they_are, networks.separate, leaves_out=True),
    "prob-unet": Method(as_they_are, networks.prob_unet),
    "prism": Method(
        as_they_are,
        networks.prism,
        options=PrismOptions,
        keeps_last=lambda config: networks.prism_options(config).keeps_last,
    ),
    "mrnet": Method(as_they_are, networks.of_raters(MRNet)),
    "luw": Method(as_they_are, networks.of_raters(MultiHypothesisNetwork)),
    "label-sampling": Method(as_they_are, networks.label_sampling),
    "attention-guided": Method(fused("majority-vote"), networks.attention_guided),
    # Nothing trains the likelihood of labels.
    "p-osal": replace(_adapting(PatchAdversarialNetwork), keeps_last=_always),
    "beal": _adapting(BoundaryEntropyNetwork),
    "diagnosis-first": Method(
        on_diagnosis_first, networks.plain, options=DiagnosisOptions, prepares_by_options=True
    ),
    **_BY_RATER,
    "oracle": Method(as_they_are, networks.with_oracle, with_truth=True),
    "truth": Method(on_truth, networks.plain),
    "coarse": Method(
        as_drawn,
        networks.coarse,
        _trusted,
        warmup_competes=False,
        as_good=jury.AS_GOOD,
        options=CoarseOptions,
    ),
    "partial": Method(as_drawn, partial(networks.coarse, with_confusion=False)),
    "cycle-mix": Method(as_drawn, networks.cycle_mix),
    "box-sup": Method(on_box_candidates, networks.box_sup),
    "scribble-sup": _of_seeds(ScribbleSupNetwork, by_drawings_first=1 / 3),
    "coarse-sup": _of_seeds(CoarseSupNetwork, by_drawings_first=1 / 4),
    "label-cleaning-mil": _of_seeds(LabelCleaningNetwork),
    "local-to-global": Method(on_boxes, networks.local_to_global, keeps_last=_always),
    **{name: Method(mask_of_drawings(name), networks.plain) for name in MASKS_OF_SEEDS},
}


def _em(network: type[EMNetwork]) -> Method:
    build = networks.of_raters(network)
    return Method(
        as_they_are,
        build,
        lambda config, _: first_count(network, config),
        warmup_competes=False,
        options=EMOptions,
        callbacks=(EndRounds,),
    )


_FOR_CLASSES: dict[str, Method] = {
    "auto": Method(as_they_are, networks.with_given, begin=class_auto.take_witness),
    "cm": replace(_CM, options=TraceOptions),
    "oracle": Method(
        as_they_are, networks.with_given, with_truth=True, begin=oracle.take_true_matrices
    ),
    "gem": _em(GeneralizedEM),
    "mbem": _em(ModelBootstrappedEM),
    **_BY_RATER,
    "mean": Method(as_they_are, networks.plain),
    "majority": Method(fused("majority-vote"), networks.plain),
    "dawid-skene": Method(fused("dawid-skene"), networks.plain),
    "single-cm": Method(fused("majority-vote"), networks.with_confusion),
    "soft-bootstrap": Method(fused("majority-vote"), networks.bootstrap),
    "truth": Method(on_truth, networks.plain),
}

METHODS: dict[str, dict[str, Method]] = {"masks": _FOR_MASKS, "classes": _FOR_CLASSES}
"""By kind of labels, then by name."""


_ELSEWHERE = {
    "ag-net": "attention-guided",
    "agnet": "attention-guided",
    "posal": "p-osal",
    "diag": "diagnosis-first",
    "majority-vote": "mode",
}
"""Methods for drawings by the names of their papers, and of fusions, where these are others."""


def training_method(name: str, kind: str) -> Method:
    """Return a method by name.

    Args:
        name: as given by the user.
        kind: of the labels, `masks` or `classes`.
    """
    known = METHODS[kind]
    if name in known:
        return known[name]
    other = next((each for each in METHODS if name in METHODS[each]), None)
    what = {"masks": "drawings", "classes": "class labels"}
    why = did_you_mean(name, known)
    if other is not None:
        why = f" for {what[kind]}: it is for {what[other]}"
    ours = _ELSEWHERE.get(name.lower(), "")
    if ours in known:
        why = f": here it is called {ours}"
    raise InputError(
        Fault(
            f"no training method {name!r}{why}",
            expected=f"one of {', '.join(known)}",
        )
    )


def prepared(dataset: Dataset, config: TrainConfig) -> Dataset:
    """Return the data set that a method trains on."""
    method = training_method(config.method, dataset.kind)
    if not method.prepares_by_options:
        return method.prepare(dataset)
    options: Any = checked_options(method.options, config.options, config.method)
    return method.prepare(dataset, **asdict(options))


def split_as_trained(dataset: Dataset, config: TrainConfig) -> tuple[list[Case], list[Case]]:
    """Return the cases that a run trains on and those that it holds out, as its method has them.

    A method may leave cases out, such as those without a truth or without a drawing that it can
    learn from, so that a share of the data set as it was read is not the same cases.
    """
    return split_cases(
        prepared(dataset, config),
        config,
        with_truth=training_method(config.method, dataset.kind).with_truth,
    )


def check_options(config: TrainConfig, kind: str) -> None:
    """Refuse options that the method does not have, or values that they cannot have."""
    checked_options(training_method(config.method, kind).options, config.options, config.method)
    if config.warmup == "trace" and config.method != "cm":
        raise InputError(
            Fault(
                f"warmup = trace for the method {config.method}",
                expected="the method cm, whose matrices have a trace",
            )
        )
