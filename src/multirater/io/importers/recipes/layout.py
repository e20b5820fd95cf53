"""What recipes ask of a folder: that it is there, and that it holds certain files."""

from __future__ import annotations

from pathlib import Path

from multirater.errors import Fault, InputError

NIFTI = (".nii.gz", ".nii")
"""Data sets in NIfTI are published, and kept, with and without compression."""


def require_folder(folder: Path, expected: str) -> None:
    """Refuse a source that is no folder.

    Args:
        folder: what the user named.
        expected: what should be in it, in words.
    """
    if not folder.is_dir():
        raise InputError(
            Fault(
                "is not a folder" if folder.exists() else "does not exist",
                expected=expected,
                fix="name the folder that the data was unpacked to",
                file=str(folder),
            )
        )


def find_nifti(
    folder: Path, stem: str, faults: list[Fault], *, case: str, rater: str = ""
) -> Path | None:
    """Return the NIfTI file of a name, compressed or not; note in `faults` when there is none.

    Args:
        folder: where it should be.
        stem: its name without suffix.
        faults: gets a fault that names the file.
        case: whose file it is.
        rater: who drew it, if anyone.
    """
    file = next((file for file in _both(folder, stem) if file.is_file()), None)
    if file is None:
        faults.append(
            Fault(
                "does not exist",
                expected="the file, with suffix .nii.gz or .nii",
                fix="unpack the data again, or remove the rest of this case",
                file=str(folder / f"{stem}.nii.gz"),
                case=case,
                rater=rater,
            )
        )
    return file


def _both(folder: Path, stem: str) -> list[Path]:
    return [folder / f"{stem}{suffix}" for suffix in NIFTI]
