"""MNIST, from its four idx files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.importers.recipes.idx import read_idx
from multirater.io.importers.recipes.layout import require_folder
from multirater.io.write import write_dataset
from multirater.types import Case, Classes, Dataset, Geometry, Image, LabelClass, LabelMap, Source

MASK_CLASSES = Classes((LabelClass("background", "#000000"), LabelClass("digit", "#e66100")))
DIGIT_CLASSES = Classes(tuple(LabelClass(str(digit)) for digit in range(10)))

_PREFIX = {"train": "train", "test": "t10k"}
_SEPARATORS = ("-", ".")  # some copies are called train-images.idx3-ubyte
_HALF = 127  # of the range 0 to 255
_POINT = Geometry((), (), ())


def import_mnist(
    source: str | Path,
    folder: str | Path,
    *,
    kind: Literal["masks", "classes"] = "masks",
    n_train: int | None = None,
    n_test: int | None = None,
    overwrite: bool = False,
) -> Path:
    """Make a data set of MNIST with known truth and no raters, in the splits `train` and `test`.

    Args:
        source: folder with `train-images-idx3-ubyte` and `t10k-images-idx3-ubyte` and, for
            classes, `train-labels-idx1-ubyte` and `t10k-labels-idx1-ubyte`; each may be `.gz`.
        folder: target.
        kind: what the truth is. `masks`: where the digit is, the grey value thresholded at half of
            its range (Zhang 2020); `classes`: which digit it is.
        n_train: the first so many digits for training; all when not given.
        n_test: the same for testing.
        overwrite: replace a data set that is there already.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with every file that is missing or damaged; nothing is written then.

    Example:
        >>> import_mnist("mnist", "digits", n_train=3000, n_test=1000)  # doctest: +SKIP
    """
    root = Path(source)
    require_folder(root, "the idx files of MNIST, such as train-images-idx3-ubyte.gz")
    wanted = {"train": n_train, "test": n_test}
    faults: list[Fault] = []
    read = {split: _read_split(root, split, kind, wanted[split], faults) for split in wanted}
    if faults:
        raise InputError(faults)
    cases = tuple(
        case for split, digits in read.items() if digits is not None for case in digits.cases(split)
    )
    classes = MASK_CLASSES if kind == "masks" else DIGIT_CLASSES
    return write_dataset(
        Dataset(cases, (), kind, classes), folder, suffix=".png", overwrite=overwrite
    )


@dataclass(frozen=True, eq=False)
class _Digits:
    """Images (n, y, x) of a split and, unless masks are the truth, which digits (n,) they show."""

    images: NDArray[np.uint8]
    classes: NDArray[np.uint8] | None

    def cases(self, split: str) -> Iterator[Case]:
        width = len(str(len(self.images) - 1))
        for number, image in enumerate(self.images):
            which = None if self.classes is None else int(self.classes[number])
            truth = partial(_mask, image) if which is None else partial(_class, which)
            name = f"{split}-{number:0{width}d}"
            yield Case(name, Source(partial(_image, image)), {}, Source(truth), split)


def _image(pixels: NDArray[np.uint8]) -> Image:
    return Image(pixels[None], Geometry.default(2))


def _mask(pixels: NDArray[np.uint8]) -> LabelMap:
    return LabelMap((pixels > _HALF).astype(np.int16), Geometry.default(2))


def _class(digit: int) -> LabelMap:
    return LabelMap(np.array(digit, dtype=np.int16), _POINT)


def _read_split(
    root: Path, split: str, kind: str, wanted: int | None, faults: list[Fault]
) -> _Digits | None:
    images = _read(root, f"{_PREFIX[split]}-images", 3, faults)
    classes = _read(root, f"{_PREFIX[split]}-labels", 1, faults) if kind == "classes" else None
    if images is None:
        return None
    available = len(images)
    if not 0 <= (available if wanted is None else wanted) <= available:
        faults.append(Fault(f"asks for {wanted} digits to {split}", expected=f"0 to {available}"))
    if classes is not None and (len(classes) != available or classes.max(initial=0) > 9):
        faults.append(
            Fault(
                f"{len(classes)} labels up to {classes.max(initial=0)}",
                expected=f"{available} labels from 0 to 9, one per image",
                fix="download images and labels of the same set",
                file=str(root / f"{_PREFIX[split]}-labels-idx1-ubyte"),
            )
        )
    return _Digits(images[:wanted], None if classes is None else classes[:wanted])


def _read(root: Path, stem: str, n_axes: int, faults: list[Fault]) -> NDArray[np.uint8] | None:
    """Read a file by its name, the unpacked one where both are there."""
    names = [f"{stem}{mark}idx{n_axes}-ubyte{gz}" for gz in ("", ".gz") for mark in _SEPARATORS]
    file = next((root / name for name in names if (root / name).is_file()), None)
    if file is None:
        fix = "name the folder that holds the files themselves"
        expected = f"{names[0]} or {names[0]}.gz"
        faults.append(Fault("does not exist", expected, fix, file=str(root / names[0])))
        return None
    try:
        return read_idx(file, n_axes=n_axes)
    except InputError as error:
        faults += error.faults
        return None
