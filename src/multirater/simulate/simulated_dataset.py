"""Simulated raters for a whole data set whose truth is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.simulate.classes import (
    adversarial_cm,
    hammer_spammer_cm,
    neighbouring_classes_cm,
    pairwise_flipper_cm,
    similar_classes_cm,
    simulate_class_labels,
)
from multirater.simulate.drawings import DRAWN_KINDS, simulated_drawings
from multirater.simulate.masks import (
    MASK_KINDS,
    MaskError,
    MaskKind,
    apply_mask_error,
    draw_mask_error,
)
from multirater.simulate.supply import Supply, label_supply
from multirater.types import MISSING, Case, Classes, Dataset, LabelMap, Source
from multirater.words import did_you_mean

CLASS_KINDS: dict[str, Callable[..., NDArray[np.float64]]] = {
    "pairwise-flipper": pairwise_flipper_cm,
    "hammer-spammer": hammer_spammer_cm,
    "similar-classes": similar_classes_cm,
    "neighbouring-classes": neighbouring_classes_cm,
    "adversarial": adversarial_cm,
}
"""Raters of class labels by name."""

GROUPS = {
    "cifar10": "hammer-spammer:0.6,similar-classes:0.6,neighbouring-classes:0.6,adversarial:0",
}
"""Raters who come together: the four of Tanno 2019, Fig. 2."""


@dataclass(frozen=True)
class SimulatedRater:
    """A rater to simulate.

    Attributes:
        kind: one of `good`, `over`, `under`, `wrong`, `blank` for masks; `positive`, `negative` or
            `coarse` (both) for coarse drawings; `pairwise-flipper`, `hammer-spammer`,
            `similar-classes` (of CIFAR-10), `neighbouring-classes` or `adversarial` for class
            labels.
        strength: for masks how much they err (1 as in the paper, 0 not at all); for drawings the
            area, as a share of what could be drawn; for class labels the probability of being
            right.
        noise: of drawings: fractures and over-drawing, 1 as in `draw_coarse`, 0 for none.
    """

    kind: str
    strength: float = 1.0
    noise: float = 1.0


FIVE = tuple(SimulatedRater(kind) for kind in ("good", "over", "under", "wrong", "blank"))
"""The five raters of Zhang 2020."""


def simulate_dataset(
    dataset: Dataset,
    raters: Sequence[SimulatedRater] = FIVE,
    *,
    supply: Supply = "dense",
    seed: int,
) -> Dataset:
    """Replace the labels of a data set by those of simulated raters.

    Random parameters are drawn here, once, and kept in `Case.simulated`; the labels follow from
    them and the truth when they are read.

    Args:
        dataset: every case needs a truth; its own labels are dropped.
        raters: who labels.
        supply: `dense` (every rater labels every case), `one` random rater per case, or a number
            (from, to) of raters.
        seed: same seed, same labels.

    Example:
        >>> import multirater
        >>> digits = multirater.samples.digits_dataset(n_train=2, n_test=0)
        >>> simulated = simulate_dataset(digits, seed=0)
        >>> simulated.raters
        ('good', 'over', 'under', 'wrong', 'blank')
        >>> drawn = simulate_dataset(digits, [SimulatedRater("coarse", 0.3)], seed=0)
        >>> [drawing.kind for drawing in drawn[0].drawings]
        ['positive', 'negative']
    """
    _require_truth(dataset)
    _require_kinds(raters, dataset.kind)
    names = _rater_names(raters)
    chosen = label_supply(len(dataset), len(raters), supply, seed=seed)
    classes = dataset.classes or _classes_of_truth(dataset)
    cases = _class_cases if dataset.kind == "classes" else _mask_cases
    return replace(
        dataset,
        cases=cases(dataset, raters, names, chosen, classes, seed),
        raters=tuple(
            name for name, rater in zip(names, raters, strict=True) if rater.kind not in DRAWN_KINDS
        ),
        classes=classes,
        rater_info={},
    )


def parse_raters(text: str) -> list[SimulatedRater]:
    """Read raters that are separated by commas, or the name of a group of them.

    Example:
        >>> [rater.kind for rater in parse_raters("cifar10")]
        ['hammer-spammer', 'similar-classes', 'neighbouring-classes', 'adversarial']
    """
    each = [part.strip() for part in text.split(",")]
    listed = ",".join(GROUPS.get(part, part) for part in each if part)
    return [parse_rater(part) for part in listed.split(",") if part]


def parse_rater(text: str) -> SimulatedRater:
    """Read `kind`, `kind:strength` or, of drawings, `kind:area:noise`.

    Example:
        >>> parse_rater("over:1.5")
        SimulatedRater(kind='over', strength=1.5, noise=1.0)
    """
    kind, *numbers = text.split(":")
    try:
        return SimulatedRater(kind.strip(), *_two_numbers(numbers))
    except ValueError:
        raise InputError(
            Fault(
                f"rater {text!r}",
                expected="kind or kind:strength, such as over:1.5; for drawings kind:area:noise, "
                "such as coarse:0.3:1",
            )
        ) from None


def _two_numbers(texts: Sequence[str]) -> tuple[float, ...]:
    if len(texts) > 2:
        raise ValueError
    return tuple(float(text) for text in texts)


def _mask_cases(
    dataset: Dataset,
    raters: Sequence[SimulatedRater],
    names: tuple[str, ...],
    chosen: NDArray[np.bool_],
    classes: Classes,
    seed: int,
) -> tuple[Case, ...]:
    seeds = np.random.SeedSequence(seed).generate_state(len(dataset) * len(raters))
    seeds = seeds.reshape(len(dataset), len(raters))
    made = []
    for number, case in enumerate(dataset):
        assert case.truth is not None
        errors = {
            names[r]: draw_mask_error(
                cast(MaskKind, rater.kind),
                strength=rater.strength,
                n_classes=len(classes),
                seed=int(seeds[number, r]),
            )
            for r, rater in enumerate(raters)
            if chosen[number, r] and rater.kind not in DRAWN_KINDS
        }
        labels = {name: Source(partial(_draw, case.truth, error)) for name, error in errors.items()}
        simulated = {name: json.dumps(error.to_dict()) for name, error in errors.items()}
        drawings = tuple(
            drawing
            for r, rater in enumerate(raters)
            if chosen[number, r] and rater.kind in DRAWN_KINDS
            for drawing in simulated_drawings(
                case.truth,
                names[r],
                DRAWN_KINDS[rater.kind],
                ratio=rater.strength,
                noise=rater.noise,
                targets=_drawn_classes(classes),
                seed=int(seeds[number, r]),
            )
        )
        made.append(replace(case, labels=labels, simulated=simulated, drawings=drawings))
    return tuple(made)


def _drawn_classes(classes: Classes) -> Sequence[int]:
    """Return the classes that coarse drawings mark.

    With two, "not 1" says background. With more it leaves every other class open, so that nothing
    would ever tell background from them if it were not drawn itself; and where there is none, as
    in street scenes, the first class is like the others.
    """
    return (1,) if len(classes) == 2 else range(len(classes))


def _class_cases(
    dataset: Dataset,
    raters: Sequence[SimulatedRater],
    names: tuple[str, ...],
    chosen: NDArray[np.bool_],
    classes: Classes,
    seed: int,
) -> tuple[Case, ...]:
    truths = [truth for case in dataset if (truth := case.read_truth()) is not None]
    parameters = [
        {"kind": rater.kind, "p": rater.strength, "n_classes": len(classes), "seed": int(own)}
        for rater, own in zip(
            raters, np.random.SeedSequence(seed).generate_state(len(raters)), strict=True
        )
    ]
    cms = np.stack([rater_cm(each) for each in parameters])
    drawn = simulate_class_labels([int(truth.array) for truth in truths], cms, seed=seed)
    made = []
    for number, (case, truth) in enumerate(zip(dataset, truths, strict=True)):
        who = [r for r in np.flatnonzero(chosen[number]).tolist() if drawn[r, number] != MISSING]
        labels = {
            names[r]: Source(partial(_given, replace(truth, array=np.asarray(drawn[r, number]))))
            for r in who
        }
        simulated = {names[r]: json.dumps(parameters[r]) for r in who}
        made.append(replace(case, labels=labels, simulated=simulated))
    return tuple(made)


def rater_cm(simulated: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the confusion matrix of a simulated rater of class labels.

    Args:
        simulated: what `Case.simulated` says of the rater, read from JSON.

    Returns:
        (n_classes, n_classes), `cm[true, observed]`.

    Example:
        >>> rater_cm({"kind": "pairwise-flipper", "p": 0.6, "n_classes": 2, "seed": 8}).round(1)
        array([[0.6, 0.4],
               [0.4, 0.6]])
    """
    make = CLASS_KINDS[simulated["kind"]]
    return make(simulated["n_classes"], simulated["p"], seed=simulated["seed"])


def _draw(truth: Source[LabelMap], error: MaskError) -> LabelMap:
    true = truth.read()
    return LabelMap(
        apply_mask_error(true.array, error, true.geometry.spacing), true.geometry, "simulated"
    )


def _given(label: LabelMap) -> LabelMap:
    return label


def _require_truth(dataset: Dataset) -> None:
    if not dataset.cases:
        raise InputError(Fault("the data set is empty", expected="at least one case with truth"))
    faults = [
        Fault(
            "has no truth to simulate raters from",
            expected="the true label of every case",
            fix="fill in the column `truth` of the manifest, or, in a data set of folders, put the "
            "true labels into truth/<case>.*",
            case=case.name,
        )
        for case in dataset
        if case.truth is None
    ]
    if faults:
        raise InputError(faults)


def _require_kinds(raters: Sequence[SimulatedRater], kind: str) -> None:
    known = tuple(CLASS_KINDS) if kind == "classes" else (*MASK_KINDS, *DRAWN_KINDS)
    unknown = [rater.kind for rater in raters if rater.kind not in known]
    if unknown or not raters:
        found = "no raters to simulate"
        if unknown:
            found = f"no simulated rater {unknown[0]!r}{did_you_mean(unknown[0], known)}"
        raise InputError(Fault(found, expected=f"for labels that are {kind}: {', '.join(known)}"))


def _rater_names(raters: Sequence[SimulatedRater]) -> tuple[str, ...]:
    """Name raters by their kind; a second one of a kind gets a number."""
    names: list[str] = []
    for rater in raters:
        same = sum(name.rsplit("-", 1)[0] == rater.kind or name == rater.kind for name in names)
        names.append(rater.kind if same == 0 else f"{rater.kind}-{same + 1}")
    return tuple(names)


def _classes_of_truth(dataset: Dataset) -> Classes:
    highest = max(int(truth.array.max()) for case in dataset if (truth := case.read_truth()))
    return Classes.numbered(max(highest + 1, 2))
