"""DICOM-SEG in and out by highdicom.

Segment numbers are class indices: segment 1 is class 1, and what no segment covers is class 0. A
segmentation that omits its empty slices does not tell how large the image was; `like` brings it
back onto the image's grid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.atomic import replacing
from multirater.io.formats.claims import require_room
from multirater.io.formats.dicom_frames import require_honest_frames
from multirater.io.formats.dicom_series import (
    Stack,
    find_headers,
    functional_group,
    is_segmentation,
    make_stack,
    read_header,
    require_sizes,
)
from multirater.io.formats.grid import (
    GridShape,
    fit_image,
    fit_ndim,
    geometry_from_steps,
    onto_grid,
    size_text,
    steps_of,
)
from multirater.io.formats.guard import reading, writing
from multirater.types import MISSING, Classes, Geometry, Image, LabelClass, LabelMap

with extra():
    import highdicom
    from pydicom import Dataset
    from pydicom.sr.coding import Code
    from pydicom.uid import generate_uid
    from pydicom.valuerep import DSfloat

_LONGEST_NAME = 64  # characters of a DICOM long string
_FEWEST_PIXELS = 8  # highdicom 0.28 packs smaller frames into bytes of their own, unreadably
_SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.7"
_ANY_STRUCTURE = Code("309825002", "SCT", "Spatial and Relational Concept")
_EXPECTED_OF_SOURCE = (
    "PatientID",
    "PatientName",
    "PatientBirthDate",
    "PatientSex",
    "AccessionNumber",
    "StudyID",
    "StudyDate",
    "StudyTime",
)


def is_dicom_seg(path: str | Path) -> bool:
    """Whether a DICOM file is a segmentation, by its header.

    Raises:
        InputError: not a DICOM file.
    """
    return is_segmentation(read_header(Path(path)))


def read_dicom_seg(path: str | Path, *, like: GridShape | None = None) -> Image:
    """Read a segmentation as one channel of segment numbers, (1, z, y, x), 0 where there is none.

    Args:
        path: a DICOM-SEG file; binary, label map, or fractional, which is cut at one half.
        like: size and geometry of the image; the labels are put on that grid, which may differ
            from theirs by whole voxels and in the sense of its axes. With a 2-D grid the
            segmentation must have one slice.

    Raises:
        InputError: not a DICOM-SEG file, segments overlap, or the grids do not fit.
    """
    file = Path(path)
    if not is_dicom_seg(file):
        raise InputError(
            Fault(
                "is not a DICOM segmentation",
                expected="a DICOM-SEG file",
                fix="read it as an image",
                file=str(file),
            )
        )
    with reading(file, "DICOM-SEG"):
        header = read_header(file)
        require_sizes(header, file)
        require_honest_frames(file, header)
        content = highdicom.seg.segread(file)
        _require_described(content)
        _require_volume(content, file)
        image = _as_image(_segment_numbers(content), content)
        return image if like is None else _placed(image, *like)


def _require_described(content: Any) -> None:
    """Refuse frames of segments that the file does not describe, which highdicom leaves out."""
    described = set(content.segment_numbers)
    for frame in range(int(content.NumberOfFrames)):
        group = functional_group(content, frame, "SegmentIdentificationSequence")
        number = None if group is None else int(group.ReferencedSegmentNumber)
        if number is not None and number not in described:
            listed = ", ".join(str(each) for each in sorted(described))
            raise ValueError(f"its frame {frame + 1} is of segment {number}, it describes {listed}")


def _require_volume(content: Any, path: Path) -> None:
    """Refuse what highdicom can only fail on: frames without a place, or not on one grid.

    Slices between frames that are far apart count as empty, so that two may claim any size.
    """
    if content.coordinate_system is not None and _position(content) is not None:
        grid = content.get_volume_geometry(allow_duplicate_positions=True)
        if grid is not None:
            is_shares = content.segmentation_type.value == "FRACTIONAL"
            one = 8 * len(content.segment_numbers) if is_shares else 2
            require_room(prod(grid.spatial_shape) * one, path)
            return
        found = "has frames that do not lie evenly spaced above each other"
    else:
        found = "does not say where its frames lie"
    raise InputError(
        Fault(
            found,
            expected="the frames of a volume, each with its position",
            fix="export the labels as .nii.gz or .nrrd instead",
        )
    )


def _position(content: Any) -> Any:
    return functional_group(content, 0, "PlanePositionSequence")


def _as_image(volume: Any, content: Any) -> Image:
    """Take over highdicom's volume, with slices upwards along their normal as in image series."""
    array, affine = volume.array[np.newaxis], volume.affine.copy()
    normal = np.cross(affine[:3, 2], affine[:3, 1])
    if affine[:3, 0] @ normal < 0:
        affine[:3, 3] += affine[:3, 0] * (array.shape[1] - 1)
        affine[:3, 0] *= -1
        array = array[:, ::-1]
    if array.shape[1] == 1:  # nothing is above, so only the header tells how thick the slice is
        measures = functional_group(content, 0, "PixelMeasuresSequence") or {}
        thickness = measures.get("SliceThickness") or measures.get("SpacingBetweenSlices") or 1.0
        affine[:3, 0] *= float(thickness) / np.linalg.norm(affine[:3, 0])
    return fit_image(array, geometry_from_steps(affine[:3, :3], affine[:3, 3]), None)


def _placed(image: Image, space: tuple[int, ...], geometry: Geometry) -> Image:
    if geometry.ndim == 2:
        image = fit_image(image.array, image.geometry, 2)
    return onto_grid(image, space, geometry)


def _segment_numbers(file: Any) -> Any:
    """Return a volume of segment numbers, with highdicom's check that segments do not overlap."""
    if file.segmentation_type.value != "FRACTIONAL":
        try:
            return file.get_volume(combine_segments=True)
        except RuntimeError as error:
            raise _overlap() if "overlap" in str(error).lower() else error from error
    parts = file.get_volume(rescale_fractional=True)
    covered = parts.array >= 0.5
    if (covered.sum(axis=-1) > 1).any():
        raise _overlap()
    numbers = (covered * np.asarray(file.segment_numbers)).sum(axis=-1)
    return parts.squeeze_channel().with_array(numbers.astype(np.uint16))


def _overlap() -> InputError:
    return InputError(
        Fault(
            "has segments that overlap",
            expected="at most one segment at each voxel",
            fix="export one segmentation per structure, or remove the overlap",
        )
    )


def write_dicom_seg(
    label: LabelMap,
    path: str | Path,
    *,
    classes: Classes,
    source: str | Path | None = None,
    overwrite: bool = False,
) -> None:
    """Write labels as a binary DICOM segmentation, class k as segment k, class 0 as nothing.

    All slices are written, also empty ones, so that the file keeps the size of the image.

    Args:
        label: class indices (*space); -1 cannot be held.
        path: the file to make.
        classes: names (and colours) of the classes.
        source: the DICOM file or folder of the series the labels were drawn on, to be referred to;
            its grid must be that of the labels. When there is none, a reference is made up.
        overwrite: whether an existing file may be replaced.

    Raises:
        InputError: a pixel is not labelled or of an unknown class, or `source` is another image.
    """
    target = Path(path)
    with writing(target):
        _require_classes(label, classes)
        segments = [_described(number, item) for number, item in enumerate(classes.items)][1:]
    space, geometry = fit_ndim(label.array.shape, label.geometry, 3)
    numbers = label.array.reshape(space).astype(np.uint16)
    if source is None:
        with writing(target):
            images, pixels = _made_up_source(space, geometry), _volume(numbers, geometry)
    else:
        images, pixels = _real_source(Path(source), numbers, label)
    with replacing(target, overwrite=overwrite) as temporary, writing(target):
        _segmentation(images, pixels, segments).save_as(temporary)


def _segmentation(images: list[Any], pixels: Any, segments: list[Any]) -> Any:
    from multirater import __version__

    return highdicom.seg.Segmentation(
        source_images=images,
        pixel_array=pixels,
        segmentation_type="BINARY",
        segment_descriptions=segments,
        series_instance_uid=generate_uid(),
        series_number=1,
        sop_instance_uid=generate_uid(),
        instance_number=1,
        manufacturer="multirater",
        manufacturer_model_name="multirater",
        software_versions=__version__,
        device_serial_number="0",
        content_label="LABELS",
        omit_empty_frames=False,
        specific_character_set="ISO_IR 192",  # class names in any script
    )


def _require_classes(label: LabelMap, classes: Classes) -> None:
    if label.array.size == 0 or np.prod(label.array.shape[-2:]) < _FEWEST_PIXELS:
        raise InputError(
            Fault(
                f"has slices of {size_text(label.array.shape[-2:])} pixels",
                expected=f"at least {_FEWEST_PIXELS} pixels in DICOM-SEG",
                fix="write .nii.gz or .npz instead",
            )
        )
    lowest, highest = int(label.array.min()), int(label.array.max())
    long = [name for name in classes.names if len(name) > _LONGEST_NAME]
    if lowest == MISSING:
        n_missing = int((label.array == MISSING).sum())
        found = f"{n_missing} pixels are not labelled, which DICOM-SEG cannot say"
        expected, fix = "a class at every pixel", "write .nii.gz or .npz instead"
    elif lowest < MISSING or highest >= len(classes):
        found = f"has class indices {lowest} to {highest}"
        expected, fix = f"0 to {len(classes) - 1}", "name all classes of the labels"
    elif len(classes) < 2:
        found, expected, fix = "has no class but the background", "two classes", "name the classes"
    elif long:
        found = f"class name of {len(long[0])} characters: {long[0]}"
        expected, fix = f"at most {_LONGEST_NAME} in DICOM", "shorten the name"
    else:
        return
    raise InputError(Fault(found, expected=expected, fix=fix))


def _described(number: int, item: LabelClass) -> Any:
    colour = item.colour.lstrip("#")
    channels = [int(colour[i : i + 2], 16) for i in (0, 2, 4)] if colour else None
    return highdicom.seg.SegmentDescription(
        segment_number=max(number, 1),
        segment_label=item.name,
        segmented_property_category=_ANY_STRUCTURE,
        segmented_property_type=Code(f"class-{number}", "99MULTIRATER", item.name),
        algorithm_type="MANUAL",
        display_color=highdicom.color.CIELabColor.from_rgb(*channels) if channels else None,
    )


def _volume(numbers: NDArray[np.uint16], geometry: Geometry) -> Any:
    affine = np.eye(4)
    affine[:3, :3], affine[:3, 3] = steps_of(geometry), geometry.origin
    units = np.asarray(geometry.direction)
    if not np.allclose(units.T @ units, np.eye(3), atol=1e-5):
        raise InputError(
            Fault(
                "has axes that are not perpendicular, which DICOM-SEG cannot hold",
                expected="perpendicular axes",
                fix="resample the labels, or write .nii.gz or .nrrd instead",
            )
        )
    frame = _grid_uid("frame of reference", geometry)
    return highdicom.Volume(numbers, affine, "PATIENT", frame_of_reference_uid=frame)


def _grid_uid(what: str, geometry: Geometry) -> str:
    """Return an identifier that is the same for all labels on one grid."""
    text = hashlib.sha256(f"{what} {geometry}".encode()).hexdigest()
    return str(generate_uid(entropy_srcs=[text]))


def _made_up_source(space: tuple[int, ...], geometry: Geometry) -> list[Any]:
    """Return the header of an image on this grid, as there is none to refer to."""
    volume = _volume(np.zeros(space, dtype=np.uint16), geometry)
    header = Dataset()
    for name in _EXPECTED_OF_SOURCE:
        setattr(header, name, "")
    header.SOPClassUID, header.Modality = _SECONDARY_CAPTURE, "OT"
    for name in ("SOPInstanceUID", "StudyInstanceUID", "SeriesInstanceUID"):
        setattr(header, name, _grid_uid(name, geometry))
    header.FrameOfReferenceUID = volume.frame_of_reference_uid
    header.Rows, header.Columns = space[1:]
    header.PixelSpacing = _decimals(volume.pixel_spacing)
    (header.SliceThickness,) = _decimals([volume.spacing_between_slices])
    header.ImagePositionPatient = _decimals(geometry.origin)
    header.ImageOrientationPatient = _decimals(volume.direction_cosines)
    return [header]


def _decimals(values: Iterable[float]) -> list[Any]:
    """Return numbers as DICOM writes them, in at most 16 characters."""
    return [DSfloat(float(value), auto_format=True) for value in values]


def _real_source(
    source: Path, numbers: NDArray[np.uint16], label: LabelMap
) -> tuple[list[Any], Any]:
    """Return the headers of the series, and the labels slice by slice in the headers' order."""
    stack = make_stack(source, find_headers(source))
    _require_place(stack, source)
    _require_same_grid(stack, source, numbers.shape, label)
    for header in stack.headers:
        for name in _EXPECTED_OF_SOURCE:
            if name not in header:
                setattr(header, name, "")
    if len(stack.paths) == 1:
        in_file_order = np.empty_like(numbers)
        in_file_order[list(stack.frames)] = numbers
        numbers = in_file_order
    return list(stack.headers), numbers


def _require_place(stack: Stack, source: Path) -> None:
    header = stack.headers[0]
    place = functional_group(header, 0, "PlanePositionSequence") or header
    if "FrameOfReferenceUID" in header and "ImagePositionPatient" in place:
        return
    raise InputError(
        Fault(
            "does not say where it lies, so that a segmentation cannot refer to it",
            expected="ImagePositionPatient and FrameOfReferenceUID",
            fix="write the segmentation without a source",
            file=str(source),
        )
    )


def _require_same_grid(stack: Stack, source: Path, space: tuple[int, ...], label: LabelMap) -> None:
    same_size = stack.space == space
    if label.geometry.ndim == 2 and same_size:
        theirs = fit_ndim(stack.space, stack.geometry, 2)[1]
    else:
        theirs = stack.geometry
    mine = label.geometry
    if same_size and theirs.is_close(mine):
        return
    raise InputError(
        Fault(
            f"the labels lie on {size_text(space)} voxels with {mine}",
            expected=f"{size_text(stack.space)} voxels with {theirs}, the grid of the source",
            fix="name the series the labels were drawn on, or none",
            file=str(source),
        )
    )
