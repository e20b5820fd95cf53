"""One case as the page reads it: pictures, outlines and maps, in plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.evaluation.predictions import PredictedCase, Predictions
from multirater.io import read_image
from multirater.io.formats.suffixes import suffix_of
from multirater.patterns import encode_patterns
from multirater.report.layers import Layer, layers_of
from multirater.report.pictures import as_shades, encode_picture
from multirater.report.planes import Plane, planes_of
from multirater.report.reference import Reference, held_to_gold, vote
from multirater.report.run_lengths import encode_runs
from multirater.report.subject import Result, Subject
from multirater.types import MISSING, Case, Classes, Geometry, Image

MOST_SLICES = 32
"""Slices of a volume that are shown in each of three views; of more, an even choice."""

_MAP_SIDE = 128
"""Maps of probabilities are smooth: they are stored no larger than this, and in so many steps."""

_MAP_STEPS = 31

_PICTURE_BYTES = 400_000
"""A picture needs no more than this, however much room there is."""


@dataclass(frozen=True, eq=False)
class CaseEncoder:
    """Encodes cases one at a time.

    Attributes:
        subject: of the report.
        classes: of its data set.
        reference: what raters are measured against.
        layers: the outlines, in the order of stored columns.
        opened: what each result predicts, by its name.
        entropy: files of entropy maps by result and case file name.
        most_bytes: of one case on the page, about.
    """

    subject: Subject
    classes: Classes
    reference: Reference
    layers: tuple[Layer, ...]
    opened: Mapping[str, Predictions]
    entropy: Mapping[str, Mapping[str, Path]]
    most_bytes: int

    def encode(self, case: Case) -> dict[str, Any]:
        """Return pictures, label columns and maps of a case, ready for JSON."""
        image = case.read_image()
        columns = self._columns(case)
        drawn = [each for each in columns if each is not None and each.ndim]
        space = drawn[0].shape if drawn else () if image is None else image.space
        shades = None
        if image is not None and image.space:  # features make no picture
            shades = as_shades(image.array)
        geometry = _geometry(case, image)
        if len(space) != 3:
            size = _size(geometry, space)
            return {"name": case.name, **size, **self._view(case, columns, shades, space, 1, True)}
        views = []
        for number, plane in enumerate(planes_of(geometry)):
            turned = [None if each is None else plane.turned(each) for each in columns]
            seen = None if shades is None else [_turned(channel, plane) for channel in shades]
            across = tuple(space[axis] for axis in plane.axes)
            # Maps of networks are stored along the first axis only: they take most of the room.
            view = self._view(case, turned, seen, across, 3, with_maps=number == 0)
            size = {"height": across[1], "width": across[2], "depth": across[0]}
            views.append({"view": plane.name, **size, "aspect": plane.aspect, **view})
        return {"name": case.name, **views[0], "views": views[1:]}

    def _view(
        self,
        case: Case,
        columns: Sequence[NDArray[Any] | None],
        shades: list[NDArray[np.uint8]] | None,
        space: tuple[int, ...],
        n_views: int,
        with_maps: bool,
    ) -> dict[str, Any]:
        """Encode one view, which has its share of the room: arrays are turned already."""
        drawn = [each for each in columns if each is not None and each.ndim]
        slices = choose_slices(drawn, space)
        found: dict[str, Any] = {"slices": slices, "start": 0}
        room = self.most_bytes // n_views
        if drawn:
            absent = np.broadcast_to(np.int16(MISSING), space)
            stack = np.stack([_slices(absent if c is None else c, slices) for c in columns])
            found |= _patterns(stack, room * 6 // 10)
            found["start"] = _first_shown(stack, len(self.subject.dataset.raters))
            found["maps"] = self._maps(case, space, slices) if with_maps else []
            texts = [*found["runs"], *(part for each in found["maps"] for part in each["runs"])]
            room -= sum(map(len, texts))
        else:
            found["answers"] = [MISSING if each is None else int(each) for each in columns]
        if shades is not None:
            found["pictures"] = _pictures(shades, slices, room, n_axes=len(space))
        return found

    def _columns(self, case: Case) -> list[NDArray[Any] | None]:
        """Read every layer's label of a case; nothing where there is none."""
        raters = [
            case.read_label(rater).array if rater in case.labels else None
            for rater in self.subject.dataset.raters
        ]
        columns: list[NDArray[Any] | None] = list(raters)
        for layer in self.layers[len(raters) :]:
            columns.append(self._column(layer, case, raters))
        shapes = {each.shape for each in columns if each is not None}
        if len(shapes) > 1:  # results of another grid cannot be drawn on this one
            own = next(each.shape for each in columns if each is not None)
            columns = [c if c is not None and c.shape == own else None for c in columns]
        return columns

    def _column(
        self, layer: Layer, case: Case, raters: Sequence[NDArray[Any] | None]
    ) -> NDArray[Any] | None:
        if layer.kind == "truth":
            truth = case.read_truth()
            return None if truth is None else truth.array
        if layer.kind == "gold":
            gold = case.read_gold()
            return None if gold is None else gold.array
        if layer.kind == "reference":
            given = [each for each in raters if each is not None]
            voted = vote(np.stack(given), len(self.classes)) if given else None
            return held_to_gold(case, voted)
        predicted = self._predicted(layer.result or layer.name, case)
        if predicted is None:
            return None
        if layer.kind == "predicted rater":
            source = predicted.raters.get(layer.name)
            return None if source is None else source.read().array
        return predicted.label.read().array

    def _predicted(self, result: str, case: Case) -> PredictedCase | None:
        return self.opened[result].cases.get(case.name)

    def _maps(
        self, case: Case, space: tuple[int, ...], slices: Sequence[int]
    ) -> list[dict[str, Any]]:
        """Entropy and confusion maps of the networks, as far as they were written."""
        maps: list[dict[str, Any]] = []
        for result in self.subject.results:
            predicted = self._predicted(result.name, case)
            if predicted is None or result.kind != "predictions":
                continue
            file = self.entropy[result.name].get(_stem(predicted))
            if file is not None:
                entropy = read_image(file, ndim=len(space)).array[0] / math.log(len(self.classes))
                maps.append(_map(f"entropy of {result.name}", entropy, slices))
            for rater in predicted.confusion:
                maps += self._confusion_maps(result, predicted, rater, space, slices)
        return maps

    def _confusion_maps(
        self,
        result: Result,
        predicted: PredictedCase,
        rater: str,
        space: tuple[int, ...],
        slices: Sequence[int],
    ) -> list[dict[str, Any]]:
        cm, names = predicted.read_confusion(rater, space), self.classes.names
        if len(names) == 2:
            return [
                _map(f"{rater}: draws {names[o]} for {names[t]} ({result.name})", cm[t, o], slices)
                for t, o in ((1, 0), (0, 1))
            ]
        label = np.maximum(predicted.label.read().array, 0)
        right = np.take_along_axis(np.einsum("tt...->t...", cm), label[None], axis=0)[0]
        return [_map(f"{rater}: chance of an error ({result.name})", 1 - right, slices)]


def make_encoder(
    subject: Subject,
    classes: Classes,
    reference: Reference,
    opened: Mapping[str, Predictions],
    most_bytes: int,
) -> CaseEncoder:
    """Find everything that can be drawn on the cases of a subject.

    Args:
        subject: of the report.
        classes: of its data set.
        reference: what raters are measured against.
        opened: what each result says, by its name.
        most_bytes: of one case, about.
    """
    drawn = [
        (name, rater)
        for name, found in opened.items()
        for rater in dict.fromkeys(r for case in found.cases.values() for r in case.raters)
    ]
    return CaseEncoder(
        subject,
        classes,
        reference,
        tuple(layers_of(subject, drawn, vote=reference.kind == "vote")),
        opened,
        {result.name: _entropy_files(result) for result in subject.results},
        most_bytes,
    )


def choose_slices(drawn: Sequence[NDArray[Any]], space: tuple[int, ...]) -> list[int]:
    """Choose the slices of a volume to show: where anybody drew, and a little around.

    Args:
        drawn: label maps (*space).
        space: anything but a volume has one slice.

    Example:
        >>> label = np.zeros((9, 4, 4), int); label[4] = 1
        >>> choose_slices([label], label.shape)
        [2, 3, 4, 5, 6]
    """
    if len(space) != 3:
        return [0]
    depth = space[0]
    hits = [np.flatnonzero((label > 0).any((1, 2))) for label in drawn]
    used = np.concatenate([*hits, np.empty(0, dtype=np.intp)])
    first, last = 0, depth
    if len(used):
        first, last = max(int(used.min()) - 2, 0), min(int(used.max()) + 3, depth)
    if last - first <= MOST_SLICES:
        return list(range(first, last))
    even = np.linspace(first, last - 1, MOST_SLICES).round().astype(int)
    return [int(each) for each in even]


def _turned(shades: NDArray[np.uint8], plane: Plane) -> NDArray[np.uint8]:
    """Turn a picture (*space), or one in colours (*space, 3)."""
    if shades.ndim == 3:
        return plane.turned(shades)
    return np.moveaxis(plane.turned(np.moveaxis(shades, -1, 0)), 0, -1)


def _geometry(case: Case, image: Image | None) -> Geometry | None:
    if image is None and case.labels:
        return case.read_label(next(iter(case.labels))).geometry
    return None if image is None else image.geometry


def _size(geometry: Geometry | None, space: tuple[int, ...]) -> dict[str, Any]:
    """Size of a picture in pixels, and the shape of a pixel."""
    if len(space) < 2:
        return {"depth": 1}
    height, width = space[-2:]
    return {"height": height, "width": width, "depth": 1, "aspect": _aspect(geometry)}


def _slices(values: NDArray[Any], slices: Sequence[int]) -> NDArray[Any]:
    """Return the slices shown, (n_slices, height, width)."""
    return values[list(slices)] if values.ndim == 3 else values[None]


def _first_shown(stack: NDArray[Any], n_raters: int) -> int:
    """Position of the slice to begin with: most disputed, else with most drawn."""
    raters = stack[:n_raters] if n_raters > 1 else stack
    disputed = (raters.max(0) != raters.min(0)).sum((1, 2))
    drawn = (stack > 0).sum((0, 2, 3))
    return int(np.argmax(disputed if disputed.any() else drawn))


def _patterns(stack: NDArray[Any], most_bytes: int) -> dict[str, Any]:
    """Labels (n_layers, n_slices, height, width) as patterns: what occurs together, and where.

    Drawings too intricate for the room (noise, say) are stored with every second pixel, or fewer;
    `coarse` says which.
    """
    coarse = 1
    while True:
        found = encode_patterns(stack[..., ::coarse, ::coarse])
        runs = [encode_runs(part) for part in found.index]
        height, width = found.index.shape[1:]
        if sum(map(len, runs)) <= most_bytes or min(height, width) <= _MAP_SIDE:
            break
        coarse *= 2
    rows = found.rows.tolist()
    return {"rows": rows, "runs": runs, "height": height, "width": width, "coarse": coarse}


def _map(name: str, values: NDArray[Any], slices: Sequence[int]) -> dict[str, Any]:
    """Probabilities (*space) in few steps, and no larger than needed."""
    shown = _slices(values, slices)
    factor = max(1, math.ceil(max(shown.shape[1:]) / _MAP_SIDE))
    small = _block_means(shown, factor)
    steps = np.rint(np.clip(np.nan_to_num(small), 0, 1) * _MAP_STEPS).astype(int)
    return {
        "name": name,
        "height": small.shape[1],
        "width": small.shape[2],
        "factor": factor,
        "runs": [encode_runs(each) for each in steps],
    }


def _block_means(planes: NDArray[Any], side: int) -> NDArray[Any]:
    """Average planes (n, y, x) over squares of `side` pixels; what is beyond the edge counts 0."""
    n_planes, *sizes = planes.shape
    rows, columns = (math.ceil(size / side) for size in sizes)
    beyond = [(0, n * side - size) for n, size in zip((rows, columns), sizes, strict=True)]
    whole = np.pad(planes, [(0, 0), *beyond])
    return np.asarray(whole.reshape(n_planes, rows, side, columns, side).mean(axis=(2, 4)))


def _pictures(
    shades: list[NDArray[np.uint8]], slices: Sequence[int], room: int, *, n_axes: int
) -> list[list[str]]:
    """Encode every channel of every slice, all within the room left."""
    each = max(min(room * 3 // 4 // max(len(shades) * len(slices), 1), _PICTURE_BYTES), 1500)
    if n_axes != 3:
        return [[encode_picture(channel, each)] for channel in shades]
    return [[encode_picture(channel[z], each) for z in slices] for channel in shades]


def _aspect(geometry: Geometry | None) -> float:
    """Height of a pixel over its width."""
    if geometry is None or geometry.ndim < 2:
        return 1.0
    return float(geometry.spacing[-2] / geometry.spacing[-1])


def _stem(predicted: PredictedCase) -> str:
    return _without_suffix(predicted.label.paths[0]) if predicted.label.paths else ""


def _without_suffix(path: Path) -> str:
    return path.name[: len(path.name) - len(suffix_of(path))]


def _entropy_files(result: Result) -> dict[str, Path]:
    folder = None if result.dataset.folder is None else result.dataset.folder / "entropy"
    if folder is None or not folder.is_dir():
        return {}
    return {_without_suffix(file): file for file in sorted(folder.iterdir())}
