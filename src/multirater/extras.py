"""What is installed only when it is asked for, and what a user is told who lacks it.

The core fuses, measures and reports. Everything heavy is an extra: `pip install
'multirater[train]'`. Modules are imported where they are used, within `extra()`, which turns a
missing one into a line that says what it is for and how to get it.

Example:
    >>> with extra():
    ...     raise ModuleNotFoundError("No module named 'torch'", name="torch")
    Traceback (most recent call last):
    multirater.extras.MissingExtraError: networks need torch, which is not installed: pip install \
'multirater[train]'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Extra:
    """One extra of the package.

    Attributes:
        what: what it is needed for, in the plural.
        modules: what is imported, and the distribution that brings it.
        users: verbs, options and names of Python that need it.
    """

    what: str
    modules: Mapping[str, str]
    users: str


EXTRAS = {
    "train": Extra(
        "networks",
        {
            "torch": "torch",
            "lightning": "lightning",
            "monai": "monai",
            "sklearn": "scikit-learn",
            "tensorboard": "tensorboard",
        },
        "train, predict, demo, fuse --method learned; RaterClassifier, multirater.nn",
    ),
    "shapes": Extra(
        "polygons and random walks",
        {"skimage": "scikit-image"},
        "import of polygons and of lidc, train on coarse drawings",
    ),
    "itk": Extra(
        "NRRD, MetaImage and PNG of 16-bit colours",
        {"SimpleITK": "SimpleITK"},
        "files .nrrd, .mha, .mhd; import and export slicer",
    ),
    "dicom": Extra(
        "DICOM files",
        {"pydicom": "pydicom", "highdicom": "highdicom", "SimpleITK": "SimpleITK"},
        "DICOM series in, DICOM-SEG in and out; import lidc --ct",
    ),
    "figures": Extra("figures", {"matplotlib": "matplotlib"}, "report --figures"),
    "coco": Extra("COCO masks", {"pycocotools": "pycocotools"}, "import coco, export --to coco"),
    "parquet": Extra(
        "Parquet files", {"pyarrow": "pyarrow"}, "features.parquet, tables of answers as Parquet"
    ),
    "dask": Extra("clusters", {"distributed": "distributed"}, "fuse --scheduler"),
    "grabcut": Extra(
        "cuts by GrabCut", {"cv2": "opencv-python-headless"}, "train on coarse drawings by GrabCut"
    ),
    "lazy-snapping": Extra(
        "graph cuts",
        {"maxflow": "PyMaxflow"},
        "train on coarse drawings by lazy-snapping or scribble-sup",
    ),
    "fast": Extra("compiled loops", {"numba": "numba"}, "nothing; large data are fused faster"),
    "nnunet": Extra("trainers of nnU-Net", {"nnunetv2": "nnunetv2"}, "nnUNetTrainerMultirater"),
}
"""The extras that a verb or a function may need, by name; `all` has them all but nnunet."""


class MissingExtraError(ModuleNotFoundError):
    """A module is not installed that comes with an extra; the message has the command."""


@contextmanager
def extra() -> Iterator[None]:
    """Say of a module that is not there which extra brings it.

    Modules that no extra brings raise what they raised: that is a broken installation.
    """
    try:
        yield
    except MissingExtraError:
        raise
    except ModuleNotFoundError as error:
        top = (error.name or "").partition(".")[0]
        name = _extra_of(top)
        if name is None:
            raise
        found = f"{EXTRAS[name].what} need {EXTRAS[name].modules[top]}, which is not installed"
        raise MissingExtraError(f"{found}: {command(name)}", name=top) from None


def command(name: str) -> str:
    """Return what to type for an extra.

    Example:
        >>> command("dask")
        "pip install 'multirater[dask]'"
    """
    return f"pip install 'multirater[{name}]'"


def _extra_of(module: str) -> str | None:
    return next((name for name, each in EXTRAS.items() if module in each.modules), None)
