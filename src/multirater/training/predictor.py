"""A trained network applied to images: small ones together, large ones in windows.

Images are brought to the grid of the run, predictions back to the grid of each image. What is said
of a very large image is kept in a file, part by part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from math import prod
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import is_default, size_text
from multirater.training.budget import GB, amount, usual_budget
from multirater.training.case_prediction import (
    CasePrediction,
    Prediction,
    require_numbers,
    resized,
    turned_back,
)
from multirater.training.channels import Channels, Images, Mirrored, Steps, n_values, unpack
from multirater.training.confidences import confidence_vector
from multirater.training.data import grid_of
from multirater.training.finite import require_finite
from multirater.training.orientation import Turn, turn_to, turned_value
from multirater.training.paged import in_file, in_memory
from multirater.training.plan.room import PROCESS_BYTES
from multirater.training.resampling import resize_maps
from multirater.training.rows import Rows, predict_rows, rows_of
from multirater.training.run_folder import read_run
from multirater.training.samples import Grid, normalise
from multirater.training.spacings import are_alike
from multirater.types import Case, Geometry, Image
from multirater.words import counted

_WINDOW = 512
"""Side of the sliding window when a run has no patch size: larger images go through in parts."""

_BATCH_PIXELS = 2**16
"""Small images go through together up to this many pixels: no more memory than one of them takes
that has 256 x 256."""

_BATCH_VALUES = 2**25
"""And up to this many values that are said of them: 128 MB, however many raters are asked for."""

_OVERLAP = 0.25
"""Share of a window that its neighbour sees, too."""

_SHARE_OF_MAPS = 1 / 6
"""Share of the memory that what is said of an image may take before it is cut into parts."""


@dataclass(frozen=True, eq=False)
class _Request:
    case: Case
    geometry: Geometry
    image: NDArray[np.float32]
    raters: tuple[int, ...]
    space: tuple[int, ...]
    turn: Turn

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
        memory: int | None = None,
        trust_code: bool = False,
    ) -> None:
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
        (prediction,) = self._predictions([self._as_seen(image)], tuple(raters or ()))
        return prediction

    def weights_digest(self) -> str:
        """Return a digest of the network's weights, to notice when it is another."""
        found = hashlib.blake2b(digest_size=8)
        for name, value in self.network.state_dict().items():
            found.update(f"{name}\0{tuple(value.shape)}\0".encode())
            found.update(value.detach().cpu().float().numpy().tobytes())
        return found.hexdigest()

    def recurrences(self, image: Image) -> NDArray[np.float32]:
        """Return class probabilities after each recurrence, (n_steps, n_classes, *space).

        The last is what the network predicts; methods without recurrences have no other.

        Args:
            image: with the channels the network was trained on.
        """
        self._require_alike(image.array)
        turn = turn_to(self.config.orientation, image.geometry)
        seen = turned_value(image, turn)
        (found,) = self._run(Steps(self.network), self._grid_of(seen).prepared(seen)[None])
        found = turn.back.of(resize_maps(found, seen.space))
        steps = found.reshape(-1, len(self.data.classes), *found.shape[1:])
        return np.asarray(steps / steps.sum(1, keepdims=True))

    def of_cases(
        self,
        cases: Iterable[Case],
        raters: Callable[[Case], Sequence[int]],
    ) -> Iterator[CasePrediction]:
        """Predict for cases, in their order.

        Neighbours whose images have the same size, for the same raters, go through the network
        together.

        Args:
            cases: with images, which are read when their turn comes.
            raters: positions of the raters whose confusion matrices are wanted for a case.
        """
        requests = map(partial(self._request, raters=raters), cases)
        for (shape, wanted), alike in groupby(requests, key=lambda request: request.kind):
            while batch := list(islice(alike, self.batch_size(shape[1:], len(wanted)))):
                found = self._predictions([each.image for each in batch], wanted)
                for request, prediction in zip(batch, found, strict=True):
                    require_numbers(prediction.probability, request.case.name)
                    if self.data.kind == "masks":
                        prediction = turned_back(resized(prediction, request.space), request.turn)
                    yield CasePrediction(request.case, request.geometry, prediction)

    def _request(self, case: Case, raters: Callable[[Case], Sequence[int]]) -> _Request:
        prepared, image = self.prepared(case)
        turn = turn_to(self.config.orientation, image.geometry)
        space = turned_value(image, turn).space
        return _Request(case, image.geometry, prepared, tuple(raters(case)), space, turn)

    def prepared(self, case: Case) -> tuple[NDArray[np.float32], Image]:
        """Return the image of a case as the network sees it (channels, *space), and as it is."""
        image = case.read_image()
        if image is None:
            raise InputError(Fault("has no image", case=case.name))
        try:
            self._require_alike(image.array)
        except InputError as error:
            raise error.at(case=case.name) from None
        is_large = 4 * image.array.size > self.memory * _SHARE_OF_MAPS
        seen = turned_value(image, turn_to(self.config.orientation, image.geometry))
        room = in_file if is_large else in_memory
        try:
            return self._grid_of(seen).prepared(seen, room), image
        except InputError as error:
            raise error.at(case=case.name) from None

    def _grid_of(self, image: Image) -> Grid:
        """Return the grid that an image is brought to: its own, if it is like those learned from.

        A network that has only seen one spacing would take twice as fine pixels for objects of
        twice the size.
        """
        learned, own = self.data.spacing, image.geometry
        if self.grid.spacing or not learned or is_default(own) or are_alike(learned, own.spacing):
            return self.grid
        return replace(self.grid, spacing=learned)

    def of_windows(
        self, windows: Sequence[NDArray[np.float32]], raters: tuple[int, ...]
    ) -> list[Prediction]:
        """Predict windows (channels, *window) of prepared images, all of one size.

        Args:
            windows: no larger than `window` says.
            raters: positions of the raters whose drawings are wanted.
        """
        return self._predictions(windows, raters)

    def window(self, space: Sequence[int]) -> tuple[int, ...]:
        """Return how much of an image the network sees at a time; one slice at most, of slices."""
        if self.config.view != "slices":
            return tuple(map(min, self._window(space), space))
        return (1, *map(min, self._window(space[1:]), space[1:]))

    def _as_seen(self, image: NDArray[np.generic]) -> NDArray[np.float32]:
        """Return an array, of which no spacing is known, as the network sees it."""
        self._require_alike(image)
        array = np.asarray(image)
        if self.data.kind == "classes":
            array = resize_maps(array, self.data.space)
        return normalise(array, self.config.normalisation)

    def _require_alike(self, image: NDArray[np.generic]) -> None:
        require_finite(image)
        if len(image) != self.data.n_channels:
            raise InputError(_other_channels(image, self.data.n_channels))
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
    ) -> list[Prediction]:
        """Run the network on images of one size."""
        network: Images = Channels(self.network, raters, self.confidence)
        if self.mirrored:
            network = Mirrored(network, self.mirrored)
        if len(images) == 1 and (parts := self._parts(images[0].shape[1:], len(raters))):
            image, n_classes = images[0], len(self.data.classes)

            def predict(rows: Rows) -> Prediction:
                output = self._run(network, image[None, :, rows.first : rows.last])[0]
                return unpack(output[:, rows.within], n_classes, len(raters))

            return [predict_rows(image, parts, predict)]
        output = self._run(network, np.stack(images))
        return [unpack(each, len(self.data.classes), len(raters)) for each in output]

    def _parts(self, space: Sequence[int], n_raters: int) -> list[Rows]:
        """Cut an image that is too large to hold all that is said of it: rows of it at a time."""
        if self.data.kind == "classes":
            return []
        room = self.memory * _SHARE_OF_MAPS
        per_pixel = 3 * self._n_values(n_raters) + self.data.n_channels
        per_row = 4 * prod(space[1:]) * per_pixel
        if per_row * space[0] <= room:
            return []
        edge = 0 if self.config.view == "slices" else self._window(space)[0] // 2
        return rows_of(space[0], max(int(room // per_row) - 2 * edge, edge, 1), edge)

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

    def _run(self, network: Images, images: NDArray[np.float32]) -> NDArray[np.float32]:
        """Run a network that gives channels on images (B, channels, *space)."""
        batch = torch.from_numpy(images).to(next(self.network.parameters()).dtype)
        with torch.inference_mode():
            if self.data.kind == "classes":
                output = network(batch)
            elif self.config.view == "slices":
                output = self._sliced(network, batch)
            else:
                output = self._windowed(network, batch)
        return np.asarray(output.numpy())

    def _sliced(self, network: Images, volumes: Tensor) -> Tensor:
        """Run a 2-D network over the slices of (B, channels, *space), along the first axis."""
        slices = volumes.transpose(1, 2).flatten(0, 1)
        several = self.batch_size(slices.shape[2:], len(network.raters))
        parts = slices.split(several)  # type: ignore[no-untyped-call]
        output = torch.cat([self._windowed(network, part) for part in parts])
        return output.reshape(len(volumes), -1, *output.shape[1:]).transpose(1, 2)

    def _windowed(self, network: Images, images: Tensor) -> Tensor:
        """Run the network over (B, channels, *space) in windows, within bounded memory."""
        from monai.inferers import sliding_window_inference

        space = images.shape[2:]
        window = self._window(space)
        if all(size <= part for size, part in zip(space, window, strict=True)):
            return network(images)  # type: ignore[no-any-return]
        return sliding_window_inference(  # type: ignore[no-any-return]
            images,
            window,
            sw_batch_size=self.batch_size(window, len(network.raters)),
            predictor=network,
            overlap=_OVERLAP,
            mode="gaussian",
        )

    def _window(self, space: Sequence[int]) -> tuple[int, ...]:
        return self.config.patch or tuple(min(size, _WINDOW) for size in space)

    def _n_values(self, n_raters: int) -> int:
        return n_values(len(self.data.classes), n_raters)

    def batch_size(self, space: Sequence[int], n_raters: int) -> int:
        """How many images of a size go through the network together."""
        n_pixels = max(1, prod(space))
        n_values = n_pixels * self._n_values(n_raters)
        return max(1, min(_BATCH_PIXELS // n_pixels, _BATCH_VALUES // n_values))


def _other_channels(image: NDArray[np.generic], n_channels: int) -> Fault:
    """Say that an image (channels, *space), or a vector of features, has others than trained on."""
    thing, fix = "feature", "give the features that the network was trained on"
    if image.ndim > 1:
        thing = "channel"
        fix = (
            "save the images as those that the network was trained on (grey, colours, modalities; "
            "without transparency), or train on images such as these"
        )
    return Fault(f"{counted(len(image), thing)}", f"{n_channels}, as in training", fix)


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
