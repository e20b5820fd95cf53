"""A trained network applied to images: small ones together, large ones in windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
from multirater.io.grid import size_text
from multirater.nn.rater_network import RaterNetwork
from multirater.training.run import read_run
from multirater.training.samples import normalise
from multirater.types import Case, Geometry

_WINDOW = 512
"""Side of the sliding window when a run has no patch size: larger images go through in parts."""

_BATCH_PIXELS = 2**16
"""Small images go through together up to this many pixels: no more memory than one of them takes
that has 256 x 256."""

_BATCH_VALUES = 2**25
"""And up to this many values that are said of them: 128 MB, however many raters are asked for."""


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
        return np.asarray(self.probability.argmax(0), dtype=np.int16)

    def rater_label(self, rater: int) -> NDArray[np.int16]:
        """Return what a rater would have drawn, (*space); the truth when nothing else is known."""
        return (
            self.label if self.drawn is None else np.asarray(self.drawn[rater].argmax(0), np.int16)
        )


@dataclass(frozen=True, eq=False)
class PredictedCase:
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

    @property
    def kind(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the images of a batch have in common: their shape, and the raters asked for."""
        return self.image.shape, self.raters


class Predictor:
    """A trained network, ready for images of any size.

    Args:
        folder: of the run.

    Example:
        predictor = Predictor("run")
        predictor(image.array).label
    """

    def __init__(self, folder: str | Path) -> None:
        self.config, self.data, self.network = read_run(folder)

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

    def of_cases(
        self, cases: Iterable[Case], raters: Callable[[Case], Sequence[int]]
    ) -> Iterator[PredictedCase]:
        """Predict for cases, in their order.

        Neighbours whose images have the same size, for the same raters, go through the network
        together.

        Args:
            cases: with images, which are read when their turn comes.
            raters: positions of the raters whose confusion matrices are wanted for a case.
        """
        requests = map(partial(self._request, raters=raters), cases)
        for (shape, wanted), alike in groupby(requests, key=lambda request: request.kind):
            while batch := list(islice(alike, self._batch_size(shape[1:], len(wanted)))):
                found = self._predictions([request.image for request in batch], wanted)
                for request, prediction in zip(batch, found, strict=True):
                    yield PredictedCase(request.case, request.geometry, prediction)

    def _request(self, case: Case, raters: Callable[[Case], Sequence[int]]) -> _Request:
        image = case.read_image()
        if image is None:
            raise InputError(Fault("has no image", case=case.name))
        try:
            prepared = self._prepared(image.array)
        except InputError as error:
            raise error.at(case=case.name) from None
        return _Request(case, image.geometry, prepared, tuple(raters(case)))

    def _prepared(self, image: NDArray[np.generic]) -> NDArray[np.float32]:
        if len(image) != self.data.n_channels:
            raise InputError(
                Fault(f"{len(image)} channels", expected=f"{self.data.n_channels}, as in training")
            )
        if self.data.kind == "classes" and image.shape[1:] != self.data.space:
            raise InputError(
                Fault(
                    f"image has size {size_text(image.shape[1:])}",
                    expected=f"{size_text(self.data.space)}, as in training",
                    fix="bring the image to this size, by resizing or padding",
                )
            )
        return normalise(np.asarray(image))

    def _predictions(
        self, images: Sequence[NDArray[np.float32]], raters: tuple[int, ...]
    ) -> list[Prediction]:
        """Run the network on images of one size."""
        network = _Channels(self.network, raters)
        batch = torch.from_numpy(np.stack(images))
        with torch.inference_mode():
            if self.data.kind == "classes":
                output = network(batch)
            elif self.config.view == "slices":
                output = self._sliced(network, batch)
            else:
                output = self._windowed(network, batch)
        return [self._unpack(each, len(raters)) for each in output.numpy()]

    def _sliced(self, network: _Channels, volumes: Tensor) -> Tensor:
        """Run a 2-D network over the slices of (B, channels, *space), along the first axis."""
        slices = volumes.transpose(1, 2).flatten(0, 1)
        several = self._batch_size(slices.shape[2:], len(network.raters))
        parts = slices.split(several)  # type: ignore[no-untyped-call]
        output = torch.cat([self._windowed(network, part) for part in parts])
        return output.reshape(len(volumes), -1, *output.shape[1:]).transpose(1, 2)

    def _windowed(self, network: _Channels, images: Tensor) -> Tensor:
        """Run the network over (B, channels, *space) in windows, within bounded memory."""
        from monai.inferers import sliding_window_inference

        space = images.shape[2:]
        window = self.config.patch or tuple(min(size, _WINDOW) for size in space)
        if all(size <= part for size, part in zip(space, window, strict=True)):
            return network(images)  # type: ignore[no-any-return]
        return sliding_window_inference(  # type: ignore[no-any-return]
            images,
            window,
            sw_batch_size=self._batch_size(window, len(network.raters)),
            predictor=network,
            overlap=0.25,
            mode="gaussian",
        )

    def _batch_size(self, space: Sequence[int], n_raters: int) -> int:
        """How many images of a size go through the network together."""
        n_classes, n_pixels = len(self.data.classes), max(1, prod(space))
        n_values = n_pixels * n_classes * (1 + n_raters * (1 + n_classes))
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


class _Channels(nn.Module):
    """All outputs of a network as channels, so that windows average them alike."""

    def __init__(self, network: RaterNetwork, raters: tuple[int, ...]) -> None:
        super().__init__()
        self.network = network
        self.raters = raters

    def forward(self, image: Tensor) -> Tensor:
        found = self.network.outputs(image, self.raters)
        parts = [found.truth]
        if found.drawn is not None:
            parts.append(found.drawn.flatten(1, 2))
        if found.cm is not None:
            parts.append(found.cm.flatten(1, 3))
        return torch.cat(parts, dim=1)
