"""3D Slicer's `.seg.nrrd`, by SimpleITK: named, coloured segments in one or several layers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.formats.guard import reading
from multirater.io.formats.itk import as_itk, quiet
from multirater.io.formats.itk_headers import require_honest, require_honest_header
from multirater.io.formats.labels import Grid
from multirater.io.formats.stray import place_of
from multirater.types import Classes, Image, LabelMap

with extra():
    import SimpleITK as sitk  # noqa: N813

ENDING = ".seg.nrrd"
_FIELD = re.compile(r"(Segment\d+)_(Name|Color|Layer|LabelValue)")


@dataclass(frozen=True)
class Segment:
    """A segment: its name, its colour `#rrggbb`, and where it is stored."""

    name: str
    colour: str
    layer: int
    value: int


def read_segments(path: Path) -> list[Segment]:
    """Return the segments of a file, in its order, from the header alone."""
    with reading(path, "a Slicer segmentation"), quiet():
        require_honest_header(path, is_nrrd=True)
        header = sitk.ImageFileReader()
        header.SetImageIO("NrrdImageIO")
        header.SetFileName(str(path))
        header.ReadImageInformation()
        fields: dict[str, dict[str, str]] = {}
        for key in header.GetMetaDataKeys():
            if match := _FIELD.fullmatch(key):
                fields.setdefault(match[1], {})[match[2]] = header.GetMetaData(key)
        if not fields:
            raise InputError(
                Fault(
                    "names no segments",
                    expected="a segmentation that 3D Slicer saved as .seg.nrrd",
                    fix="save the segmentation node, not a label map",
                )
            )
        in_order = sorted(fields, key=lambda name: int(name.removeprefix("Segment")))
        return [
            Segment(
                told.get("Name", name),
                _colour(told.get("Color", "")),
                int(told.get("Layer", 0)),
                int(told.get("LabelValue", 1)),
            )
            for name, told in ((name, fields[name]) for name in in_order)
        ]


def segment_masks(
    path: Path, segments: Sequence[Segment], grid: Grid
) -> Iterator[NDArray[np.bool_]]:
    """Yield what each segment covers on the grid of the image.

    Slicer may save the smallest box around the segments: the rest of the image is empty then.
    """
    with reading(path, "a Slicer segmentation"), quiet():
        require_honest(path, is_nrrd=True)
        file = sitk.ReadImage(str(path), imageIO="NrrdImageIO")
        n_layers = file.GetNumberOfComponentsPerPixel()
        layers = [
            _on_grid(sitk.VectorIndexSelectionCast(file, layer) if n_layers > 1 else file, grid)
            for layer in range(n_layers)
        ]
        arrays = [np.asarray(sitk.GetArrayViewFromImage(each)).reshape(grid[0]) for each in layers]
    for layer, array in enumerate(arrays):
        _require_named(array, [each.value for each in segments if each.layer == layer])
    for segment in segments:
        if segment.layer >= n_layers:
            raise InputError(
                Fault(
                    f"segment {segment.name} is in layer {segment.layer}",
                    expected=f"one of {n_layers}, counted from 0",
                    fix="save it again in Slicer",
                )
            )
        yield arrays[segment.layer] == segment.value


def _require_named(layer: NDArray[Any], values: Sequence[int]) -> None:
    """Refuse voxels that belong to no segment: nobody would miss them."""
    is_stray = ~np.isin(layer, [0, *values])
    if is_stray.any():
        raise InputError(
            Fault(
                f"value {layer[is_stray][0]} belongs to no segment: {place_of(is_stray)}",
                expected=f"one of {', '.join(map(str, [0, *values]))}",
                fix="save it again in Slicer",
            )
        )


def write_segments(label: LabelMap, path: Path, classes: Classes) -> None:
    """Write a label map with one segment per class."""
    array = np.where(label.array < 0, 0, label.array)
    array = array.astype(np.uint8 if len(classes) <= 256 else np.uint16)
    volume = _as_volume(Image(array[None], label.geometry))
    fields = {"Segmentation_MasterRepresentation": "Binary labelmap"}
    for number, item in enumerate(classes.items[1:]):
        told = {
            "ID": f"Segment_{number + 1}",
            "Name": item.name,
            "Color": _numbers(item.colour or _COLOURS[number % len(_COLOURS)]),
            "Layer": "0",
            "LabelValue": str(number + 1),
            "Extent": " ".join(f"0 {side - 1}" for side in volume.GetSize()),
        }
        fields |= {f"Segment{number}_{key}": value for key, value in told.items()}
    for key, value in fields.items():
        volume.SetMetaData(key, value)
    with quiet():
        sitk.WriteImage(volume, str(path), useCompression=True)


_COLOURS = ("#e66100", "#5d3a9b", "#1a85ff", "#d41159", "#40b0a6", "#e1be6a")


def _colour(text: str) -> str:
    try:
        red, green, blue = (round(255 * float(each)) for each in text.split())
    except ValueError:
        return ""
    return f"#{red:02x}{green:02x}{blue:02x}"


def _numbers(colour: str) -> str:
    return " ".join(f"{int(colour[i : i + 2], 16) / 255:.6g}" for i in (1, 3, 5))


def _as_volume(image: Image) -> Any:
    """Return an image as a volume: Slicer knows no flat ones."""
    file = as_itk(image)
    return file if file.GetDimension() == 3 else sitk.JoinSeries([file])


def _on_grid(mask: Any, grid: Grid) -> Any:
    """Put a mask on the grid of its image, which has to hold its voxels."""
    space, geometry = grid
    like = _as_volume(Image(np.zeros((1, *space), dtype=np.uint8), geometry))
    if mask.GetDimension() == 2:
        mask = sitk.JoinSeries([mask])
    start = np.array(like.TransformPhysicalPointToContinuousIndex(mask.GetOrigin()))
    whole = np.abs(start - np.round(start)).max() < 1e-2
    end = np.round(start) + np.array(mask.GetSize())
    inside = (start > -0.5).all() and (end <= np.array(like.GetSize())).all()
    same = _close(mask.GetSpacing(), like.GetSpacing()) and _close(
        mask.GetDirection(), like.GetDirection()
    )
    if not (whole and inside and same):
        raise InputError(
            Fault(
                f"lies elsewhere: spacing {_short(mask.GetSpacing())} mm, origin "
                f"{_short(mask.GetOrigin())} mm, size {_short(mask.GetSize())} (x, y, z)",
                expected=f"voxels of the image: spacing {_short(like.GetSpacing())} mm, origin "
                f"{_short(like.GetOrigin())} mm, size {_short(like.GetSize())}",
                fix="in Slicer, set the image as source geometry, and save again",
            )
        )
    return sitk.Resample(mask, like, sitk.Transform(), sitk.sitkNearestNeighbor, 0)


def _close(one: Sequence[float], other: Sequence[float]) -> bool:
    return bool(np.allclose(one, other, rtol=1e-3, atol=1e-3))


def _short(numbers: Sequence[float]) -> str:
    return "(" + ", ".join(f"{number:.4g}" for number in numbers) + ")"
