"""What a finished network says of its cases, pixel by pixel, beside what raters drew.

Small images are looked at whole. Of large ones some windows are, which stand for the others: to
predict a volume whole would take as long as a good part of the training, and counts of pixels are
the same in a tenth of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.patterns import encode_patterns
from multirater.training.case_prediction import Prediction, require_numbers
from multirater.training.orientation import turn_to
from multirater.training.predictor import Predictor
from multirater.training.resampling import resize_labels
from multirater.training.windows import Window, chosen_windows, most_windows, windows_of
from multirater.types import MISSING, Case

Label: TypeAlias = NDArray[np.int16]
Whole: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Example:
    """A part of a case in which somebody drew: the image (channels, *space), labels and answer."""

    image: NDArray[np.float32]
    labels: dict[str, Label]
    answer: Label


@dataclass(frozen=True, eq=False)
class Seen:
    """Pixels of a case.

    Attributes:
        case: whose they are.
        probability: of the truth, (n_classes, n_pixels).
        heads: what the raters asked would draw, (n_asked, n_pixels); None where none was asked.
        labels: by rater, (n_pixels,).
        weight: how many pixels of the case each stands for, (n_pixels,).
        whole: patterns of labels in the whole case, as they were read: (n_rows, n_raters), -1 where
            missing, and how many pixels carry each.
        example: one part of it.
        other: a label given beside the raters', (n_pixels,), if any.
    """

    case: Case
    probability: NDArray[np.float32]
    heads: Label | None
    labels: dict[str, Label]
    weight: NDArray[np.float64]
    whole: Whole
    example: Example
    other: Label | None = None


def look_at(
    predictor: Predictor,
    cases: Sequence[Case],
    raters: Sequence[str],
    asked: Callable[[Case], Sequence[int]],
    other: Callable[[Case], Label | None] = lambda _: None,
) -> Iterator[Seen]:
    """Look at cases, in their order; windows of one size go through the network together.

    Args:
        predictor: the network.
        cases: with images and labels.
        raters: in the order of patterns.
        asked: positions of the raters whose drawings are predicted for a case.
        other: a label of a case to be looked at beside those of its raters, (*space).
    """
    look = _Looker(predictor, tuple(raters), len(cases))
    opened = (look.open(case, tuple(asked(case)), other(case)) for case in cases)
    parts = chain.from_iterable(each.parts() for each in opened)
    for (shape, wanted), alike in groupby(parts, key=lambda part: part.kind):
        while batch := list(islice(alike, predictor.batch_size(shape[1:], len(wanted)))):
            found = predictor.of_windows([part.image for part in batch], wanted)
            for part, prediction in zip(batch, found, strict=True):
                part.keep(prediction)
                if part.is_last:
                    yield part.case.seen()
                    part.case.close()


@dataclass(eq=False)
class _Opened:
    """A case that is being looked at."""

    case: Case
    image: NDArray[np.float32]
    asked: tuple[int, ...]
    whole: Whole
    labels: dict[str, Label]
    other: Label | None
    chosen: list[tuple[Window, float]]
    found: list[tuple[Window, float, NDArray[np.float32], Label | None]] = field(
        default_factory=list
    )
    example: Example | None = None

    def parts(self) -> Iterator[_Part]:
        last = len(self.chosen) - 1
        for number, (window, weight) in enumerate(self.chosen):
            yield _Part(self, window, weight, number == last)

    def seen(self) -> Seen:
        """Put together what was found."""
        assert self.example is not None
        weight = [np.full(each[2].shape[1], each[1]) for each in self.found]
        heads = [each[3] for each in self.found if each[3] is not None]
        return Seen(
            self.case,
            np.concatenate([each[2] for each in self.found], axis=1),
            np.concatenate(heads, axis=1) if heads else None,
            {rater: self._pixels(label) for rater, label in self.labels.items()},
            np.concatenate(weight),
            self.whole,
            self.example,
            None if self.other is None else self._pixels(self.other),
        )

    def close(self) -> None:
        """Let go of what was read, before the next case is."""
        self.image = self.image[:, :0]
        self.labels, self.other, self.example = {}, None, None
        self.found.clear()

    def _pixels(self, label: Label) -> Label:
        return np.concatenate([label[w.seen][w.counted].ravel() for w, *_ in self.found])


@dataclass(frozen=True, eq=False)
class _Part:
    case: _Opened
    window: Window
    weight: float
    is_last: bool

    @property
    def image(self) -> NDArray[np.float32]:
        return self.case.image[(slice(None), *self.window.seen)]

    @property
    def kind(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What windows of a batch have in common."""
        return self.image.shape, self.case.asked

    def keep(self, prediction: Prediction) -> None:
        """Keep what was said of the window; the first window is an example of the case."""
        require_numbers(prediction.probability, self.case.case.name)
        if self.case.example is None:
            labels = {rater: own[self.window.seen] for rater, own in self.case.labels.items()}
            self.case.example = Example(self.image, labels, prediction.label)
        own = (slice(None), *self.window.counted)
        probability = prediction.probability[own].reshape(len(prediction.probability), -1)
        heads = None
        if prediction.drawn is not None:
            said = prediction.drawn.argmax(1).astype(np.int16)
            heads = said[own].reshape(len(said), -1)
        self.case.found.append((self.window, self.weight, probability, heads))


@dataclass(frozen=True)
class _Looker:
    predictor: Predictor
    raters: tuple[str, ...]
    n_cases: int

    def open(self, case: Case, asked: tuple[int, ...], other: Label | None) -> _Opened:
        """Read a case and choose its windows."""
        image, given = self.predictor.prepared(case)
        turn = turn_to(self.predictor.config.orientation, given.geometry)
        space = image.shape[1:]
        own = {rater: turn.of(case.read_label(rater).array) for rater in case.labels}
        absent = np.broadcast_to(np.int16(MISSING), next(iter(own.values())).shape)
        found = encode_patterns([own.get(rater, absent) for rater in self.raters])
        labels = {rater: resize_labels(own.pop(rater)[None], space)[0] for rater in list(own)}
        size = self.predictor.window(space)
        windows = windows_of(space, size)
        near = [any((label[w.seen] > 0).any() for label in labels.values()) for w in windows]
        most = most_windows(self.predictor.config, self.n_cases, size)
        chosen = chosen_windows(np.array(near), most, np.random.default_rng(0))
        served = None if other is None else resize_labels(turn.of(other)[None], space)[0]
        taken = [(windows[number], weight) for number, weight in chosen]
        return _Opened(case, image, asked, (found.rows, found.counts), labels, served, taken)
