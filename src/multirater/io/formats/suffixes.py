"""The suffixes of files, and the module of this folder that knows each."""

from __future__ import annotations

from pathlib import Path

FAMILIES = {
    ".png": "raster",
    ".jpg": "raster",
    ".jpeg": "raster",
    ".ppm": "raster",
    ".pgm": "raster",
    ".bmp": "raster",
    ".gif": "raster",
    ".tif": "tiff",
    ".tiff": "tiff",
    ".npy": "numpy_files",
    ".npz": "numpy_files",
    ".nii": "nifti",
    ".nii.gz": "nifti",
    ".nrrd": "itk",
    ".nhdr": "itk",
    ".mha": "itk",
    ".mhd": "itk",
    ".dcm": "dicom",
    ".dicom": "dicom",
    ".ima": "dicom",
}
"""Which module reads and writes files of a suffix."""

READABLE = frozenset(FAMILIES)
"""Suffixes of the files that can be read. DICOM files are also known by content."""

PICTURES_IN = frozenset({".jpg", ".jpeg", ".ppm", ".pgm", ".bmp", ".gif"})
"""Suffixes of pictures that are read and never written."""

WRITABLE = READABLE - PICTURES_IN - {".nhdr", ".dcm", ".dicom", ".ima"}
"""Suffixes of the files an image can be written to."""


def suffix_of(path: str | Path) -> str:
    """Return the suffix that tells the format, in lower case; `.nii.gz` counts as one.

    Example:
        >>> suffix_of("scans/P01.T1.NII.GZ"), suffix_of("mask.png"), suffix_of("IM0001")
        ('.nii.gz', '.png', '')
    """
    name = (path if isinstance(path, Path) else Path(path)).name.lower()
    if name.endswith(".nii.gz"):
        return ".nii.gz"
    start = name.rfind(".")
    return name[start:] if 0 < start < len(name) - 1 else ""


def is_image_file(path: str | Path) -> bool:
    """Whether this is a file that can be read as an image, by suffix or as DICOM by content.

    Example:
        >>> is_image_file("no/such/file.png")
        False
    """
    file = Path(path)
    if not file.is_file() or file.name.startswith("."):
        return False
    return suffix_of(file) in READABLE or is_dicom_file(file)


def is_dicom_file(path: str | Path) -> bool:
    """Whether a file is DICOM by its suffix or, when the suffix is no other format's, its start."""
    family = FAMILIES.get(suffix_of(path))
    if family is not None:
        return family == "dicom"
    try:
        with Path(path).open("rb") as stream:
            return stream.read(132)[128:] == b"DICM"
    except OSError:
        return False
