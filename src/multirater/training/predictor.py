"""A trained network applied to images: small ones together, large ones in windows.

Images are brought to the grid of the run, predictions back to the grid of each image. What is said
of a very large image is kept in a file, part by part.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from math import prod
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.nn.rater_network import RaterNetwork
from multirater.progress import track
from multirater.training.budget import GB, amount, usual_budget
from multirater.training.data import grid_of
from multirater.training.paged import in_file, in_memory, let_go
from multirater.training.plan.room import PROCESS_BYTES
from multirater.training.resampling import resize_labels, resize_maps
from multirater.training.run_folder import read_run
from multirater.training.samples import normalise, require_finite
from multirater.types import Case, Geometry, Image
from multirater.words import listed

_WINDOW = 512
"""Side of the sliding window when a run has no patch size: larger images go through in parts."""

_BATCH_PIXELS = 2**16
"""Small images go through together up to this many pixels: no more memory than one of them takes
that has 256 x 256."""

_BATCH_VALUES = 2**25
"""And up to this many values that are said of them: 128 MB, however many raters are asked for."""


_ROWS = 64
_SHARE_OF_MAPS = 1 / 6
"""Share of the memory that what is said of an image may take before it is cut into parts."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a network says of one image.

    Attributes:
        probability: of the truth, float32 (n_classes, *space).
        drawn: probability of what each rater asked for would draw, float32 (n_raters, n_classes,
            *space); None when not asked for or when the method knows nothing of raters.
        confusion: matrices, float32 (n_raters, true, observed, *space); None when there are none.
    """

    probability: NDArray[np.float32]
    drawn: NDArray[np.float32] | None = None
    confusion: NDArray[np.float32] | None = None

    @property
    def label(self) -> NDArray[np.int16]:
        """Most probable class, (*space)."""
        return most_probable(self.probability)

    def rater_label(self, rater: int) -> NDArray[np.int16]:
        """Return what a rater would have drawn, (*space); the truth when nothing else is known."""
        return self.label if self.drawn is None else most_probable(self.drawn[rater])


def most_probable(probability: NDArray[np.float32]) -> NDArray[np.int16]:
    """Return the class (*space) that is most probable of (n_classes, *space), part by part."""
    if probability.ndim == 1:
        return np.asarray(probability.argmax(0), dtype=np.int16)
    label = np.empty(probability.shape[1:], dtype=np.int16)
    for start in range(0, len(label), _ROWS):
        label[start : start + _ROWS] = probability[:, start : start + _ROWS].argmax(0)
        let_go(probability)
    return label


@dataclass(frozen=True, eq=False)
class CasePrediction:
    """A case with its prediction, in the geometry of its image."""

    case: Case
    geometry: Geometry
    prediction: Prediction


@dataclass(frozen=True, eq=False)
class _Request:
    case: Case
    geometry: Geometry
    image: NDArray[np.float32]
    raters: tuple[int, ...]
    space: tuple[int, ...]
    near: NDArray[np.bool_] | None

    @property
    def kind(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the images of a batch have in common: their shape, and the raters asked for."""
        return self.image.shape, self.raters


class Predictor:
    """A trained network, ready for images of any size.

    Args:
        folder: of the run.
        confidences: in the raters by name, from 0 to 1, for methods that follow them (prism,
            mrnet); those that are not named have none. By default the method finds its own.
        tta: average over mirrored copies of every image.
        overlap: share of a window that its neighbour sees, too; without any, large images take
            half the time, volumes less than half, and borders of windows may show.
        memory: budget in bytes; that of the run when not given.
        trust_code: whether the run may bring a backbone of its own, which is code that is run.

    Example:
        predictor = Predictor("run")
        predictor(image.array).label
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        confidences: Mapping[str, float] | None = None,
        tta: bool = False,
        overlap: float = 0.25,
        memory: int | None = None,
        trust_code: bool = False,
    ) -> None:
        self.overlap = overlap
        self.config, self.data, self.network = read_run(folder, trust_code=trust_code)
        self.confidence = confidence_vector(confidences, self.data.raters) if confidences else None
        self.grid = grid_of(self.config)
        self.memory = memory or self.config.memory or usual_budget()
        self.mirrored = self._mirrored_axes() if tta else []
        if memory is not None:
            _require_room(memory)

    def __call__(
        self, image: NDArray[np.generic], *, raters: Sequence[int] | None = None
    ) -> Prediction:
        """Predict for an image (channels, *space).

        Args:
            image: with the channels the network was trained on.
            raters: positions of the raters whose confusion matrices are wanted.
        """
        (prediction,) = self._predictions([self._prepared(image)], tuple(raters or ()))
        return prediction

    def recurrences(self, image: Image) -> NDArray[np.float32]:
        """Return class probabilities after each recurrence, (n_steps, n_classes, *space).

        The last is what the network predicts; methods without recurrences have no other.

        Args:
            image: with the channels the network was trained on.
        """
        self._require_alike(image.array)
        (found,) = self._run(_Steps(self.network), self.grid.prepared(image)[None])
        found = resize_maps(found, image.space)
        steps = found.reshape(-1, len(self.data.classes), *found.shape[1:])
        return np.asarray(steps / steps.sum(1, keepdims=True))

    def of_cases(
        self,
        cases: Iterable[Case],
        raters: Callable[[Case], Sequence[int]],
        near: Callable[[Case], NDArray[np.bool_]] | None = None,
    ) -> Iterator[CasePrediction]:
        """Predict for cases, in their order.

        Neighbours whose images have the same size, for the same raters, go through the network
        together.

        Args:
            cases: with images, which are read when their turn comes.
            raters: positions of the raters whose confusion matrices are wanted for a case.
            near: pixels of a case, (*space): where a large image is cut into windows, those
                without any of them are taken for background unseen. All are seen when not given.
        """
        requests = map(partial(self._request, raters=raters, near=near), cases)
        for (shape, wanted), alike in groupby(requests, key=lambda request: request.kind):
            while batch := list(islice(alike, self._batch_size(shape[1:], len(wanted)))):
                found = self._predictions([each.image for each in batch], wanted, batch[0].near)
                for request, prediction in zip(batch, found, strict=True):
                    _require_numbers(prediction.probability, request.case.name)
                    own = self._on_own_grid(prediction, request.space)
                    yield CasePrediction(request.case, request.geometry, own)

    def _request(
        self,
        case: Case,
        raters: Callable[[Case], Sequence[int]],
        near: Callable[[Case], NDArray[np.bool_]] | None,
    ) -> _Request:
        image = case.read_image()
        if image is None:
            raise InputError(Fault("has no image", case=case.name))
        try:
            self._require_alike(image.array)
        except InputError as error:
            raise error.at(case=case.name) from None
        is_large = 4 * image.array.size > self.memory * _SHARE_OF_MAPS
        prepared = self.grid.prepared(image, in_file if is_large else in_memory)
        wanted, space = tuple(raters(case)), prepared.shape[1:]
        pixels = None
        if near is not None and not wanted and self._batch_size(space, 0) == 1:
            pixels = resize_labels(near(case)[None].astype(np.int16), space)[0] > 0
        return _Request(case, image.geometry, prepared, wanted, image.space, pixels)

    def _prepared(self, image: NDArray[np.generic]) -> NDArray[np.float32]:
        """Return an array, of which no spacing is known, as the network sees it."""
        self._require_alike(image)
        array = np.asarray(image)
        if self.data.kind == "classes":
            array = resize_maps(array, self.data.space)
        return normalise(array, self.config.normalisation)

    def _require_alike(self, image: NDArray[np.generic]) -> None:
        require_finite(image)
        if len(image) != self.data.n_channels:
            raise InputError(
                Fault(f"{len(image)} channels", expected=f"{self.data.n_channels}, as in training")
            )
        wanted = 3 if self.config.view == "slices" else self.data.ndim
        if self.data.kind == "masks" and image.ndim - 1 != wanted:
            raise InputError(
                Fault(
                    f"image is {image.ndim - 1}-D, of size {size_text(image.shape[1:])}",
                    expected=f"{wanted}-D images, as in training",
                    fix="predict with a network that was trained on such images",
                )
            )
        if self.data.kind == "classes" and image.ndim - 1 != len(self.data.space):
            raise InputError(
                Fault(
                    f"image has size {size_text(image.shape[1:])}",
                    expected=f"{size_text(self.data.space)}, as in training",
                )
            )

    def _predictions(
        self,
        images: Sequence[NDArray[np.float32]],
        raters: tuple[int, ...],
        near: NDArray[np.bool_] | None = None,
    ) -> list[Prediction]:
        """Run the network on images of one size, or on windows of one that hold pixels `near`."""
        network: _Images = _Channels(self.network, raters, self.confidence)
        if self.mirrored:
            network = _Mirrored(network, self.mirrored)
        if len(images) == 1 and (parts := self._parts(images[0].shape[1:], len(raters))):
            return [self._in_parts(network, images[0], parts, near)]
        output = self._run(network, np.stack(images), near)
        return [self._unpack(each, len(raters)) for each in output]

    def _on_own_grid(self, prediction: Prediction, space: tuple[int, ...]) -> Prediction:
        """Bring what was predicted back to the size of an image."""
        if self.data.kind == "classes" or prediction.probability.shape[1:] == space:
            return prediction
        parts = (prediction.probability, prediction.drawn, prediction.confusion)
        return Prediction(*(None if part is None else _resized(part, space) for part in parts))  # type: ignore[arg-type]

    def _parts(self, space: Sequence[int], n_raters: int) -> list[_Part]:
        """Cut an image that is too large to hold all that is said of it: rows of it at a time."""
        if self.data.kind == "classes":
            return []
        room = self.memory * _SHARE_OF_MAPS
        per_row = 4 * prod(space[1:]) * (self._n_values(n_raters) * 3 + self.data.n_channels)
        if per_row * space[0] <= room:
            return []
        edge = 0 if self.config.view == "slices" else self._window(space)[0] // 2
        n_rows = max(int(room // per_row) - 2 * edge, edge, 1)
        return [
            _Part(start, min(start + n_rows, space[0]), max(start - edge, 0), start + n_rows + edge)
            for start in range(0, space[0], n_rows)
        ]

    def _in_parts(
        self,
        network: _Images,
        image: NDArray[np.float32],
        parts: Sequence[_Part],
        near: NDArray[np.bool_] | None,
    ) -> Prediction:
        """Predict rows of an image, with some beyond them; keep what is said in a file."""
        n_raters = len(network.raters)
        kept: list[NDArray[np.float32] | None] = []
        for part in track(parts, "parts of a large image", len(parts)):
            seen = None if near is None else near[part.first : part.last]
            output = self._run(network, image[None, :, part.first : part.last], seen)[0]
            rows = slice(part.start - part.first, part.end - part.first)
            found = self._unpack(output[:, rows], n_raters)
            maps = (found.probability, found.drawn, found.confusion)
            first = [0 if m is None else m.ndim - image.ndim + 1 for m in maps]
            kept = kept or [
                None if m is None else in_file(_taller(m.shape, axis, image.shape[1]))
                for m, axis in zip(maps, first, strict=True)
            ]
            for whole, own, axis in zip(kept, maps, first, strict=True):
                if whole is not None and own is not None:
                    whole[(slice(None),) * axis + (slice(part.start, part.end),)] = own
                    let_go(whole)
            let_go(image)
        return Prediction(*kept)  # type: ignore[arg-type]

    def _mirrored_axes(self) -> list[int]:
        """Return the axes to mirror; a network that never saw mirrored images is refused."""
        if self.data.kind == "classes" or not self.config.mirror:
            raise InputError(
                Fault(
                    "mirrored copies for a network that was trained without mirroring",
                    expected="a run on drawings, without --no-mirror",
                    fix="leave --tta out",
                )
            )
        return list(range(2, 2 + self.data.ndim))

    def _run(
        self,
        network: _Images,
        images: NDArray[np.float32],
        near: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float32]:
        """Run a network that gives channels on images (B, channels, *space)."""
        batch = torch.from_numpy(images).to(next(self.network.parameters()).dtype)
        with torch.inference_mode():
            if self.data.kind == "classes":
                output = network(batch)
            elif self.config.view == "slices":
                output = self._sliced(network, batch)
            else:
                output = self._windowed(network, batch, near)
        return np.asarray(output.numpy())

    def _sliced(self, network: _Images, volumes: Tensor) -> Tensor:
        """Run a 2-D network over the slices of (B, channels, *space), along the first axis."""
        slices = volumes.transpose(1, 2).flatten(0, 1)
        several = self._batch_size(slices.shape[2:], len(network.raters))
        parts = slices.split(several)  # type: ignore[no-untyped-call]
        output = torch.cat([self._windowed(network, part) for part in parts])
        return output.reshape(len(volumes), -1, *output.shape[1:]).transpose(1, 2)

    def _windowed(
        self, network: _Images, images: Tensor, near: NDArray[np.bool_] | None = None
    ) -> Tensor:
        """Run the network over (B, channels, *space) in windows, within bounded memory."""
        from monai.inferers import sliding_window_inference

        space = images.shape[2:]
        window = self._window(space)
        if all(size <= part for size, part in zip(space, window, strict=True)):
            return network(images)  # type: ignore[no-any-return]
        pixels = None if near is None else torch.from_numpy(near)[None, None].to(images.dtype)
        return sliding_window_inference(  # type: ignore[no-any-return]
            images,
            window,
            sw_batch_size=self._batch_size(window, len(network.raters)),
            predictor=network if near is None else _Near(network, len(self.data.classes)),
            **({} if pixels is None else {"condition": pixels}),
            overlap=self.overlap,
            mode="gaussian",
        )

    def _window(self, space: Sequence[int]) -> tuple[int, ...]:
        return self.config.patch or tuple(min(size, _WINDOW) for size in space)

    def _n_values(self, n_raters: int) -> int:
        """How many numbers are said of a pixel."""
        n_classes = len(self.data.classes)
        return n_classes * (1 + n_raters * (1 + n_classes))

    def _batch_size(self, space: Sequence[int], n_raters: int) -> int:
        """How many images of a size go through the network together."""
        n_pixels = max(1, prod(space))
        n_values = n_pixels * self._n_values(n_raters)
        return max(1, min(_BATCH_PIXELS // n_pixels, _BATCH_VALUES // n_values))

    def _unpack(self, output: NDArray[np.float32], n_raters: int) -> Prediction:
        """Undo `_Channels`; averages over windows are normalised again."""
        n_classes, space = len(self.data.classes), output.shape[1:]
        truth = output[:n_classes] / output[:n_classes].sum(0)
        rest = output[n_classes:]
        drawn = cm = None
        if len(rest):
            ends = n_raters * n_classes
            drawn = rest[:ends].reshape(n_raters, n_classes, *space)
            drawn = drawn / drawn.sum(1, keepdims=True)
        if len(rest) > n_raters * n_classes:
            cm = rest[ends:].reshape(n_raters, n_classes, n_classes, *space)
            cm = cm / cm.sum(2, keepdims=True)
        return Prediction(truth, drawn, cm)


def _require_numbers(probability: NDArray[np.float32], case: str) -> None:
    """Refuse an answer that is none: of probabilities that are NaN the first class would win."""
    if np.isfinite(probability.max() - probability.min()):  # NaN goes through both
        return
    raise InputError(
        Fault(
            "the network's answer is not a number",
            expected="probabilities",
            fix="look for extreme values in the image, or train again",
            case=case,
        )
    )


class _Images(nn.Module):
    """What a network says of images as channels, so that windows average them alike."""

    def __init__(self, network: RaterNetwork, raters: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.network = network
        self.raters = raters


class _Channels(_Images):
    """All outputs of a network."""

    def __init__(
        self, network: RaterNetwork, raters: tuple[int, ...], confidence: Tensor | None
    ) -> None:
        super().__init__(network, raters)
        self.confidence = confidence

    def forward(self, image: Tensor) -> Tensor:
        if self.confidence is None:
            found = self.network.outputs(image, self.raters)
        else:
            found = self.network.calibrated(image, self.confidence, self.raters)
        parts = [found.truth]
        if found.drawn is not None:
            parts.append(found.drawn.flatten(1, 2))
        if found.cm is not None:
            parts.append(found.cm.flatten(1, 3))
        return torch.cat(parts, dim=1)


class _Near(nn.Module):
    """Looks at windows that hold certain pixels; the others are background."""

    def __init__(self, inner: _Images, n_classes: int) -> None:
        super().__init__()
        self.inner = inner
        self.n_classes = n_classes

    def forward(self, image: Tensor, condition: Tensor) -> Tensor:
        found = image.new_zeros(len(image), self.n_classes, *image.shape[2:])
        found[:, 0] = 1.0
        is_near = condition.flatten(1).any(1)
        if is_near.any():
            found[is_near] = self.inner(image[is_near])
        return found


class _Mirrored(_Images):
    """The mean over an image and its mirrored copies."""

    def __init__(self, inner: _Images, axes: Sequence[int]) -> None:
        super().__init__(inner.network, inner.raters)
        self.inner = inner
        self.turns = [
            turn for n in range(len(axes) + 1) for turn in itertools.combinations(axes, n)
        ]

    def forward(self, image: Tensor) -> Tensor:
        total: Tensor = self.inner(image)
        for turn in self.turns[1:]:
            total = total + self.inner(image.flip(turn)).flip(turn)
        return total / len(self.turns)


@dataclass(frozen=True)
class _Part:
    """Rows of an image to predict, from `start` to `end`, and which are looked at for them."""

    start: int
    end: int
    first: int
    last: int


def _taller(shape: tuple[int, ...], axis: int, n_rows: int) -> tuple[int, ...]:
    """Return the shape of maps of all rows of an image."""
    return (*shape[:axis], n_rows, *shape[axis + 1 :])


def _resized(maps: NDArray[np.float32], space: tuple[int, ...]) -> NDArray[np.float32]:
    """Bring maps (..., *space) to another size, one after the other; probabilities stay such."""
    n_axes = len(space)
    before = maps.shape[:-n_axes]
    found = np.empty((*before, *space), dtype=np.float32)
    for place in np.ndindex(*before):
        found[place] = resize_maps(maps[place][None], space)[0]
    return found


def _require_room(memory: int) -> None:
    least = PROCESS_BYTES + GB // 4
    if memory < least:
        raise InputError(
            Fault(
                f"a budget of {amount(memory)} is too small to predict",
                expected=f"at least {amount(least)}",
                fix="give more --memory",
            )
        )


class _Steps(_Images):
    """The truth after each recurrence."""

    def forward(self, image: Tensor) -> Tensor:
        return torch.cat([found.truth for found in self.network.steps(image)], dim=1)


def confidence_vector(confidences: Mapping[str, float], raters: Sequence[str]) -> Tensor:
    """Return confidences (n_raters,) in the order of the raters; 0 for those not named.

    Example:
        >>> confidence_vector({"bert": 0.8}, ["anna", "bert"])
        tensor([0.0000, 0.8000])
    """
    unknown = [name for name in confidences if name not in raters]
    if unknown:
        raise InputError(
            Fault(f"confidence in {unknown[0]!r}", expected=f"one of {listed(list(raters))}")
        )
    wrong = {name: value for name, value in confidences.items() if not 0 <= value <= 1}
    if wrong or not any(confidences.values()):
        name, value = next(iter((wrong or confidences).items()))
        raise InputError(
            Fault(f"confidence {value:g} in {name}", expected="0 to 1, and more than 0 in somebody")
        )
    return torch.tensor([float(confidences.get(rater, 0.0)) for rater in raters])
