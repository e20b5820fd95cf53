"""Apply a trained network: the truth, and what each rater would have drawn.

OUT/truth/<case>             class indices, in the family of the image's format
OUT/probability/<case>       class probabilities, on request
OUT/entropy/<case>           in nats, with the probabilities
OUT/raters/<rater>/<case>    what the rater would have drawn, on request
OUT/confusion/<rater>/<case> confusion matrix maps (true * n_classes + observed, *space), on request
OUT/manifest.csv             OUT is a data set whose only rater is the network
OUT/origin.json              where the data set and the run are
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from multirater.errors import Fault, InputError
from multirater.io.classes import FILE_NAME as CLASSES_FILE
from multirater.io.classes import write_classes
from multirater.io.formats import write_image
from multirater.io.labels import write_label
from multirater.io.manifest import FILE_NAME as MANIFEST_FILE
from multirater.io.manifest import Row, cell_of, write_rows
from multirater.io.naming import file_names
from multirater.io.origin import write_origin
from multirater.io.suffixes import WRITABLE, suffix_of
from multirater.nn.segmenter import Segmenter
from multirater.progress import track
from multirater.training.config import TrainConfig
from multirater.training.run import RunData, read_run
from multirater.training.samples import normalise
from multirater.types import Case, Dataset, Geometry, Image, LabelMap

RATER = "network"
"""The rater's name under which predictions appear in their manifest."""

_WINDOW = 512
"""Side of the sliding window when a run has no patch size: larger images go through in parts."""


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


class Predictor:
    """A trained network, ready for images of any size.

    Args:
        folder: of the run.

    Example:
        predictor = Predictor("run")
        predictor(image.array).label
    """

    def __init__(self, folder: str | Path) -> None:
        self.config, self.data, self.segmenter = read_run(folder)

    def __call__(
        self, image: NDArray[np.generic], *, raters: Sequence[int] | None = None
    ) -> Prediction:
        """Predict for an image (channels, *space).

        Args:
            image: with the channels the network was trained on.
            raters: positions of the raters whose confusion matrices are wanted.
        """
        if len(image) != self.data.n_channels:
            raise InputError(
                Fault(f"{len(image)} channels", expected=f"{self.data.n_channels}, as in training")
            )
        tensor = torch.from_numpy(normalise(np.asarray(image)))
        wanted = list(raters or ())
        network = _Channels(self.segmenter, wanted)
        slices = self.config.view == "slices"
        with torch.inference_mode():
            if slices:
                parts = [
                    self._windowed(network, tensor[None, :, z]) for z in range(tensor.shape[1])
                ]
                output = torch.stack(parts, dim=1)
            else:
                output = self._windowed(network, tensor[None])
        return self._unpack(output.numpy(), len(wanted))

    def _windowed(self, network: nn.Module, image: Tensor) -> Tensor:
        """Run the network over (1, channels, *space) in windows, within bounded memory."""
        from monai.inferers import sliding_window_inference

        space = image.shape[2:]
        window = self.config.patch or tuple(min(size, _WINDOW) for size in space)
        if all(size <= part for size, part in zip(space, window, strict=True)):
            return network(image)[0]  # type: ignore[no-any-return]
        output = sliding_window_inference(
            image, window, sw_batch_size=1, predictor=network, overlap=0.25, mode="gaussian"
        )
        return output[0]  # type: ignore[no-any-return]

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
    """All outputs of a segmenter as channels, so that windows average them alike."""

    def __init__(self, segmenter: Segmenter, raters: list[int]) -> None:
        super().__init__()
        self.segmenter = segmenter
        self.raters = raters

    def forward(self, image: Tensor) -> Tensor:
        found = self.segmenter.outputs(image, self.raters)
        parts = [found.truth]
        if found.drawn is not None:
            parts.append(found.drawn.flatten(1, 2))
        if found.cm is not None:
            parts.append(found.cm.flatten(1, 3))
        return torch.cat(parts, dim=1)


def predict(
    run: str | Path,
    dataset: Dataset,
    folder: str | Path,
    *,
    probability: bool = False,
    raters: bool = False,
    confusion: bool = False,
) -> Path:
    """Predict every case of a data set and write the results into a folder.

    Args:
        run: run folder.
        dataset: images; labels are not needed.
        folder: target, which must not exist yet.
        probability: also write class probabilities and entropy.
        raters: also write what each rater would have drawn.
        confusion: also write confusion matrix maps.

    Returns:
        The path of the manifest.
    """
    target = Path(folder)
    if target.exists() and any(target.iterdir()):
        raise InputError(Fault("already exists", fix="choose another folder", file=str(target)))
    predictor = Predictor(run)
    writer = _Writer(predictor.data, predictor.config, target, probability, raters, confusion)
    names = file_names(case.name for case in dataset)
    wanted = list(range(len(predictor.data.raters))) if raters or confusion else None
    rows = []
    for case in track(dataset, "predicting", len(dataset)):
        image = case.read_image()
        if image is None:
            raise InputError(Fault("has no image", case=case.name))
        try:
            predicted = predictor(image.array, raters=wanted)
        except InputError as error:
            raise error.at(case=case.name) from None
        rows.append(writer.write(case, names[case.name], image.geometry, predicted))
    write_classes(predictor.data.as_classes(), target / CLASSES_FILE)
    write_rows(rows, target / MANIFEST_FILE)
    write_origin(target, dataset.folder, run=Path(run))
    return target / MANIFEST_FILE


@dataclass(frozen=True)
class _Writer:
    data: RunData
    config: TrainConfig
    folder: Path
    probability: bool
    raters: bool
    confusion: bool

    def write(self, case: Case, name: str, geometry: Geometry, predicted: Prediction) -> Row:
        suffix = _suffix(case, geometry.ndim)
        maps = ".tif" if suffix == ".png" else suffix
        self._label(predicted.label, geometry, f"truth/{name}{suffix}")
        if self.probability:
            self._maps(predicted.probability, geometry, f"probability/{name}{maps}")
            self._maps(_entropy(predicted.probability)[None], geometry, f"entropy/{name}{maps}")
        folders = file_names(self.data.raters)
        for number, rater in enumerate(self.data.raters):
            if self.raters:
                drawn = predicted.rater_label(number)
                self._label(drawn, geometry, f"raters/{folders[rater]}/{name}{suffix}")
            if self.confusion and predicted.confusion is not None:
                cm = predicted.confusion[number].reshape(-1, *predicted.label.shape)
                self._maps(cm, geometry, f"confusion/{folders[rater]}/{name}{maps}")
        return Row(
            case.name,
            cell_of(case.image.paths, self.folder) if case.image else "",
            RATER,
            f"truth/{name}{suffix}",
            cell_of(case.truth.paths, self.folder) if case.truth else "",
            case.split,
        )

    def _label(self, label: NDArray[np.int16], geometry: Geometry, cell: str) -> None:
        write_label(LabelMap(label, geometry), self.folder / cell)

    def _maps(self, maps: NDArray[np.float32], geometry: Geometry, cell: str) -> None:
        write_image(Image(maps.astype(np.float32), geometry), self.folder / cell)


def _suffix(case: Case, ndim: int) -> str:
    suffix = suffix_of(case.image.paths[0]) if case.image and case.image.paths else ""
    if suffix in WRITABLE:
        return suffix
    return ".png" if ndim == 2 else ".nii.gz"


def _entropy(probability: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(-(probability * np.log(np.maximum(probability, 1e-12))).sum(0))
