"""A few thousand handwritten digits with their masks.

The digits are the first 3000 training and the first 1000 test digits of MNIST (Yann LeCun, Corinna
Cortes; CC BY-SA 3.0, see `LICENSE-digits.txt` beside this file).
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from importlib import resources
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError


@dataclass(frozen=True, eq=False)
class Digits:
    """Digits of one split.

    Attributes:
        images: (n, 28, 28), grey values 0 to 255.
        masks: (n, 28, 28), 1 where the digit is, 0 elsewhere: the grey value thresholded at half
            of its range, as in Zhang 2020.
        classes: (n,), which digit it is, 0 to 9.
    """

    images: NDArray[np.uint8]
    masks: NDArray[np.int16]
    classes: NDArray[np.int16]


def load_digits(split: Literal["train", "test"] = "train") -> Digits:
    """Load the digits of a split: 3000 for `train`, 1000 for `test`.

    Example:
        >>> digits = load_digits("test")
        >>> digits.images.shape, digits.masks.max()
        ((1000, 28, 28), np.int16(1))
    """
    if split not in ("train", "test"):
        raise InputError(
            Fault(
                f"there is no split {split!r}", expected="train or test", fix="choose one of them"
            )
        )
    stored = resources.files("multirater.samples").joinpath("digits.npz").read_bytes()
    with np.load(io.BytesIO(stored)) as arrays:
        images = arrays[f"{split}_images"]
        classes = arrays[f"{split}_classes"].astype(np.int16)
    return Digits(images, (images > 127).astype(np.int16), classes)
