"""The size of a pixel, in millimetres, as TIFF files from elsewhere state it."""

from __future__ import annotations

from typing import Any

import tifffile

_MILLIMETRES = {
    "m": 1000.0,
    "cm": 10.0,
    "mm": 1.0,
    "um": 0.001,
    "µm": 0.001,
    "μm": 0.001,
    "micron": 0.001,
    "microns": 0.001,
    "micrometer": 0.001,
    "nm": 1e-6,
    "inch": 25.4,
    "in": 25.4,
}
_CENTIMETRE = 3  # code of the tag ResolutionUnit


def pixel_sizes(file: tifffile.TiffFile) -> tuple[float, float, float]:
    """Return the size of a voxel along z, y and x in mm; 1 where the file does not state it."""
    if file.is_ome:
        return _ome_sizes(file)
    tags = file.pages[0].tags
    if file.is_imagej:
        return _imagej_sizes(file, tags)
    unit = tags.get("ResolutionUnit")
    if unit is not None and int(unit.value) == _CENTIMETRE:
        return 1.0, _per_unit(tags, "YResolution", 10.0), _per_unit(tags, "XResolution", 10.0)
    return 1.0, 1.0, 1.0


def _ome_sizes(file: tifffile.TiffFile) -> tuple[float, float, float]:
    images = tifffile.xml2dict(file.ome_metadata or "")["OME"]["Image"]
    pixels = (images[0] if isinstance(images, list) else images)["Pixels"]

    def along(axis: str) -> float:
        size = float(pixels.get(f"PhysicalSize{axis}", 0.0))
        scale = _MILLIMETRES.get(pixels.get(f"PhysicalSize{axis}Unit", "µm"))
        return size * scale if size > 0 and scale else 1.0

    return along("Z"), along("Y"), along("X")


def _imagej_sizes(file: tifffile.TiffFile, tags: Any) -> tuple[float, float, float]:
    stated = file.imagej_metadata or {}
    unit = str(stated.get("unit", "")).replace("\\u00B5", "µ")
    scale = _MILLIMETRES.get(unit)
    if scale is None:
        return 1.0, 1.0, 1.0
    between_slices = abs(float(stated.get("spacing", 0.0))) or 1.0 / scale
    return (
        between_slices * scale,
        _per_unit(tags, "YResolution", scale),
        _per_unit(tags, "XResolution", scale),
    )


def _per_unit(tags: Any, name: str, unit: float) -> float:
    tag = tags.get(name)
    above, below = (0, 1) if tag is None else tag.value
    return below / above * unit if above > 0 and below > 0 else 1.0
