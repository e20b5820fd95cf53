"""The digits as a data set with known truth."""

from __future__ import annotations

import numpy as np

from multirater.io.arrays import dataset_from_arrays
from multirater.samples.digits import load_digits
from multirater.types import Classes, Dataset, LabelClass

CLASSES = Classes((LabelClass("background", "#000000"), LabelClass("digit", "#e66100")))


def digits_dataset(*, n_train: int = 3000, n_test: int = 1000) -> Dataset:
    """Return digits as segmentation cases with truth, in the splits `train` and `test`.

    Example:
        >>> data = digits_dataset(n_train=3, n_test=2)
        >>> [(case.name, case.split) for case in data][-1]
        ('test-0001', 'test')
    """
    train, test = load_digits("train"), load_digits("test")
    images = np.concatenate([train.images[:n_train], test.images[:n_test]])
    masks = np.concatenate([train.masks[:n_train], test.masks[:n_test]])
    sizes = {"train": min(n_train, len(train.images)), "test": min(n_test, len(test.images))}
    splits = [split for split, size in sizes.items() for _ in range(size)]
    names = [f"{split}-{number:04d}" for split, size in sizes.items() for number in range(size)]
    nobody = np.empty((len(images), 0, *images.shape[1:]), dtype=np.int16)
    return dataset_from_arrays(
        nobody, images=images, truths=masks, cases=names, splits=splits, classes=CLASSES
    )
