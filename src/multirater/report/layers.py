"""What can be drawn on an image, and in which line: raters, truth, fusions, networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from multirater.report.subject import Subject

COLOURS = ("#6b67e7", "#d5bc05", "#12a371", "#f278b4", "#e0441f", "#84d7ff", "#ffffa3")
"""Of raters, in hues near those of the figures (`colours.rater_colours`), bright on dark images.

Any two are more than 15 apart (CIEDE2000), also for people with any kind of colour blindness.
"""

DASHES: tuple[tuple[int, ...], ...] = (
    (),
    (7, 4),
    (2, 3),
    (9, 3, 2, 3),
    (14, 5),
    (5, 2, 1, 2, 1, 2),
)
"""With more raters than colours, the line tells them apart."""

GOLD_COLOUR = "#ffd24a"
"""Of what an expert decided."""

_MOST_SHOWN = 12
"""Outlines of a case that are all shown from the start; of more, the first five raters'."""

LayerKind = Literal[
    "rater", "truth", "fusion", "predictions", "predicted rater", "reference", "gold"
]


@dataclass(frozen=True)
class Layer:
    """One outline on the image.

    Attributes:
        kind: whose it is.
        name: as shown.
        colour: `#rrggbb`.
        dash: lengths of line and gap in pixels of the screen; a full line when empty.
        shown: from the start.
        result: name of the network, for a rater it predicts.
    """

    kind: LayerKind
    name: str
    colour: str
    dash: tuple[int, ...] = ()
    shown: bool = False
    result: str = ""


def rater_layer(number: int, name: str, *, shown: bool = True) -> Layer:
    """The fixed line of a rater, by position.

    Example:
        >>> rater_layer(0, "anna").colour, rater_layer(7, "ida").dash
        ('#6b67e7', (7, 4))
    """
    dash = DASHES[number // len(COLOURS) % len(DASHES)]
    return Layer("rater", name, COLOURS[number % len(COLOURS)], dash, shown)


def layers_of(
    subject: Subject, predicted_raters: Sequence[tuple[str, str]], *, vote: bool
) -> list[Layer]:
    """List every outline there may be, in the order in which cases store them.

    Args:
        subject: of the report.
        predicted_raters: (network, rater) whose drawings a network predicts.
        vote: whether the majority of the raters is the reference.
    """
    raters = subject.dataset.raters
    few = max((len(case.labels) for case in subject.dataset), default=0) <= _MOST_SHOWN
    layers = [rater_layer(i, name, shown=few or i < 5) for i, name in enumerate(raters)]
    dashes = list(DASHES[1:]) * (len(subject.results) + 1)
    if any(case.truth is not None for case in subject.dataset):
        layers.append(Layer("truth", "truth", "#ffffff", shown=True))
    has_reference = any(layer.kind == "truth" for layer in layers)
    if any(case.gold is not None for case in subject.dataset):
        layers.append(Layer("gold", "gold", GOLD_COLOUR, shown=True))
    if vote:
        layers.append(Layer("reference", "majority", "#ffffff", shown=True))
        has_reference = True
    first_network = next((each for each in subject.results if each.kind == "predictions"), None)
    for position, result in enumerate(subject.results):
        shown = result is first_network or (position == 0 and not has_reference)
        layers.append(Layer(result.kind, result.name, "#ffffff", dashes[position], shown))
    for network, rater in predicted_raters:
        colour = COLOURS[raters.index(rater) % len(COLOURS)] if rater in raters else "#ffffff"
        layers.append(Layer("predicted rater", rater, colour, (1, 3), result=network))
    return layers
